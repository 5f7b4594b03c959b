"""A stream that pauses, or a clock that stood at 1970: many ticks at which nothing changes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.languages.lars import parse_lars
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline
from ebbtide.pipeline.units.lars import Lars
from ebbtide.pipeline.units.rules import Rules
from ebbtide.reasoner import Reasoner
from ebbtide.reasoner.intake import as_program
from ebbtide.time import Count, Landmark, Session, Sliding, Tumbling, Window

from .stream import in_order, rows_of
from .test_recovery import lines

NOW = 1_780_000_000_000
POSITIVE = "[all: (?x <http://e/p> ?y) (?y <http://e/p> ?z) -> (?x <http://e/p> ?z)]"
SCHEMA = "<http://e/p> <http://www.w3.org/2000/01/rdf-schema#domain> <http://e/Place> .\n"
RULES = {
    "positive": POSITIVE,
    "negation": f"{POSITIVE} [no: (?x <http://e/p> ?y) noValue(?y <http://e/p>) -> (?y <a:e> 1)]",
    "the time": f"{POSITIVE} [old: (?x <http://e/p> ?y) now(?t) -> (?x <a:seen> ?y)]",
    "a plan": "rdfs-sparkwave",
}


def facts_of(*instants: int) -> list[tuple[int, str, str, str]]:
    return [
        (at, f"<http://e/{number}>", "<http://e/p>", f"<http://e/{number + 1}>")
        for number, at in enumerate(instants)
    ]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(
    "window", [Sliding(700), Sliding(9_000), Tumbling(1_000), Landmark(0), Count(2), Session(400)]
)
def test_a_pause_changes_nothing_that_is_told(window: Window, rules: str, tmp_path: Path) -> None:
    """Deltas are asked for tick by tick."""
    facts = facts_of(3, 250, 4_000, 4_010, 7_000, 7_500)
    (tmp_path / "schema.nt").write_text(SCHEMA)
    background = [tmp_path / "schema.nt"]
    unit = Rules(as_program(RULES[rules]), {"s": window}, background=background, step=2)
    unit.begin()
    rows, ticks = [], 0
    for first in range(0, len(facts), 2):
        columns = zip(*facts[first : first + 2], strict=True)
        fed = unit.feed({"s": pa.table([list(each) for each in columns], list("tspo"))})
        rows += fed.rows["rules"].to_pylist()
        ticks += len(fed.tick_seconds)
    rows += unit.finish().rows["rules"].to_pylist()
    oracle = Reasoner(RULES[rules], streams={"s": window}, step=2)
    oracle.parse(tmp_path / "schema.nt")
    expected = []
    for at, *terms in facts:
        oracle.push(tuple(terms), at, "s")
        expected += oracle.advance()
    told = [{name: value for name, value in row.items() if value is not None} for row in rows]
    assert in_order(told) == rows_of([*expected, *oracle.finish()])
    assert (ticks < len(expected)) == (rules != "the time")


def test_a_clock_that_stood_at_1970_takes_no_time() -> None:
    facts = pa.table([list(each) for each in zip(*facts_of(0, NOW), strict=True)], list("tspo"))
    rules = Rules(as_program(POSITIVE), {"s": Sliding(3_000)})
    program = parse_lars("seen(X) :- triple(X, P, Y) in [3 s].")
    for unit in (rules, Lars("seen", program, ["s"])):
        unit.begin()
        told = [unit.feed({"s": facts}), unit.finish()]
        assert [each.last_tick for each in told] == [NOW - 1_000, NOW]
        (name,) = unit.names
        assert sum(len(each.rows[name]) for each in told) == 3


@pytest.mark.spark
def test_pauses_in_every_placement(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "p.rules").write_text("[p: (?x <http://e/p> ?y) -> (?x <http://e/q> ?y)]")
    found = []
    for placement in ("driver", "sharded", "dataframe"):
        folder = tmp_path / placement
        (folder / "in").mkdir(parents=True)
        file = folder / "p.toml"
        file.write_text(
            f"""
            streams.s = {{ from = "files", path = "in", window = "3 s" }}
            rules.use = ["../p.rules"]
            outputs.rows = {{ to = "jsonl", path = "out" }}
            run = {{ ends = "when read", placement = "{placement}" }}
            """
        )
        text = "".join("{}\t{} {} {} .\n".format(*each) for each in facts_of(0, NOW))
        (folder / "in/0.tnt").write_text(text)
        run_pipeline(load_pipeline(file), Console(quiet=True), spark=spark)
        found.append(sorted(lines(folder / "out"), key=lambda row: (row["op"], row["t"], row["p"])))
    assert found[0] == found[1] == found[2]
    times = [(row["op"], row["t"]) for row in found[0]]
    assert times == [("+", 0), ("+", 0), ("+", NOW), ("+", NOW), ("-", 3_000), ("-", 3_000)]
