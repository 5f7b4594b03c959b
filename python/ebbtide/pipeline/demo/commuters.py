"""Commuters in trains, live: which commuter is in which city and region.

    feeder ─► folder ─► readStream text ─► parse on executors ─► reasoner in the driver ─► terminal

Reports come once a second and hold for three, so when a train leaves a city, its passengers leave
the city three seconds later by themselves: nobody has to say that they are gone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from rich.console import Console

from ebbtide.engines.protocol import Delta
from ebbtide.pipeline.demo.feeder import Feeder
from ebbtide.pipeline.demo.summary import Latency, Summary, Tally
from ebbtide.pipeline.placements.driver import DriverPlacement
from ebbtide.pipeline.session import local_session
from ebbtide.pipeline.sinks import Sink
from ebbtide.pipeline.sinks.terminal import TerminalSink
from ebbtide.pipeline.sources.files import timed_lines
from ebbtide.pipeline.stages.parse import parse
from ebbtide.reasoner import Reasoner
from ebbtide.terms import IRI
from ebbtide.testing.workloads import Workload, mobility
from ebbtide.time import Sliding

WINDOW: Final = Sliding(3_000)
STEP: Final = 1_000
# Reports of one second come in any order.
LATENESS: Final = 1_000
ANSWERS: Final = (IRI("http://example/inCity"), IRI("http://example/inRegion"))


def run_demo(seconds: int, seed: int, console: Console, say: Callable[[str], None]) -> Summary:
    """Stream `seconds` (at least 3) of the scenario at its own pace; show answers, then stop."""
    workload = mobility(seconds=seconds, seed=seed)
    reasoner = commuter_reasoner(workload)
    say("starting Spark in local mode")
    spark = local_session("ebbtide demo")
    try:
        say("starting the Python workers on the executors")
        _warm_up(spark)
        say(f"streaming {seconds} seconds of commuters, a file a second")
        with tempfile.TemporaryDirectory(prefix="ebbtide-demo-") as folder:
            return _stream(spark, workload, reasoner, Path(folder), console)
    finally:
        spark.stop()


def commuter_reasoner(workload: Workload, engine: str = "native") -> Reasoner:
    """The demo's reasoner, with the background stated."""
    with as_file(files("ebbtide.pipeline.demo") / "commuters.rules") as rules:
        reasoner = Reasoner(rules, window=WINDOW, step=STEP, lateness=LATENESS, engine=engine)
    reasoner.add_all(workload.background())
    return reasoner


class _Both:
    """A sink that hands every delta to two."""

    def __init__(self, first: Sink, second: Sink) -> None:
        self._sinks = (first, second)

    def write(self, delta: Delta) -> None:
        for sink in self._sinks:
            sink.write(delta)


def _stream(
    spark: SparkSession, workload: Workload, reasoner: Reasoner, folder: Path, console: Console
) -> Summary:
    incoming = folder / "incoming"
    incoming.mkdir()
    tally = Tally(workload, WINDOW)
    with TerminalSink(ANSWERS, console) as terminal:
        placement = DriverPlacement(reasoner, _Both(terminal, tally))
        query = placement.start(parse(timed_lines(spark, incoming)), folder / "checkpoint")
        feeder = Feeder(workload, incoming)
        feeder.start()
        try:
            while feeder.is_alive() and not query.awaitTermination(1):
                pass
            query.processAllAvailable()
        finally:
            feeder.stop()
            query.stop()
        placement.finish()
    return Summary(
        facts_in=placement.progress.facts_in,
        bad_lines=placement.progress.bad_lines,
        late=reasoner.late,
        ticks=tally.ticks,
        derived=tally.derived,
        expired=tally.expired,
        live=len(reasoner),
        tick_latency=Latency.of(1000 * tick for tick in placement.progress.tick_seconds),
        batch_latency=Latency.of(_batch_milliseconds(query)),
    )


def _warm_up(spark: SparkSession) -> None:
    """Let the first micro-batch not wait for Python workers and class loading."""
    parse(spark.range(1).selectExpr("'# nothing' AS value")).toArrow()


def _batch_milliseconds(query: StreamingQuery) -> list[float]:
    return [
        progress.durationMs["triggerExecution"]
        for progress in query.recentProgress
        if progress.numInputRows
    ]
