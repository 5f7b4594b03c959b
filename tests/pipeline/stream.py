"""A stream of commuters in files, and what the reference engine says of it, for several tests."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ebbtide.engines.protocol import Delta
from ebbtide.reasoner import Reasoner
from ebbtide.terms.writing import ntriples_line, timed_line
from ebbtide.testing.workloads import mobility
from ebbtide.time import FOREVER, Sliding

DEMO = Path(__file__).parents[2] / "python/ebbtide/pipeline/demo"
COMMUTERS = DEMO / "commuters.rules"
LOCAL = Path(__file__).with_name("local.rules")
WORKLOAD = mobility(commuters=8, trains=3, seconds=12, seed=2)
FACTS = list(WORKLOAD.stream())
BAD_LINES = ("noon\t<http://e/a> <http://e/p> <http://e/b> .\n", "no tab at all\n")

#: Rows of Parquet, a file a batch.
PARQUET = """
[streams.sensors]
from = "rows"
format = "parquet"
path = "in"
schema = "at long, sensor string"
time = "at"
files_a_batch = 1
triples = [{ s = "<http://e/{sensor}>", p = "<http://e/p>", o = '"1"' }]
"""
PIPELINE = """
[time]
step = "{step}"
lateness = "1 s"

[streams.reports]
from = "files"
path = "incoming"
window = "3 s"
files_a_batch = {files_a_batch}

[background]
files = ["places.nt"]

[rules]
use = ["{rules}"]

[outputs.answers]
to = "jsonl"
path = "out/answers"
changes = ["+", "-", "~"]

[dead_letters]
path = "out/dead"

[checkpoint]
path = "checkpoint"
snapshot_every = 3

[run]
ends = "when read"
every = "{every}"
placement = "{placement}"
"""


def write_pipeline(
    folder: Path,
    files_a_batch: int = 2,
    facts_a_file: int = 20,
    *,
    rules: Path = COMMUTERS,
    step: str = "1 s",
    placement: str = "driver",
    every: str = "0 ms",
) -> Path:
    """A pipeline over the stream, in files a minute apart, with two bad lines in the first."""
    incoming = folder / "incoming"
    incoming.mkdir(parents=True)
    lines = [timed_line(at, fact.terms) for fact, at in FACTS]
    for number, first in enumerate(range(0, len(lines), facts_a_file)):
        file = incoming / f"{number:03d}.tnt"
        bad = BAD_LINES if number == 0 else ()
        file.write_text("".join([*lines[first : first + facts_a_file], *bad]))
        os.utime(file, (60 * number, 60 * number))
    background = (ntriples_line(fact.terms) for fact in WORKLOAD.background())
    (folder / "places.nt").write_text("".join(background))
    pipeline = folder / "pipeline.toml"
    pipeline.write_text(
        PIPELINE.format(
            files_a_batch=files_a_batch, rules=rules, step=step, placement=placement, every=every
        )
    )
    return pipeline


def oracle(rules: Path = COMMUTERS, step: int = 1_000) -> Reasoner:
    reasoner = Reasoner(rules, window=Sliding(3_000), step=step, lateness=1_000, engine="reference")
    reasoner.add_all(WORKLOAD.background())
    return reasoner


def rows_of(deltas: Iterable[Delta]) -> list[dict[str, Any]]:
    """Deltas as the rows that a pipeline gives, sorted."""
    rows = []
    for delta in deltas:
        for op, facts in (("+", delta.entered), ("-", delta.left), ("~", delta.renewed)):
            for fact, until in facts.items():
                s, p, o = (term.text for term in fact.terms)
                row = {"t": delta.tick, "op": op, "s": s, "p": p, "o": o, "until": until}
                rows.append({k: v for k, v in row.items() if v != FOREVER})
    return in_order(rows)


def expected_rows(rules: Path = COMMUTERS, step: int = 1_000) -> list[dict[str, Any]]:
    """What the oracle says, fact by fact."""
    reasoner = oracle(rules, step)
    return rows_of([*reasoner.run(FACTS), *reasoner.finish()])


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: tuple(map(str, row.values())))
