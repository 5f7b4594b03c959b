"""`ebbtide query` and `ebbtide explain query`: lines, ends, and what is told of mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.conftest import Ebbtide

QUERY = """PREFIX ex: <http://e/>
REGISTER QUERY fast AS SELECT ?car
FROM STREAM ex:cars [RANGE 10s STEP 5s]
WHERE { ?car a ex:Car ; ex:speed ?v FILTER(?v > 50) }
"""
SPEED = (
    '{at}\t<http://e/{car}> <http://e/speed> "{v}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
)
CAR = "<http://e/a> a <http://e/Car> . <http://e/b> a <http://e/Car> ."


@pytest.fixture
def files(ebbtide: Ebbtide) -> None:
    Path("fast.rq").write_text(QUERY)
    Path("cars.ttl").write_text(CAR)
    speeds = [(1_000, "a", 70), (4_000, "b", 30), (12_000, "b", 60)]
    Path("cars.tnt").write_text("".join(SPEED.format(at=at, car=car, v=v) for at, car, v in speeds))


STREAM = ("--stream", "http://e/cars=cars.tnt", "--background", "cars.ttl")


@pytest.mark.usefixtures("files")
def test_answers_are_lines(ebbtide: Ebbtide) -> None:
    code, out, err = ebbtide("query", "fast.rq", *STREAM)
    assert (code, err) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["t"] for line in lines] == [5_000, 10_000, 15_000]
    assert lines[0] == {
        "t": 5_000,
        "query": "fast",
        "vars": ["car"],
        "bindings": [{"car": {"type": "uri", "value": "http://e/a"}}],
    }
    assert [len(line["bindings"]) for line in lines] == [1, 1, 1]


@pytest.mark.usefixtures("files")
def test_answers_tell_until_when_they_hold(ebbtide: Ebbtide) -> None:
    _, out, _ = ebbtide("query", "fast.rq", *STREAM, "--until")
    assert [json.loads(line)["until"] for line in out.splitlines()] == [
        [11_000],
        [11_000],
        [22_000],
    ]
    text = QUERY.replace("?v > 50", "?v > 50 || NOW() = 0")
    Path("fast.rq").write_text(text)
    _, out, _ = ebbtide("query", "fast.rq", *STREAM, "--until")
    assert all("until" not in json.loads(line) for line in out.splitlines())


@pytest.mark.usefixtures("files")
def test_a_stream_that_nobody_feeds_is_told_of(ebbtide: Ebbtide) -> None:
    code, out, err = ebbtide("query", "fast.rq", "--background", "cars.ttl")
    assert (code, out) == (0, "")
    assert err == "ebbtide: nothing happens on http://e/cars: give --stream http://e/cars=FILE\n"


@pytest.mark.usefixtures("files")
def test_constructed_triples_and_deltas(ebbtide: Ebbtide) -> None:
    text = QUERY.replace(
        "QUERY fast AS SELECT ?car", "ISTREAM ex:out AS CONSTRUCT { ?car a ex:Fast }"
    )
    Path("fast.rq").write_text(text)
    _, out, _ = ebbtide("query", "fast.rq", *STREAM)
    first, second = map(json.loads, out.splitlines())
    a = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert first == {
        "t": 5_000,
        "query": "http://e/out",
        "op": "+",
        "triples": [f"<http://e/a> {a} <http://e/Fast> ."],
    }
    assert second["triples"] == [f"<http://e/b> {a} <http://e/Fast> ."]


@pytest.mark.usefixtures("files")
def test_options(ebbtide: Ebbtide) -> None:
    rules = "[r: (?x <http://e/speed> ?v) -> (?x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Car>)]"
    Path("cars.rules").write_text(rules)
    code, out, _ = ebbtide(
        *("query", "fast.rq", "--stream", "http://e/cars=cars.tnt", "--rules", "cars.rules"),
        *("--lateness", "2s", "--t0", "500", "--report", "non-empty"),
    )
    assert code == 0
    assert [json.loads(line)["t"] for line in out.splitlines()] == [5_500, 10_500, 15_500]


@pytest.mark.usefixtures("files")
def test_a_stream_may_have_several_sources(ebbtide: Ebbtide) -> None:
    Path("more.tnt").write_text(SPEED.format(at=3_000, car="b", v=90))
    code, out, _ = ebbtide(
        *("query", "fast.rq", *STREAM, "--stream", "http://e/cars=more.tnt", "--lateness", "0s")
    )
    assert code == 0
    assert [len(json.loads(line)["bindings"]) for line in out.splitlines()] == [2, 2, 1]


@pytest.mark.usefixtures("files")
def test_facts_that_came_too_late_are_kept(ebbtide: Ebbtide) -> None:
    late = SPEED.format(at=2_000, car="late", v=70)
    in_time = "".join(SPEED.format(at=at, car="a", v=70) for at in (1_000, 7_000))
    Path("late.tnt").write_text(in_time + late)
    stream = ("--stream", "http://e/cars=late.tnt")
    code, _, message = ebbtide("query", "fast.rq", *stream, "--late", "kept.tnt")
    assert (code, Path("kept.tnt").read_text()) == (0, late)
    assert message == "ebbtide: 1 fact came too late: see kept.tnt\n"


@pytest.mark.usefixtures("files")
def test_a_table_to_follow(ebbtide: Ebbtide) -> None:
    code, out, _ = ebbtide("query", "fast.rq", *STREAM, "--follow")
    assert code == 0
    assert "fast at 15000: 1 answer\n" in out


@pytest.mark.usefixtures("files")
def test_standard_input_is_answered_as_it_comes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from ebbtide.cli import main; main()"]
    options = ["query", "fast.rq", "--stream", "http://e/cars=-", "--background", "cars.ttl"]
    with subprocess.Popen(
        [*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(SPEED.format(at=1_000, car="a", v=70))
        process.stdin.write(SPEED.format(at=7_000, car="a", v=70))
        process.stdin.flush()
        # The stream goes on, and the first answer is there.
        assert json.loads(process.stdout.readline())["t"] == 5_000
        process.stdin.close()
        assert json.loads(process.stdout.readline())["t"] == 10_000
    assert process.returncode == 0


@pytest.mark.usefixtures("files")
def test_explain(ebbtide: Ebbtide) -> None:
    code, out, _ = ebbtide("explain", "query", "fast.rq")
    assert code == 0
    assert "incremental, the whole query" in out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--stream", "http://e/trucks=cars.tnt"), "no query reads this stream"),
        (("--stream", "cars.tnt"), "expected IRI=SOURCE"),
        (("--report", "sometimes"), "unknown report policy 'sometimes'"),
        (("--lateness", "soon"), "--lateness soon: expected a duration"),
        (("--t0", "noon"), "--t0 noon: not an instant"),
        (("--stream", "http://e/cars=-", "--stream", "http://e/cars=-"), "of one stream only"),
        (("--stream", "http://e/cars=missing.tnt"), "missing.tnt:1:1: cannot read the file"),
        (("--stream", "http://e/cars=cars.ttl"), "cars.ttl:"),
    ],
)
def test_mistakes_are_told_in_one_line(
    ebbtide: Ebbtide, options: tuple[str, ...], message: str
) -> None:
    code, _, err = ebbtide("query", "fast.rq", *options)
    assert code == 1
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.usefixtures("files")
def test_mistakes_in_the_query_have_a_place(ebbtide: Ebbtide) -> None:
    Path("fast.rq").write_text(QUERY.replace("FILTER", "FILTR"))
    code, _, err = ebbtide("query", "fast.rq", *STREAM)
    assert code == 1
    assert err.startswith("ebbtide: fast.rq:4:")


def test_the_example_of_the_readme(ebbtide: Ebbtide, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[3]
    readme = (root / "README.md").read_text()
    found = re.search(r"^    ebbtide (query .*?[^\\\n])$", readme, re.MULTILINE | re.DOTALL)
    assert found is not None
    ebbtide("generate", "mobility", "--out", "data", "--seconds", "60")
    Path("examples").symlink_to(root / "examples")
    code, out, err = ebbtide(*found[1].replace("\\", " ").split())
    assert (code, err) == (0, "")
    assert any(json.loads(line)["bindings"] for line in out.splitlines())


@pytest.mark.usefixtures("files")
def test_a_stream_of_timestamped_graphs(ebbtide: Ebbtide) -> None:
    graphs = """@prefix ex: <http://e/> . @prefix prov: <http://www.w3.org/ns/prov#> .
        @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        ex:g1 prov:generatedAtTime "1970-01-01T00:00:01Z"^^xsd:dateTime .
        ex:g1 { ex:a ex:speed 70 . ex:b ex:speed 20 }
        ex:g2 prov:generatedAtTime "1970-01-01T00:00:07Z"^^xsd:dateTime .
        ex:g2 { ex:b ex:speed 80 }"""
    Path("cars.trig").write_text(graphs)
    code, out, _ = ebbtide(
        *("query", "fast.rq", "--stream", "http://e/cars=cars.trig", "--background", "cars.ttl")
    )
    assert code == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(line["t"], len(line["bindings"])) for line in lines] == [(5_000, 1), (10_000, 2)]
