"""The placement `driver` without Spark: batches are handed to it as Spark's sink would."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import DeadLetters
from ebbtide.pipeline.placements.driver import Driver
from ebbtide.pipeline.stages.parse import ANY as ANY_DOCUMENT
from ebbtide.pipeline.stages.parse import parser, rows_table
from ebbtide.pipeline.units.rules import Rules
from ebbtide.program import Program
from ebbtide.time import Sliding


def driver(folder: Path) -> Driver:
    return Driver(
        units=[Rules(Program(), {"r": Sliding(2_000)})],
        streams=["r"],
        sinks=[],
        dead=DeadLetters(None, fail=False),
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
    assert again.checkpoint.last == 2
