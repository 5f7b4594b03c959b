"""Pipelines on real local Spark: the same answers however files are cut into batches."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console

from ebbtide.pipeline.errors import CheckpointError, DeadLetterError, PipelineError
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.listener import PATIENCE
from ebbtide.pipeline.placements.sharded import STATE_STORE
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.run import run_pipeline
from ebbtide.queries import QueryEngine
from ebbtide.terms.formats import TimedFact, read_timed
from ebbtide.terms.writing import timed_line

from .stream import (
    BAD_LINES,
    DEMO,
    FACTS,
    LOCAL,
    PARQUET,
    expected_rows,
    in_order,
    write_pipeline,
)

Run: TypeAlias = Callable[..., Progress]

pytestmark = pytest.mark.spark


@pytest.fixture
def run(spark: SparkSession) -> Run:
    def ran(
        file: Path, say: Callable[[str], None] = lambda sentence: None, *, reset: bool = False
    ) -> Progress:
        console = Console(quiet=True)
        return run_pipeline(load_pipeline(file), console, say, spark=spark, reset=reset)

    return ran


def lines(folder: Path) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


@pytest.mark.parametrize("files_a_batch", [3, 1000])
def test_answers_do_not_depend_on_batches(run: Run, tmp_path: Path, files_a_batch: int) -> None:
    said: list[str] = []
    progress = run(write_pipeline(tmp_path, files_a_batch), said.append)
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows()
    # Everything was there at once, and came in batches that are bounded.
    sizes = [int(found[1]) for line in said if (found := re.search(r": (\d+) facts", line))]
    assert sum(sizes) == len(FACTS)
    assert max(sizes) <= files_a_batch * 20
    assert progress.facts == len(FACTS)
    assert (progress.bad, progress.late) == (len(BAD_LINES), 0)


def test_it_goes_on_where_it_ended(run: Run, tmp_path: Path) -> None:
    """The end of the first run is taken back by the second: its streams did not end there."""
    file = write_pipeline(tmp_path, 3)
    later = tmp_path / "later"
    later.mkdir()
    files = sorted((tmp_path / "incoming").iterdir())
    for each in files[4:]:
        each.rename(later / each.name)
    first = run(file)
    for each in later.iterdir():
        each.rename(tmp_path / "incoming" / each.name)
    second = run(file)
    assert first.facts + second.facts == len(FACTS)
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows()
    begun = time.monotonic()
    assert run(file).facts == 0
    assert time.monotonic() - begun < PATIENCE, "it waited for a report that does not come"
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows()


def test_a_file_that_is_moved_in_with_an_old_time_is_read(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 1000)
    run(file)
    moved = tmp_path / "moved.tnt"
    moved.write_text(f"{FACTS[-1][1]}\t<http://e/a> <http://e/p> <http://e/b> .\n")
    month = 30 * 24 * 60 * 60
    os.utime(moved, (-month, -month))
    moved.rename(tmp_path / "incoming/moved.tnt")
    assert run(file).facts == 1


def test_shards_hear_of_the_end_after_the_clock_was_put_back(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 1000, rules=LOCAL, placement="sharded")
    # As if an end had been told a month from now: Spark goes by the times of files.
    ends = tmp_path / "checkpoint/end"
    ends.mkdir(parents=True)
    (ends / "0.txt").touch()
    later = time.time() + 30 * 24 * 60 * 60
    os.utime(ends / "0.txt", (later, later))
    run(file)
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows(LOCAL)


def test_a_foreign_checkpoint_is_refused_and_reset_starts_anew(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 1000)
    run(file)
    file.write_text(file.read_text().replace('"3 s"', '"2 s"'))
    with pytest.raises(CheckpointError, match="the window of stream reports was 3 s, is 2 s"):
        run(file)
    run(file, reset=True)
    assert lines(tmp_path / "out/answers") != []
    assert in_order(lines(tmp_path / "out/answers")) != expected_rows()


def test_outputs_of_another_run_are_not_mixed_in(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 1000)
    (tmp_path / "out/answers").mkdir(parents=True)
    (tmp_path / "out/answers/part-00000099.jsonl").write_text("{}\n")
    with pytest.raises(PipelineError, match=r"outputs\.answers\.path: .* another run: choose"):
        run(file)


OTHERS = {
    "jsonl": ["part-00000-c0ffee.c000.jsonl", "part-00000-c0ffee.c000.json", "mine.jsonl"],
    "parquet": ["part-00000-c0ffee.c000.snappy.parquet", "mine.parquet"],
    "spark": ["batch=2026-05-01", "part-00000-c0ffee.csv"],
}


@pytest.mark.parametrize(("to", "name"), [(to, name) for to in OTHERS for name in OTHERS[to]])
def test_files_of_others_are_refused_and_never_taken_away(
    run: Run, tmp_path: Path, to: str, name: str
) -> None:
    file = write_pipeline(tmp_path, 1000)
    out = tmp_path / "mine"
    out.mkdir()
    (out / name).write_text("mine")
    format = 'format = "csv"\n' if to == "spark" else ""
    given = f'{file.read_text()}\n[outputs.more]\nto = "{to}"\n{format}path = "mine"\n'
    file.write_text(given)
    for reset in (False, True):
        with pytest.raises(PipelineError, match=rf"outputs\.more\.path: .* holds {name}, which"):
            run(file, reset=reset)
    assert [path.read_text() for path in out.iterdir()] == ["mine"]


def test_a_run_that_goes_on_does_not_write_into_the_output_of_another(
    run: Run, tmp_path: Path
) -> None:
    file = write_pipeline(tmp_path, 1000)
    run(file)
    given = file.read_text()
    (tmp_path / "theirs").mkdir()
    theirs = tmp_path / "theirs/part-00000001.jsonl"
    theirs.write_text("{}\n")
    file.write_text(given.replace("out/answers", "theirs"))
    with pytest.raises(PipelineError, match=r"outputs\.answers\.path: .*theirs holds the output"):
        run(file)
    assert theirs.read_text() == "{}\n"
    # A folder that is new, and then that of before.
    for folder in ("new", "out/answers"):
        file.write_text(given.replace("out/answers", folder))
        run(file)


def test_bad_lines_are_dead_letters_or_the_end(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 1000)
    run(file)
    letters = lines(tmp_path / "out/dead")
    assert [letter["text"] + "\n" for letter in letters] == list(BAD_LINES)
    assert {(letter["stream"], letter["source"]) for letter in letters} == {("reports", "000.tnt")}
    assert [letter["line"] for letter in letters] == [21, 22]
    file.write_text(file.read_text().replace("[dead_letters]", '[dead_letters]\non_error = "fail"'))
    with pytest.raises(DeadLetterError, match=r"000\.tnt:21:1: not an instant"):
        run(file, reset=True)


def test_late_facts_are_dead_letters(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 1)
    late = tmp_path / "incoming/999.tnt"
    late.write_text("# late\n\n100\t<http://e/a> <http://e/p> <http://e/b> .\n")
    os.utime(late, (10**9, 10**9))
    progress = run(file)
    assert progress.late == 1
    (letter,) = [letter for letter in lines(tmp_path / "out/dead") if "t" in letter]
    assert (letter["source"], letter["line"]) == ("999.tnt", 3)
    assert letter["t"] == 100
    assert letter["reason"] == "its tick was over when it arrived"
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows()


def test_rows_of_json_become_triples(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    rows = [
        {"at": "1970-01-01T00:00:01Z", "sensor": "s/1", "value": 20.5, "note": 'say "hi"\\'},
        {"at": "1970-01-01T00:00:02Z", "sensor": "s 2", "value": 21.0},
        {"sensor": "s3"},
    ]
    text = "\n".join(map(json.dumps, rows)) + "\n\n{broken\n"
    (tmp_path / "in/a.json").write_text(text)
    file = tmp_path / "p.toml"
    file.write_text("""
[streams.sensors]
from = "rows"
format = "json"
path = "in"
schema = "at timestamp, sensor string, value double, note string"
time = "at"
[[streams.sensors.triples]]
s = "<http://e/{sensor}>"
p = "<http://e/value>"
o = '"{value}"^^<http://www.w3.org/2001/XMLSchema#double>'
[[streams.sensors.triples]]
s = "<http://e/{sensor}>"
p = "<http://e/note>"
o = '"{note}"'
[outputs.parquet]
to = "parquet"
path = "parquet"
changes = ["+"]
[outputs.stream]
to = "ntriples"
timed = true
path = "stream"
[dead_letters]
path = "dead"
[run]
ends = "when read"
""")
    assert run(file).facts == 3
    table = pq.read_table(tmp_path / "parquet")
    assert sorted(table["t"].to_pylist()) == [1000, 1000, 2000]
    assert set(table["o"].to_pylist()) == {
        '"20.5"^^<http://www.w3.org/2001/XMLSchema#double>',
        '"21.0"^^<http://www.w3.org/2001/XMLSchema#double>',
        '"say \\"hi\\"\\\\"',
    }
    assert set(table["s"].to_pylist()) == {"<http://e/s%2F1>", "<http://e/s%202>"}
    parts = (tmp_path / "stream").glob("*.tnt")
    facts = [fact for part in parts for fact in read_timed(part)]
    assert all(isinstance(fact, TimedFact) for fact in facts)
    assert len(facts) == 3
    letters = [(each["source"], each["line"], each["reason"]) for each in lines(tmp_path / "dead")]
    assert sorted(letters) == [
        ("a.json", 3, "the row has no time"),
        ("a.json", 5, "not a row of the schema"),
    ]


ROWS = """
[outputs.rows]
to = "jsonl"
path = "out"
[dead_letters]
path = "dead"
[run]
ends = "when read"
"""


def test_rows_of_parquet_are_known_by_their_number(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number, instants in enumerate([[9_000, 9_500, None], [9_900, 100]]):
        file = tmp_path / f"in/{number}.parquet"
        pq.write_table(pa.table({"at": instants, "sensor": ["s"] * len(instants)}), file)
        os.utime(file, (60 * number, 60 * number))
    (tmp_path / "p.toml").write_text(PARQUET + ROWS)
    run(tmp_path / "p.toml")
    letters = [
        (letter["source"], letter["line"], letter.get("t"), letter["reason"])
        for letter in lines(tmp_path / "dead")
    ]
    assert letters == [
        ("0.parquet", 3, None, "the row has no time"),
        ("1.parquet", 2, 100, "its tick was over when it arrived"),
    ]


def test_a_socket_is_read_to_its_end(run: Run, tmp_path: Path) -> None:
    text = "".join(timed_line(at, fact.terms) for fact, at in FACTS)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(text.encode())

        threading.Thread(target=serve, daemon=True).start()
        file = write_pipeline(tmp_path)
        port = server.getsockname()[1]
        given = file.read_text().replace('from = "files"', f'from = "socket"\nport = {port}')
        given = given.replace('path = "incoming"\n', "").replace("files_a_batch = 2\n", "")
        file.write_text(given)
        progress = run(file)
    assert progress.facts == len(FACTS)
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows()


def test_two_streams_with_their_own_windows_are_one_query(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 1000)
    (tmp_path / "more").mkdir()
    more = "".join(f"{t}\t<http://e/a> <http://e/p> <http://e/b> .\n" for t in (500, 20_000))
    (tmp_path / "more/a.tnt").write_text(more)
    given = file.read_text()
    more_toml = '[streams.more]\nfrom = "files"\npath = "more"\nwindow = "7 s"\n'
    file.write_text(given.replace("[background]", f"{more_toml}\n[background]"))
    assert run(file).facts == len(FACTS) + 2
    answers = lines(tmp_path / "out/answers")
    (row,) = [row for row in answers if row["p"] == "<http://e/p>" and row["op"] == "+"][:1]
    assert row["until"] == 7_500
    rest = [row for row in answers if row["p"] != "<http://e/p>" and row["t"] <= 12_000]
    assert in_order(rest) == [row for row in expected_rows() if row["t"] <= 12_000]


SIDES = {
    "left": '[streams.left]\nfrom = "files"\npath = "left"\niri = "http://e/left"\n'
    'window = "20 s"\n',
    "right": '[streams.right]\nfrom = "files"\npath = "right"\niri = "http://e/right"\n'
    'window = "5 s"\n',
}
BOTH = """REGISTER QUERY both AS SELECT ?x
FROM STREAM <http://e/left> [RANGE 20s STEP 1s] FROM STREAM <http://e/right> [RANGE 5s STEP 1s]
WHERE { ?x <http://e/p> ?y }
"""
REST = """
[queries]
use = ["both.rq"]
[outputs.rules]
to = "jsonl"
path = "out/rules"
[outputs.both]
of = "both"
to = "jsonl"
path = "out/both"
[dead_letters]
path = "out/dead"
[checkpoint]
path = "checkpoint"
[run]
ends = "when read"
"""


def test_the_order_of_streams_means_nothing(run: Run, tmp_path: Path) -> None:
    """Spark knows its sources by their places: each must go on where it was itself."""
    written = []
    for changes, orders in enumerate([("left", "left"), ("left", "right"), ("right", "left")]):
        folder = tmp_path / str(changes)
        for name in SIDES:
            (folder / name).mkdir(parents=True)
        (folder / "both.rq").write_text(BOTH)
        for second, first in enumerate(orders):
            # As many files a stream as tell the two apart.
            for number, name in enumerate(SIDES, 1):
                for file in range(number):
                    at = 1_000 + 20_000 * second + 100 * file + number
                    line = f"{at}\t<http://e/{name}{file}> <http://e/p> <http://e/{second}> .\n"
                    (folder / name / f"{second}-{file}.tnt").write_text(line)
            sides = sorted(SIDES, key=lambda name: name != first)
            (folder / "p.toml").write_text("".join(SIDES[name] for name in sides) + REST)
            assert run(folder / "p.toml").facts == 3
        outputs = (folder / "out/rules", folder / "out/both", folder / "out/dead")
        written.append([in_order(lines(output)) for output in outputs])
    assert written[0][0] != []
    assert written[0][2] == []
    assert written[1:] == [written[0]] * 2


QUERY = """PREFIX ex: <http://example/>
REGISTER QUERY who AS
SELECT ?who ?city FROM STREAM <http://example/reports> [RANGE 3s STEP 1s]
WHERE { ?who ex:inCity ?city }
"""


def test_queries_are_answered_as_by_the_query_engine(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 3)
    (tmp_path / "who.rq").write_text(QUERY)
    given = file.read_text()
    given = given.replace('from = "files"', 'from = "files"\niri = "http://example/reports"')
    given = given.replace("[outputs.answers]", '[queries]\nuse = ["who.rq"]\n\n[outputs.answers]')
    given += '\n[outputs.who]\nof = "who"\nto = "jsonl"\npath = "out/who"\n'
    given += '\n[outputs.table]\nof = "who"\nto = "parquet"\npath = "out/table"\n'
    given += 'types = { who = "string" }\n'
    file.write_text(given)
    progress = run(file)
    engine = QueryEngine(
        DEMO / "commuters.rules", background=[tmp_path / "places.nt"], lateness=1_000
    )
    expected: list[Any] = []
    engine.register(QUERY).subscribe(lambda answers: expected.append(answers))
    engine.push_all("http://example/reports", FACTS)
    engine.finish()
    said = lines(tmp_path / "out/who")
    assert [line["t"] for line in said] == [answers.tick for answers in expected]
    for line, answers in zip(said, expected, strict=True):
        wanted = answers.json()
        assert sorted(line["bindings"], key=str) == sorted(wanted["bindings"], key=str)
        assert line["vars"] == wanted["vars"]
    assert any(line["bindings"] for line in said)
    assert progress.answers == len(said)
    table = pq.read_table(tmp_path / "out/table").to_pylist()
    assert {row["city"]["value"] for row in table} > {"http://example/Milano"}
    wanted = [(each.tick, *row) for each in expected for row in each.rows]
    assert sorted((row["t"], f"<{row['who']}>") for row in table) == sorted(
        (tick, who) for tick, who, _ in wanted
    )
    # The rules' rows come from the same batches.
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows()


def test_any_sink_of_spark_takes_rows(run: Run, spark: SparkSession, tmp_path: Path) -> None:
    """A folder a batch, which is replaced if the batch comes again; or what the options say."""
    file = write_pipeline(tmp_path, 3)
    given = file.read_text()
    given += '\n[outputs.csv]\nto = "spark"\nformat = "csv"\npath = "out/csv"\n'
    given += 'changes = ["+", "-", "~"]\noptions = { header = "true" }\n'
    given += '\n[outputs.orc]\nto = "spark"\nformat = "orc"\nmode = "overwrite"\n'
    given += f'options = {{ path = "{tmp_path}/orc/{{batch}}" }}\n'
    file.write_text(given)
    run(file)
    found = spark.read.option("header", "true").option("inferSchema", "true")

    def written() -> DataFrame:
        return found.csv(str(tmp_path / "out/csv"))

    frame = written()
    assert frame.select("batch").distinct().count() > 1
    rows = [
        {name: value for name, value in row.asDict().items() if value is not None}
        for row in frame.drop("batch").collect()
    ]
    assert in_order(rows) == expected_rows()
    assert len(list((tmp_path / "orc").iterdir())) > 1
    # The end is written again in the place of the batch that would come next.
    run(file)
    assert written().count() == len(rows)
    run(file, reset=True)
    assert written().count() == len(rows)
    file.write_text(given.replace('"csv"', '"nonsense"', 1))
    with pytest.raises(PipelineError, match=r"outputs\.csv: Spark cannot write it: .*nonsense"):
        run(file, reset=True)


def test_a_format_without_structs_says_which_types_make_answers_plain(
    run: Run, spark: SparkSession, tmp_path: Path
) -> None:
    """And the next run goes on from there."""
    (tmp_path / "who.rq").write_text(QUERY)
    file = write_pipeline(tmp_path, 3)
    given = file.read_text()
    given = given.replace('from = "files"', 'from = "files"\niri = "http://example/reports"')
    given = given.replace("[outputs.answers]", '[queries]\nuse = ["who.rq"]\n\n[outputs.answers]')
    given += '\n[outputs.csv]\nof = "who"\nto = "spark"\nformat = "csv"\npath = "out/csv"\n'
    file.write_text(given)
    types = 'types = { who = "string", city = "string" }'
    with pytest.raises(PipelineError, match=rf"outputs\.csv: .*; {types} makes it plain$"):
        run(file)
    file.write_text(given + types)
    run(file)
    assert spark.read.csv(str(tmp_path / "out/csv")).count() > 1
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows()


BUILTINS = """from ebbtide import builtin

@builtin
def shorter(a: str, b: str) -> bool:
    return len(a) < len(b)
"""
CALLS = """@prefix ex: <http://e/>.
[(?x ex:a ?a) (?x ex:b ?b) shorter(?a ?b) -> (?x ex:is ex:Short)]
"""
CALLED = """
[streams.things]
from = "memory"
lines = [
    '1000\t<http://e/1> <http://e/a> "x" .', '1000\t<http://e/1> <http://e/b> "xx" .',
    '1000\t<http://e/2> <http://e/a> "xxx" .', '1000\t<http://e/2> <http://e/b> "xx" .',
]
[prefixes]
ex = "http://e/"
[rules]
use = ["short.rules"]
builtins = ["short.py"]
[outputs.short]
to = "jsonl"
path = "out"
predicates = ["ex:is"]
[checkpoint]
path = "checkpoint"
[run]
ends = "when read"
placement = "driver"
"""


def test_rules_call_python_in_every_placement(run: Run, tmp_path: Path) -> None:
    (tmp_path / "short.rules").write_text(CALLS)
    (tmp_path / "short.py").write_text(BUILTINS)
    file = tmp_path / "p.toml"
    found = []
    for placement in ('"driver"', '"sharded"\nshards = 2', '"dataframe"'):
        file.write_text(CALLED.replace('"driver"', placement))
        run(file, reset=True)
        found.append([(row["t"], row["op"], row["s"]) for row in lines(tmp_path / "out")])
    assert found == [[(1000, "+", "<http://e/1>")]] * 3
    (tmp_path / "short.py").write_text(BUILTINS.replace("<", "<="))
    with pytest.raises(CheckpointError, match=r"builtins short\.py has changed"):
        run(file)


def test_every_placement_writes_what_the_driver_writes(
    run: Run, spark: SparkSession, tmp_path: Path
) -> None:
    """Rules that can be cut: the same answers, dead letters and numbers."""
    store = spark.conf.get(STATE_STORE[0], None)
    ticks, holding = [], []
    for placement in ("driver", "sharded", "dataframe"):
        # Joins of DataFrames take their time at every tick.
        folder = tmp_path / placement
        file = write_pipeline(folder, 4, rules=LOCAL, step="4 s", placement=placement)
        late = folder / "incoming/999.tnt"
        late.write_text("100\t<http://e/a> <http://e/p> <http://e/b> .\n")
        os.utime(late, (10**9, 10**9))
        said: list[str] = []
        progress = run(file, said.append)
        stream = progress.streams["reports"]
        # The session is its user's, and is as it was.
        assert spark.conf.get("spark.sql.shuffle.partitions") == "1"
        assert spark.conf.get(STATE_STORE[0], None) == store
        assert stream.facts == len(FACTS) + 1
        assert stream.watermark == max(at for _, at in FACTS) - 1_000
        # Everybody can see how long ticks took, and how much holds; some of it in both shards.
        ticks.append(progress.ticks)
        holding.append(progress.holding)
        assert len(progress.tick_milliseconds) == progress.ticks
        assert min(progress.tick_milliseconds) > 0
        assert any(re.fullmatch(r"batch \d+: .*, [1-9]\d* hold, \d+ ms", line) for line in said)
        for part in ("answers", "dead"):
            expected = lines(tmp_path / "driver/out" / part)
            assert expected
            assert in_order(lines(folder / "out" / part)) == in_order(expected)
    assert len(set(ticks)) == 1
    assert holding[1] >= holding[0] == holding[2] > 0
