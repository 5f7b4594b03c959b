"""The closure of isIn, by joins of DataFrames and by the kernel: where one overtakes the other.

Each is measured in a process of its own, so that neither has the other's memory, nor the machine
with 10^7 facts more than one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple

from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.results import Measurement, Results, Say
from ebbtide.engines.dataframe import DataFrameEngine
from ebbtide.engines.native import NativeEngine
from ebbtide.pipeline.session import JVM_FOR_JOINS, close_session, open_session
from ebbtide.testing import program

#: Chains of so many facts: each gives half its square of conclusions.
LENGTH: Final = 8
RULES: Final = "R: isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z)."
#: For large data instead of small batches.
SPARK: Final = {
    "spark.driver.memory": "8g",
    "spark.sql.shuffle.partitions": "8",
}
#: Of a first closure, which is not timed.
FEW: Final = 1_000


class Closed(NamedTuple):
    """How long it took, how many facts the closure has, and the rounds of joins."""

    seconds: float
    facts: int
    rounds: int = 0


def measure_closure(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Seconds to the closure, and milliseconds a round of joins."""
    for size in settings.closures:
        say(f"closure: {size:,} facts by the kernel")
        kernel = _alone(_by_kernel, size)
        say(f"closure: {size:,} facts by joins")
        joins = _alone(_by_joins, size)
        if joins.facts != kernel.facts:
            raise RuntimeError(f"{joins.facts} facts by joins, and {kernel.facts} by the kernel")
        given = {"facts": size, "closure": joins.facts}
        results.extend(
            [
                Measurement("closure", {**given, "engine": "driver"}, kernel.seconds, "s"),
                Measurement(
                    "closure",
                    {**given, "engine": "dataframe"},
                    joins.seconds,
                    "s",
                    ratio=joins.seconds / kernel.seconds,
                    ratio_of="driver",
                ),
                Measurement("a round of joins", given, 1000 * joins.seconds / joins.rounds, "ms"),
            ]
        )


def _alone(work: Callable[[int], Closed], size: int) -> Closed:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, size).result()


def _by_kernel(size: int) -> Closed:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    def texts(chains: Any, places: Any) -> Any:
        chain, place = (pa.array(each).cast(pa.string()) for each in (chains, places))
        return pc.binary_join_element_wise("<http://e/", chain, "/", place, ">", "")

    ids = np.arange(size)
    chains, places = ids // LENGTH, ids % LENGTH
    table = pa.table({"s": texts(chains, places), "o": texts(chains, places + 1)})
    began = perf_counter()
    kernel = NativeEngine(program(RULES), {})
    kernel.add_arrow(table, "isIn", ["s", "o"])
    kernel.evaluate(0)
    return Closed(perf_counter() - began, len(kernel))


def _by_joins(size: int) -> Closed:
    spark = open_session("ebbtide bench", settings=SPARK, jvm=JVM_FOR_JOINS)
    rules = program(RULES)
    for facts in (FEW, size):
        stated = spark.range(facts).selectExpr(
            f"concat('<http://e/', id DIV {LENGTH}, '/', id % {LENGTH}, '>') AS s",
            f"concat('<http://e/', id DIV {LENGTH}, '/', id % {LENGTH} + 1, '>') AS o",
        )
        # They are there, as they are for the kernel.
        stated.persist().count()
        began = perf_counter()
        frames = DataFrameEngine(spark, rules, {})
        frames.add_frame(stated, "isIn")
        frames.changes(0)
        frame = frames.frame("isIn")
        closed = 0 if frame is None else frame.count()
        seconds = perf_counter() - began
    close_session(spark)
    return Closed(seconds, closed, frames.rounds)
