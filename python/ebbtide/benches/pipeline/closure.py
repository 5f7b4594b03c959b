"""The closure of isIn, by joins of DataFrames and by the kernel: where one overtakes the other."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Final

from pyspark.sql import SparkSession

from ebbtide.benches.imars.settings import Say
from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.results import Measurement, Results
from ebbtide.engines.dataframe import DataFrameEngine
from ebbtide.engines.native import NativeEngine
from ebbtide.testing import program

#: Chains of so many facts: each gives half its square of conclusions.
LENGTH: Final = 8


def measure_closure(
    settings: Settings, results: Results, spark: SparkSession, folder: Path, say: Say
) -> None:
    """Seconds to the closure, and milliseconds a round of joins."""
    rules = program("R: isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).")
    for size in settings.closures:
        facts = spark.range(size).selectExpr(
            f"concat('<http://e/', id DIV {LENGTH}, '/', id % {LENGTH}, '>') AS s",
            f"concat('<http://e/', id DIV {LENGTH}, '/', id % {LENGTH} + 1, '>') AS o",
        )
        table = facts.toArrow()
        say(f"closure: {size} facts by the kernel")
        began = perf_counter()
        kernel = NativeEngine(rules, {})
        kernel.add_arrow(table, "isIn", ["s", "o"])
        kernel.evaluate(0)
        by_kernel = perf_counter() - began
        say(f"closure: {size} facts by joins")
        began = perf_counter()
        frames = DataFrameEngine(spark, rules, {})
        frames.add_frame(facts, "isIn")
        frames.changes(0)
        frame = frames.frame("isIn")
        count = 0 if frame is None else frame.count()
        by_joins = perf_counter() - began
        if count != len(kernel):
            raise RuntimeError(f"{count} facts by joins, and {len(kernel)} by the kernel")
        given = {"facts": size, "closure": count}
        results.extend(
            [
                Measurement("closure", {**given, "engine": "driver"}, by_kernel, "s"),
                Measurement(
                    "closure",
                    {**given, "engine": "dataframe"},
                    by_joins,
                    "s",
                    ratio=by_joins / by_kernel,
                    ratio_of="driver",
                ),
                Measurement("a round of joins", given, 1000 * by_joins / frames.rounds, "ms"),
            ]
        )
