"""The placement `driver` without Spark: batches are handed to it as Spark's sink would."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa

from ebbtide.languages.lars import parse_lars
from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import LATE, DeadLetters
from ebbtide.pipeline.placements.driver import Driver
from ebbtide.pipeline.sinks.parts import Parts, json_lines
from ebbtide.pipeline.stages.parse import ANY as ANY_DOCUMENT
from ebbtide.pipeline.stages.parse import parser, rows_table
from ebbtide.pipeline.units import Unit
from ebbtide.pipeline.units.lars import Lars
from ebbtide.pipeline.units.queries import Queries
from ebbtide.pipeline.units.rules import Rules
from ebbtide.program import Program
from ebbtide.time import Sliding


def driver(folder: Path, *others: Unit) -> Driver:
    return Driver(
        units=[Rules(Program(), {"r": Sliding(2_000)}), *others],
        streams=["r"],
        sinks=[],
        dead=DeadLetters(Parts(folder / "dead", "jsonl", json_lines), fail=False),
        checkpoint=Checkpoint(folder, {}),
        snapshot_every=20,
        say=lambda sentence: None,
    )


def rows(*lines: str) -> Any:
    content = "".join(f"{line}\n" for line in lines).encode()
    documents = pa.record_batch({"path": ["file:///d/0.tnt"], "content": [content]})
    table = rows_table(parser("/d", ANY_DOCUMENT)([documents]))
    return table.add_column(0, "stream", pa.repeat("r", table.num_rows))


def test_a_batch_with_a_late_fact_is_fed_again(tmp_path: Path) -> None:
    """The change log keeps facts without their places, and so do letters that nobody needs."""
    fact = "{}\t<http://e/s> <http://e/p> <http://e/o> ."
    first = driver(tmp_path)
    first.take(0, rows(fact.format(1_000), fact.format(5_000)), perf_counter())
    first.take(1, rows(fact.format(1_500), fact.format(6_000)), perf_counter())
    first.checkpoint.close()
    again = driver(tmp_path)
    again.take(2, rows(fact.format(9_000)), perf_counter())
    assert again.checkpoint.states.last == 2


QUERY = """REGISTER QUERY all AS SELECT ?x FROM STREAM <http://e/r> [RANGE 10s STEP 10s]
WHERE { ?x <http://e/p> ?y }"""


def units() -> tuple[Unit, ...]:
    """Besides rules that tick every second, a query every ten, and a program that is as often."""
    seen = parse_lars("seen(X) :- triple(X, Y, Z) in [2].")
    return (
        Queries([parse_continuous_query(QUERY)], {"r": "http://e/r"}),
        Lars("seen", seen, ["r"], step=1_000),
    )


def test_a_fact_that_is_late_for_several_is_one_letter(tmp_path: Path) -> None:
    """Also if the batch comes again, after the process died before it was committed."""
    fact = "{}\t<http://e/s> <http://e/p> <http://e/o> ."
    batches = [
        rows(*map(fact.format, (1_000, 15_000))),
        rows(*map(fact.format, (12_000, 500, 16_000, 600))),
    ]
    letters = []
    for _ in range(2):
        made = driver(tmp_path, *units())
        for number in range(made.checkpoint.states.last, 2) if letters else range(2):
            made.take(number, batches[number], perf_counter())
        made.checkpoint.close()
        (part,) = (tmp_path / "dead").iterdir()
        letters.append([json.loads(line) for line in part.read_text().splitlines()])
    assert letters[1] == letters[0]
    assert [(each["line"], each["t"], each["reason"]) for each in letters[0]] == [
        (1, 12_000, f"{LATE}, for rules and seen"),
        (2, 500, LATE),
        (4, 600, LATE),
    ]
    assert {each["text"] for each in letters[0]} == {"<http://e/s> <http://e/p> <http://e/o>"}
