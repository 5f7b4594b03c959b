"""Rules, queries and a LARS program in one pipeline: each says its own, and all read once."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener
from rich.console import Console

from ebbtide.languages.lars import parse_lars
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline
from ebbtide.queries import QueryEngine
from ebbtide.reasoner.intake import as_program
from ebbtide.reasoner.lars import LarsReasoner

from .stream import COMMUTERS, FACTS, WORKLOAD, expected_rows, in_order, write_pipeline
from .test_recovery import lines

pytestmark = pytest.mark.spark

QUERIES = {
    "who": """PREFIX ex: <http://example/> REGISTER QUERY who AS
SELECT ?who ?city FROM STREAM <http://example/reports> [RANGE 3s STEP 1s]
WHERE { ?who ex:inCity ?city }""",
    "many": """PREFIX ex: <http://example/> REGISTER QUERY many AS
SELECT ?place (COUNT(?who) AS ?n) FROM STREAM <http://example/reports> [RANGE 2s STEP 1s]
WHERE { ?who ex:isIn ?place } GROUP BY ?place""",
}
LARS = """@prefix ex: <http://example/>.
moved(X) :- ex:isIn(X, Y) in [3], ex:isIn(X, Z) in [3], Y != Z.
"""
MORE = """
[queries]
use = ["who.rq", "many.rq"]
[programs]
use = ["moved.lars"]
[outputs.who]
of = "who"
to = "jsonl"
path = "out/who"
[outputs.many]
of = "many"
to = "jsonl"
path = "out/many"
[outputs.moved]
of = "moved"
to = "jsonl"
path = "out/moved"
"""


class Heard(StreamingQueryListener):
    """What Spark says of every batch: its sources, and how many rows each gave."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []

    def wait_for(self, rows: int) -> None:
        """Until so many were told of, or nothing more is to be expected: Spark takes its time."""
        deadline = time.monotonic() + 120
        while sum(map(sum, self.rows)) < rows and time.monotonic() < deadline:
            time.sleep(0.05)

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802  (Spark's name)
        pass

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        self.rows.append([source.numInputRows for source in event.progress.sources])

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        pass


def by_queries() -> dict[str, list[Any]]:
    engine = QueryEngine(as_program(COMMUTERS), lateness=1_000)
    found: dict[str, list[Any]] = {name: [] for name in QUERIES}
    for fact in WORKLOAD.background():
        engine.add(fact)
    for name, text in QUERIES.items():
        engine.register(text).subscribe(
            lambda answers, name=name: found[name].append(answers.json())
        )
    for fact, at in FACTS:
        engine.push("http://example/reports", fact, at=at)
    engine.finish()
    return found


def by_lars() -> list[tuple[int, str, str]]:
    program = parse_lars(LARS)
    reasoner = LarsReasoner(
        program, tick=1_000, lateness=1_000, background=WORKLOAD.background(), engine="reference"
    )
    for fact, at in FACTS:
        reasoner.push(fact, at)
    answers = list(reasoner.advance(max(at for _, at in FACTS) + 999))
    return sorted(
        (answer.t, op, atom)
        for answer in answers
        for op, facts in (("+", answer.entered), ("-", answer.left))
        for atom in type(answer)(answer.t, facts).texts(program.prefixes)
    )


def told(answers: list[dict[str, Any]]) -> list[Any]:
    """Ticks and solutions, which have no order within a tick."""
    rows = [(each["t"], each["bindings"]) for each in answers]
    without = [(t, [{k: v for k, v in b.items() if k != "until"} for b in bs]) for t, bs in rows]
    return sorted((t, sorted(json.dumps(b, sort_keys=True) for b in bs)) for t, bs in without)


def write_together(folder: Path, files_a_batch: int) -> Path:
    file = write_pipeline(folder, files_a_batch)
    given = file.read_text().replace(
        'from = "files"', 'from = "files"\niri = "http://example/reports"'
    )
    file.write_text(given + MORE)
    for name, text in QUERIES.items():
        (folder / f"{name}.rq").write_text(text)
    (folder / "moved.lars").write_text(LARS)
    return file


def assert_each_said_its_own(folder: Path) -> None:
    assert in_order(lines(folder / "out/answers")) == expected_rows()
    for name, answers in by_queries().items():
        assert told(lines(folder / "out" / name)) == told(answers)
    moved = lines(folder / "out/moved")
    assert sorted((row["t"], row["op"], row["atom"]) for row in moved) == by_lars()
    assert min(map(len, (moved, by_queries()["who"], by_queries()["many"]))) > 5


def test_the_stream_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    file = write_together(tmp_path, 4)
    files = len(list((tmp_path / "incoming").iterdir()))
    heard = Heard()
    spark.streams.addListener(heard)
    try:
        progress = run_pipeline(load_pipeline(file), Console(quiet=True), spark=spark)
        heard.wait_for(files)
    finally:
        spark.streams.removeListener(heard)

    # One source, whose rows, the files, came once each, although four things were told of them.
    assert [sum(rows) for rows in heard.rows] == [min(4, files - n) for n in range(0, files, 4)]
    assert {len(rows) for rows in heard.rows} == {1}
    assert progress.facts == len(FACTS)
    assert_each_said_its_own(tmp_path)


def test_the_order_of_queries_and_programs_means_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """To a checkpoint, whose snapshots are of one after the other."""
    file = write_together(tmp_path, 1)
    (tmp_path / "idle.lars").write_text("idle :- never in [3].\n")
    files = sorted((tmp_path / "incoming").iterdir())
    later = [each.rename(tmp_path / each.name) for each in files[5:]]
    text = file.read_text().replace('"moved.lars"', '"moved.lars", "idle.lars"')
    file.write_text(text)
    run_pipeline(load_pipeline(file), Console(quiet=True), spark=spark)
    assert list((tmp_path / "checkpoint/reasoner").glob("*.snapshot"))
    for each in later:
        each.rename(tmp_path / "incoming" / each.name)
    text = text.replace('"moved.lars", "idle.lars"', '"idle.lars", "moved.lars"')
    file.write_text(text.replace('"who.rq", "many.rq"', '"many.rq", "who.rq"'))
    run_pipeline(load_pipeline(file), Console(quiet=True), spark=spark)
    assert_each_said_its_own(tmp_path)
