"""The pipeline file: what is wrong is said with the key's path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.cli.errors import WRONG_INPUT, explain
from ebbtide.pipeline.errors import PipelineFileError
from ebbtide.pipeline.file import load_pipeline, schema
from ebbtide.pipeline.file.meaning import window_of
from ebbtide.pipeline.file.template import Hole, Template
from ebbtide.program import ProgramError
from ebbtide.terms import TermError
from ebbtide.time import Count, Landmark, Sliding, Tumbling

ROOT = Path(__file__).parents[2]
WHOLE = """
[prefixes]
ex = "http://example/"

[time]
step = "1 s"

[streams.trains]
from = "files"
path = "incoming"
window = "3 s"

[rules]
use = ["rdfs"]

[outputs.answers]
to = "jsonl"
path = "out"
predicates = ["ex:isIn", "<http://example/inCity>"]
"""


@pytest.fixture
def write(tmp_path: Path):
    (tmp_path / "incoming").mkdir()

    def written(text: str) -> Path:
        file = tmp_path / "pipeline.toml"
        file.write_text(text)
        return file

    return written


def test_paths_are_beside_the_file_and_names_are_whole(write, tmp_path: Path) -> None:
    pipeline = load_pipeline(write(WHOLE))
    assert pipeline.streams["trains"].path == str(tmp_path / "incoming")
    assert pipeline.outputs["answers"].path == str(tmp_path / "out")
    assert pipeline.outputs["answers"].predicates == (
        "http://example/isIn",
        "http://example/inCity",
    )


FILES = 'from = "files"\npath = "incoming"'
MQTT = 'from = "mqtt"\ntopics = ["a"]\nformat = "json"\ntime = "at"'
RATE = """from = "rate"
triples = [{s = "<http://e/{value}>", p = "<http://e/p>", o = "<http://e/o>"}]
[run]
ends = "when read"
[streams.others]
from = "memory"
"""
ROWS = """from = "rows"
path = "incoming"
format = "json"
schema = "at timestamp, id string"
time = "at"
triples = [{s = "<http://e/{ID}>", p = "<http://e/p>", o = '"{id}"'}]
"""
KAFKA = 'from = "kafka"\nservers = "localhost:9092"\ntopics = ["a"]\n'


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"3 s"', '"3 sec"', "streams.trains.window: not a duration (such as 500 ms, 3 s"),
        ('"3 s"', "-1", "streams.trains.window: expected a whole number >= 0"),
        ('"3 s"', "0", "streams.trains.window: the range of a window must be positive"),
        ('"3 s"', "{sliding = 3, count = 3}", "streams.trains.window: a window is one of"),
        ('"3 s"', "{slding = 3}", "streams.trains.window: there is no key slding; did you mean"),
        (
            '"3 s"',
            '{sliding = 3, group = ["s"]}',
            "streams.trains.window: only count windows and sessions",
        ),
        ('"files"', '"flies"', "streams.trains.from: flies is none of files, rows, kafka, mqtt"),
        (FILES, MQTT, "streams.trains: the key schema is missing"),
        (FILES, f'{KAFKA}time = "at"', "streams.trains.time: only format ="),
        (FILES, KAFKA.replace(":9092", ""), "streams.trains.servers: localhost is no HOST:PORT"),
        (FILES, KAFKA.replace("localhost", ""), "streams.trains.servers: :9092 is no HOST:PORT"),
        (
            FILES,
            f'{KAFKA}options = {{subscribe = "b"}}',
            "streams.trains.options.subscribe: the key topics says it",
        ),
        (
            FILES,
            f'{KAFKA}options = {{"kafka.a" = "b", "kafka.b" = ["c"]}}',
            "streams.trains.options.kafka.b: expected a text, got a list",
        ),
        ("[streams.trains]", '[streams.".."]', "streams...: a name has no slash, and no dot"),
        ("[streams.trains]", '[streams."a/b"]', "streams.a/b: a name has no slash"),
        ('"incoming"', '"pipeline.toml"', "streams.trains.path: /"),
        ('path = "out"', 'path = "pipeline.toml"', "outputs.answers.path: /"),
        ("[time]", '[checkpoint]\npath = "pipeline.toml"\n[time]', "checkpoint.path: /"),
        ("[time]", '[run]\nplacement = "driver"\nshards = 2\n[time]', "run.shards: the placement"),
        ("[time]", '[run]\nplacement = "driver"\nkey = "s"\n[time]', "run.key: the placement"),
        ("[prefixes]", 'name = ""\n[prefixes]', "name: expected a text of length >= 1"),
        ('ex = "http://example/"', "ex = 1", "prefixes.ex: expected a text, got a whole number"),
        (
            FILES,
            ROWS.replace(", id", " id"),
            "streams.trains.schema: not a column of a schema (such as id string): at timestamp id",
        ),
        (
            FILES,
            ROWS.replace("{id}", "{it}"),
            "streams.trains.triples[0].o: there is no column it; there are at, id",
        ),
        (
            FILES,
            f'{MQTT}\nschema = "at int"\n{ROWS.splitlines()[-1]}',
            "streams.trains.triples[0].s: there is no column ID; there are at",
        ),
        (
            FILES,
            RATE.replace("{value}", "{id}").replace("when read", "never"),
            "streams.trains.triples[0].s: there is no column id; there are value, timestamp",
        ),
        (FILES, RATE, "run.ends: the stream trains is a rate"),
        ('"incoming"', '"nowhere"', "streams.trains.path: there is no /"),
        ('path = "incoming"', "", "streams.trains: the key path is missing"),
        ('path = "out"', "path = 7", "outputs.answers.path: expected a text, got a whole number"),
        ('"jsonl"', '"csv"', "outputs.answers.to: csv is none of console, jsonl, parquet"),
        ('"ex:isIn"', '"e:isIn"', "outputs.answers.predicates[0]: the prefix e: is not among"),
        ("[time]", "[tme]", "there is no key tme; did you mean time?"),
        ('step = "1 s"', "step = 0", "time.step: must be positive"),
        ("[rules]", '[queries]\nuse = ["a.rq"]\n[rules]', "queries.use[0]: there is no /"),
        ('to = "jsonl"', 'to = "jsonl"\nof = "q"', "outputs.answers.of: there is no q; there are"),
        (
            '"jsonl"',
            '"parquet"\ntypes = {n = "text"}',
            "outputs.answers.types.n: not a type of a",
        ),
        (
            '"jsonl"',
            '"parquet"\ntypes = {n = "date"}',
            "outputs.answers.types: only a query's answers",
        ),
        ('"rdfs"]', '"rdfs"]\nbuiltins = ["a.py"]', "rules.builtins[0]: there is no /"),
        ('"rdfs"]', '"rdfs"]\nbuiltins = ["no.such"]', "rules.builtins[0]: there is no module no."),
        ('"rdfs"', '"rdsf"', "rules.use: there is no regime rdsf"),
        ('"rdfs"', '"site.rules"', "rules.use[0]: there is no /"),
        ("[time]", '[run]\nends = "soon"\n[time]', "run.ends: soon is none of never, when read"),
        (
            'to = "jsonl"',
            'to = "jsonl"\nchanges = ["*"]',
            "outputs.answers.changes[0]: * is none of +",
        ),
        ('path = "out"', 'path = "incoming"', "outputs.answers.path: /"),
        ("[time]", '[dead_letters]\npath = "out"\n[time]', "dead_letters.path: /"),
        ("[time]", '[spark]\nmaster = "locl"\n[time]', "spark.master: not a master of Spark"),
        ("[time]", '[spark]\nmaster = "local[0]"\n[time]', "spark.master: not a master of Spark"),
        ("[prefixes]", "[prefixes", "not TOML: "),
        ("[streams.trains]", "[[streams]]", "streams: expected a table, got a list"),
    ],
)
def test_what_is_wrong_is_said_with_the_keys_path(
    write, before: str, after: str, said: str
) -> None:
    assert before in WHOLE
    file = write(WHOLE.replace(before, after))
    with pytest.raises(PipelineFileError) as raised:
        load_pipeline(file)
    assert str(raised.value).startswith(f"{file}: {said}")
    explained = explain(raised.value)
    assert explained is not None
    assert explained.exit_code == WRONG_INPUT


NO_TRIPLES = "outputs.alarms.of: rules need a stream of triples"
LARS = """
[streams.readings]
from = "memory"
format = "atoms"
[programs]
use = ["hot.lars"]
[outputs.alarms]
of = "hot"
to = "console"
predicates = ["alarm"]
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('of = "hot"', "[outputs.other]", "outputs.alarms: the key to is missing"),
        (
            'of = "hot"',
            'to = "console"\n[outputs.other]',
            "outputs.other.predicates[0]: the prefix",
        ),
        ('"hot"\n', '"hot"\n[outputs.other]\n', "outputs.alarms: the key to is missing"),
        ('"hot"\nto = "console"\npredicates = ["alarm"]', '"rules"\nto = "console"', NO_TRIPLES),
        ('"hot"', '"cold"', "outputs.alarms.of: there is no cold; there are rules, hot"),
        ('use = ["hot.lars"]', "", "streams.readings.format: atoms are for programs"),
        ('"hot.lars"', '"hot.lars", "hot.lars"', "programs.use[1]: there is another hot"),
        ('"console"', '"ntriples"\npath = "out"', "outputs.alarms.to: atoms of programs are no"),
        ("[programs]", '[run]\nplacement = "sharded"\n[programs]', "run.placement: LARS programs"),
    ],
)
def test_what_is_wrong_with_programs_is_said(
    write, tmp_path: Path, before: str, after: str, said: str
) -> None:
    (tmp_path / "hot.lars").write_text("alarm :- always temp(X) in [2].")
    assert load_pipeline(write(LARS)).outputs["alarms"].predicates == ("alarm",)
    file = write(LARS.replace(before, after, 1))
    with pytest.raises(PipelineFileError) as raised:
        load_pipeline(file)
    assert str(raised.value).startswith(f"{file}: {said}")


def test_a_program_is_checked_with_its_place(write, tmp_path: Path) -> None:
    (tmp_path / "hot.lars").write_text("alarm :-\n  temp(X) in [3 s].\nq :- not p(X).")
    with pytest.raises(ProgramError, match=r"hot\.lars:3:"):
        load_pipeline(write(LARS))


def test_a_stream_of_a_query_is_known_by_its_whole_iri(write, tmp_path: Path) -> None:
    query = "SELECT ?s FROM STREAM <trains> [RANGE 3s STEP 1s] WHERE { ?s ?p ?o }"
    (tmp_path / "q.rq").write_text(query)
    text = f'{WHOLE}[queries]\nuse = ["q.rq"]\n'
    with pytest.raises(PipelineFileError) as caught:
        load_pipeline(write(text))
    said = 'no stream has iri = "ebbtide:/trains", as <trains> is read; there are trains'
    assert str(caught.value).endswith(f"{tmp_path}/q.rq:1:11: {said}")
    named = text.replace('path = "incoming"', 'path = "incoming"\niri = "ebbtide:/trains"')
    assert load_pipeline(write(named)).streams["trains"].iri == "ebbtide:/trains"


def test_a_pipeline_needs_a_stream_and_an_output(write) -> None:
    with pytest.raises(PipelineFileError, match="the key streams is missing"):
        load_pipeline(write('[outputs.o]\nto = "console"\n'))
    with pytest.raises(PipelineFileError, match="the key outputs is missing"):
        load_pipeline(write('[streams.s]\nfrom = "files"\npath = "incoming"\n'))
    with pytest.raises(PipelineFileError, match="outputs: expected a table of length >= 1"):
        load_pipeline(write('[streams.s]\nfrom = "files"\npath = "incoming"\n[outputs]\n'))


def test_a_mistake_in_a_rule_file_is_at_its_place(write, tmp_path: Path) -> None:
    (tmp_path / "mine.rules").write_text("[r: (?x <a:p> ?y) -> (?z <a:q> ?x)]")
    with pytest.raises(ProgramError, match=r"mine\.rules:1:\d+: \?z is in the head"):
        load_pipeline(write(WHOLE.replace('"rdfs"', '"mine.rules"')))


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("250", Sliding(250)),
        ('"2 min"', Sliding(120_000)),
        ('{sliding = "1 h"}', Sliding(3_600_000)),
        ("{tumbling = 10}", Tumbling(10)),
        ("{landmark = 5}", Landmark(5)),
        ('{count = 3, group = ["s", "o"]}', Count(3, (0, 2))),
    ],
)
def test_windows(write, text: str, window: object) -> None:
    pipeline = load_pipeline(write(WHOLE.replace('"3 s"', text)))
    assert window_of(pipeline.streams["trains"]) == window


def test_a_pipeline_without_a_name_is_called_as_its_file_is(write) -> None:
    file = write("".join(line for line in WHOLE.splitlines(True) if not line.startswith("name =")))
    pipeline = load_pipeline(file)
    assert (pipeline.name, pipeline.file) == (file.stem, str(file))
    with pytest.raises(PipelineFileError, match="there is no key file"):
        load_pipeline(write('file = "x"\n' + WHOLE))


def test_the_schema_is_json_and_knows_every_table() -> None:
    known = json.loads(json.dumps(schema()))["$defs"]
    assert {"Tables", "Files", "Rows", "Socket", "JsonLines", "Window"} <= known.keys()


def test_the_schema_lets_options_be_what_a_file_may_say(write) -> None:
    """Numbers and truth values become texts, and editors must not mark them."""
    known = schema()["$defs"]
    for table, name in (("Spark", "settings"), ("SparkWritten", "options"), ("Kafka", "options")):
        types = known[table]["properties"][name]["additionalProperties"]
        assert types == {"type": ["string", "number", "boolean"]}
    settings = '[spark.settings]\n"spark.ui.enabled" = true\n"spark.executor.cores" = 2\n'
    assert load_pipeline(write(WHOLE + settings)).spark.settings == {
        "spark.ui.enabled": "true",
        "spark.executor.cores": "2",
    }


@pytest.mark.parametrize("file", sorted(ROOT.glob("examples/*/*.toml")), ids=lambda f: f.stem)
def test_the_examples_are_right(file: Path) -> None:
    load_pipeline(file)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<http://e/{id}>", ("<http://e/", Hole("id", False), ">")),
        ("<{+iri}>", ("<", Hole("iri", True), ">")),
        ('"{name}"', ('"', Hole("name", False), '"')),
        (
            '"{v}"^^<http://www.w3.org/2001/XMLSchema#string>',
            ('"', Hole("v", False), '"'),
        ),
        ('"{a} of {b}"@EN', ('"', Hole("a", False), " of ", Hole("b", False), '"@en')),
        ("<http://e/p>", ("<http://e/p>",)),
        ('"{place.x}"', ('"', Hole("place.x", False), '"')),
        (r'"\u007Bid\u007D"', ('"{id}"',)),
    ],
)
def test_templates_are_canonical_terms_with_holes(text: str, parts: tuple[object, ...]) -> None:
    assert Template.parse(text).parts == parts


def test_templates_take_columns_of_the_schema_in_any_case(write) -> None:
    pipeline = load_pipeline(write(WHOLE.replace(FILES, ROWS)))
    assert pipeline.streams["trains"].triples[0].s == "<http://e/{ID}>"


@pytest.mark.parametrize("braces", ["{}", "{a b}", "{tags[0]}", "{place.}", "{{id}}", "{id"])
def test_braces_around_what_is_no_column(braces: str) -> None:
    """Else every row would have the text of the template for its object."""
    with pytest.raises(ValueError, match="is no column"):
        Template.parse(f'"{braces}"')


def test_a_template_that_is_no_term() -> None:
    with pytest.raises(TermError, match=r"^not an RDF term: http://e/\{id\}\{\+kind\}$"):
        Template.parse("http://e/{id}{+kind}")


@pytest.mark.parametrize(
    ("rules", "placement", "window", "said"),
    [
        (
            "[t: (?x <a:p> ?y), (?y <a:p> ?z) -> (?x <a:p> ?z)]",
            "sharded",
            "3",
            r"run\.placement: the program cannot be cut into shards: t .* does not have \?x",
        ),
        ("[r: (?x <a:p> ?y) -> (?y <a:q> ?x)]", "dataframe", "{count = 3}", "needs the driver"),
        ("[r: (?x <a:p> ?y) -> (?y <a:q> ?x)]", "sharded", "{session = 3}", "needs the driver"),
        (
            "[n: (?x <a:p> ?y) noValue(?x <a:q> ?y) -> (?x <a:r> ?y)]",
            "dataframe",
            "3",
            "positive programs",
        ),
    ],
)
def test_what_cannot_be_placed_is_refused_before_it_runs(
    write, tmp_path: Path, rules: str, placement: str, window: str, said: str
) -> None:
    (tmp_path / "mine.rules").write_text(rules)
    text = WHOLE.replace('"rdfs"', '"mine.rules"').replace('"3 s"', window)
    with pytest.raises(ValueError, match=said):
        load_pipeline(write(f'{text}\n[run]\nplacement = "{placement}"\n'))


def test_settings_of_spark_may_be_numbers(write) -> None:
    text = '[spark.settings]\n"spark.executor.cores" = 2\n"spark.ui.enabled" = true\n'
    settings = load_pipeline(write(f"{WHOLE}\n{text}")).spark.settings
    assert settings == {"spark.executor.cores": "2", "spark.ui.enabled": "true"}


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (0o000, "streams.trains.path: you may not read {}"),
        (0o555, "checkpoint.path: you may not write into {}"),
    ],
)
def test_folders_of_others_are_refused_before_it_runs(
    write, tmp_path: Path, mode: int, said: str
) -> None:
    folder = tmp_path / "incoming"
    file = write(f'{WHOLE}[checkpoint]\npath = "incoming/a/b"')
    # For root they are folders of others only without what lets it do everything.
    unprivileged = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    command = [sys.executable, "-c", "from ebbtide.cli import main; main()", "run", "--check", file]
    folder.chmod(mode)
    try:
        ended = subprocess.run(
            [*unprivileged, *command] if os.geteuid() == 0 else command,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        folder.chmod(0o755)
    assert ended.returncode == 1
    assert ended.stderr.endswith(f"pipeline.toml: {said.format(folder)}\n")


@pytest.mark.parametrize("name", ["in[1]", "{in}", "in*", "in?", "in\\\\n"])
@pytest.mark.parametrize("table", ["streams.trains", "checkpoint"])
def test_a_folder_that_is_a_pattern_to_spark_is_refused(
    write, tmp_path: Path, name: str, table: str
) -> None:
    """It would read other folders, or none, and nobody would know."""
    (tmp_path / name.replace("\\\\", "\\")).mkdir()
    text = f'{WHOLE}[checkpoint]\npath = "cp"'
    old = "incoming" if table == "streams.trains" else "cp"
    with pytest.raises(PipelineFileError, match="is a pattern, because of") as caught:
        load_pipeline(write(text.replace(f'"{old}"', f'"{name}"')))
    assert f": {table}.path: to Spark " in str(caught.value)
