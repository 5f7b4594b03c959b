"""A pipeline, run from its start to its end.

    streams ──► parse on executors ──► one DataFrame ──► units ──────► sinks
    sources     stages                 build             placements    sinks

A run ends when everything is read (`ends = "when read"`), or when it is told to: SIGTERM and Ctrl-C
let the batch in hand be finished and committed, and before there is one, let Spark be started and
closed: a JVM that is left alone while it starts stays for ever. Whatever ends it, the next run goes
on from there.
"""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from rich.console import Console

from ebbtide.pipeline.build import placement_of, units_of
from ebbtide.pipeline.checkpoint import Checkpoint, Plan
from ebbtide.pipeline.cluster import cluster_settings
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.expressions import check_expressions
from ebbtide.pipeline.failed import explained
from ebbtide.pipeline.file import Pipeline
from ebbtide.pipeline.file.duration import milliseconds
from ebbtide.pipeline.gauges import Gauges
from ebbtide.pipeline.inputs import facts_of, spools_of, waiting_of
from ebbtide.pipeline.listener import ProgressListener
from ebbtide.pipeline.metrics import exported
from ebbtide.pipeline.outputs import dead_letters_of, sinks_of
from ebbtide.pipeline.owner import check_forget, check_outputs, forget, take_outputs
from ebbtide.pipeline.placements.choose import Choice, choose, cores_of, is_one_machine, master_of
from ebbtide.pipeline.placements.placement import Placement, Stop, Stopped
from ebbtide.pipeline.placements.sharded import PARTITIONS, STATE_STORE
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.session import (
    JVM_FOR_JOINS,
    JVM_OPTIONS,
    close_session,
    open_session,
    unchanged,
    warm_up,
)
from ebbtide.pipeline.sources.spool import Spool
from ebbtide.pipeline.starts import run_query
from ebbtide.pipeline.streams import StreamProgress
from ebbtide.pipeline.units import Unit
from ebbtide.pipeline.units.pieces import setting

_POLL: Final = 0.2


def run_pipeline(
    pipeline: Pipeline,
    console: Console,
    say: Callable[[str], None] = lambda sentence: None,
    *,
    spark: SparkSession | None = None,
    reset: bool = False,
    progress: Progress | None = None,
    feeds: Mapping[str, Iterable[str]] | None = None,
) -> Progress:
    """Run a pipeline until it ends; what it did.

    With a session at hand (spark-submit, a notebook) it runs in that, and leaves it open. Whoever
    wants to look while it runs brings the `progress`. `feeds` are what streams from memory bring:
    documents by the stream's name, each asked for when the one before it is taken.
    """
    progress = Progress() if progress is None else progress
    lateness = milliseconds(pipeline.time.lateness)
    progress.streams |= {name: StreamProgress(lateness) for name in pipeline.streams}
    with suppress(Stopped), ExitStack() as stack:
        stop = Stop()
        stack.enter_context(_stop_signals(stop, say))

        def begin(what: str) -> None:
            if stop.told:
                raise Stopped
            say(what)

        folder = pipeline.checkpoint.path
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ebbtide-"))
        if reset:
            forget(pipeline, Path(folder))
        units = units_of(pipeline)
        choice = choice_of(pipeline, units, spark, Path(folder))
        say(f"placement {choice}")
        identity, plan = _identity(pipeline, choice, units), _plan(pipeline, choice, units)
        checkpoint = Checkpoint(Path(folder), identity, plan)
        stack.callback(checkpoint.close)
        take_outputs(pipeline, checkpoint)
        if pipeline.run.metrics_port is not None:
            # Before Spark is, so that nobody waits for it to hear that the port is taken.
            port = stack.enter_context(exported(progress, pipeline.run.metrics_port))
            say(f"metrics for Prometheus at http://127.0.0.1:{port}/metrics")
        if spark is None:
            begin(f"starting Spark ({pipeline.spark.master})")
            settings: Mapping[str, str] = pipeline.spark.settings
            if not is_one_machine(pipeline.spark.master):
                settings = cluster_settings(settings, say)
            jvm = JVM_FOR_JOINS if choice.placement == "dataframe" else JVM_OPTIONS
            spark = open_session(pipeline.name, pipeline.spark.master, settings, jvm=jvm)
            # Spark listens to Ctrl-C itself when it has started.
            stack.enter_context(_stop_signals(stop, say))
            stack.callback(close_session, spark)
        check_expressions(pipeline, spark)
        stack.enter_context(unchanged(spark, PARTITIONS, STATE_STORE[0]))
        begin("starting the Python workers on the executors")
        warm_up(spark)
        dead = dead_letters_of(pipeline)
        sinks = list(sinks_of(pipeline, console, spark, checkpoint))
        for sink in (*(sink for _, sink in sinks), dead):
            stack.callback(sink.close)
        placement = placement_of(
            pipeline, choice, units, sinks, dead, checkpoint, say, spark, progress, stop
        )
        listener = ProgressListener(progress, pipeline.name, Gauges(spark))
        spark.streams.addListener(listener)
        stack.callback(spark.streams.removeListener, listener)
        facts = facts_of(pipeline, spark, checkpoint, parcels=placement.takes_parcels)
        for name, waiting in waiting_of(pipeline, checkpoint):
            progress.streams[name].waiting = waiting
        spools = list(spools_of(pipeline, checkpoint, feeds or {}))
        begin(f"reading {', '.join(pipeline.streams)}")
        stop.once = "the batch in hand is finished and committed"
        listener.wait_for(_stream(pipeline, facts, placement, spools))
    return progress


def check_start(pipeline: Pipeline, *, reset: bool = False) -> None:
    """Refuse what a run would refuse of its checkpoint and its outputs, and change nothing."""
    folder = None if pipeline.checkpoint.path is None else Path(pipeline.checkpoint.path)
    if reset:
        check_forget(pipeline, folder)
        return
    if folder is not None and Checkpoint.is_begun(folder):
        units = units_of(pipeline)
        choice = choice_of(pipeline, units, None, folder)
        identity, plan = _identity(pipeline, choice, units), _plan(pipeline, choice, units)
        Checkpoint.check(folder, identity, plan)
        if choice.placement == "driver":
            Checkpoint.check_states(folder)
    check_outputs(pipeline, folder)


def choice_of(
    pipeline: Pipeline, units: Sequence[Unit], spark: SparkSession | None, folder: Path | None
) -> Choice:
    """Where the units will be: in a session, or in the one that the pipeline file asks for."""
    known = {} if folder is None else Checkpoint.known(folder)
    if spark is None:
        master = pipeline.spark.master
        cores = cores_of(master, pipeline.spark.settings)
    else:
        master, cores = master_of(spark), spark.sparkContext.defaultParallelism
    return choose(pipeline, units, master=master, cores=cores, known=known)


def _identity(pipeline: Pipeline, choice: Choice, units: Sequence[Unit]) -> dict[str, str]:
    key = {} if choice.shards is None else {"key": str(pipeline.run.key)}
    of_units = {name: value for unit in units for name, value in unit.identity.items()}
    return {**choice.identity, **key, **of_units}


def _plan(pipeline: Pipeline, choice: Choice, units: Sequence[Unit]) -> Plan:
    """What the identity is of."""
    pieces = [setting("the placement", choice.placement)]
    if choice.shards is not None:
        pieces += [setting("the number of shards", choice.shards)]
        pieces += [setting("the key of shards", pipeline.run.key or "none")]
    return Plan.of([*pieces, *(piece for unit in units for piece in unit.pieces)])


def _stream(
    pipeline: Pipeline, facts: DataFrame, placement: Placement, spools: Sequence[Spool]
) -> int:
    """Let the query run until it ends; the last batch that was run, -1 for none."""
    rows = placement.prepare(facts)
    writer = placement.writer(rows).queryName(pipeline.name)
    writer = writer.option("checkpointLocation", str(placement.checkpoint.spark))
    writer = writer.trigger(processingTime=f"{milliseconds(pipeline.run.every)} milliseconds")
    with ExitStack() as spooling:

        def attend(query: StreamingQuery) -> None:
            try:
                for spool in spools:
                    # They go on while a query is started again.
                    if spool.ident is None:
                        spool.start()
                        spooling.callback(spool.stop)
                if _wait(query, placement, spools, pipeline.run.ends == "when read"):
                    placement.end(query)
            finally:
                placement.progress.batch_milliseconds += _batch_milliseconds(query)
                query.stop()

        try:
            return _last_batch(run_query(writer, attend, placement.say))
        except (PySparkException, Py4JJavaError) as error:
            if isinstance(placement.error, Stopped):
                return -1
            found = placement.error or error
            if isinstance(found, PySparkException | Py4JJavaError):
                found = explained(str(found), placement.checkpoint.spark) or found
            raise found from None


def _wait(query: StreamingQuery, placement: Placement, spools: Sequence[Spool], ends: bool) -> bool:
    """Wait for the end: True if everything is read, False if the run was told to stop."""
    going_on = list(spools)
    while not placement.stop.told or query.status["isTriggerActive"]:
        # A float will do, whatever the stub says.
        if query.awaitTermination(_POLL) and not placement.stop.told:  # type: ignore[arg-type]
            raise PipelineError("Spark ended the query before everything was read")
        for spool in spools:
            if spool.error is not None:
                raise spool.error
        for spool in [each for each in going_on if not (ends or each.is_alive())]:
            # The run does not end with it, so nobody would know.
            placement.say(f"the stream {spool.stream} has ended: the next run asks for more of it")
            going_on.remove(spool)
        if ends and not placement.stop.told and not any(spool.is_alive() for spool in spools):
            query.processAllAvailable()
            if not placement.stop.told and not query.isActive:
                raise PipelineError("Spark ended the query before everything was read")
            return not placement.stop.told
    return False


@contextmanager
def _stop_signals(stop: Stop, say: Callable[[str], None]) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C tell the run to stop, and nothing else.

    The first is answered at once. Whoever does not want to wait may kill the process: the next run
    does the batch again.
    """

    def tell(number: int, frame: Any) -> None:
        is_first = not stop.told
        stop.tell()
        if is_first:
            answer = f"stopping once {stop.once}; telling again changes nothing"
            # A handler may interrupt whoever is just saying something, who cannot be asked to wait.
            threading.Thread(target=say, args=(answer,), name="stopping").start()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, tell) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _last_batch(query: StreamingQuery) -> int:
    """The last batch that was run, -1 for none: where there is nothing to read, Spark tells of the
    batch that would come next, and listeners never hear of it.
    """
    done = (each.batchId for each in query.recentProgress if "addBatch" in each.durationMs)
    return max(done, default=-1)


def _batch_milliseconds(query: StreamingQuery) -> list[float]:
    return [
        progress.durationMs["triggerExecution"]
        for progress in query.recentProgress
        if progress.numInputRows
    ]
