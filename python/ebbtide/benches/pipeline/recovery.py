"""Going on after kill -9: how long until a large window is back, from a snapshot."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pyarrow as pa
from pyspark.sql import SparkSession

from ebbtide.benches.imars.settings import Say
from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.results import Measurement, Results
from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.units.rules import Rules
from ebbtide.reasoner.intake import as_program
from ebbtide.time import Sliding

HOUR = 3_600_000


def measure_recovery(
    settings: Settings, results: Results, spark: SparkSession, folder: Path, say: Say
) -> None:
    """Seconds to write a snapshot of a window, and to have it back from the checkpoint."""
    say(f"recovery: a window of {settings.window} facts")
    numbers = range(settings.window)
    table = pa.table(
        {
            "t": pa.array([1 + number % 1_000 for number in numbers], pa.int64()),
            "s": [f"<http://e/{number}>" for number in numbers],
            "p": ["<http://e/isIn>"] * settings.window,
            "o": [f"<http://e/place/{number % 1_000}>" for number in numbers],
        }
    )
    rules = "[r: (?x <http://e/isIn> ?y) -> (?y <http://e/contains> ?x)]"
    unit = Rules(as_program(rules), {"default": Sliding(HOUR)})
    unit.begin()
    unit.feed({"default": table})
    unit.finish()
    checkpoint = Checkpoint(folder, {})
    began = perf_counter()
    checkpoint.save_snapshot(0, unit.snapshot())
    written = perf_counter() - began
    size = next((folder / "reasoner").glob("*.snapshot")).stat().st_size
    began = perf_counter()
    found = checkpoint.snapshot_before(1)
    assert found is not None
    back = Rules(as_program(rules), {"default": Sliding(HOUR)})
    back.restore(found[1])
    restored = perf_counter() - began
    if len(back) != len(unit):
        raise RuntimeError(f"{len(back)} facts came back of {len(unit)}")
    given = {"facts in the window": settings.window, "facts that hold": len(back)}
    results.extend(
        [
            Measurement("recovery", {**given, "what": "snapshot written"}, written, "s"),
            Measurement("recovery", {**given, "what": "snapshot restored"}, restored, "s"),
            Measurement("size of the snapshot", given, size / 1e6, "MB"),
        ]
    )
