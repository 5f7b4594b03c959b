"""Batches through a pipeline: with reasoning, without, and through Spark alone.

    nothing     Spark's own no-op sink: source and parse
    no-op       ... and transfer to the driver, change log, commit: the pipeline without its units
    rules       ... and RDFS over a campus ontology
    rules and a query     ... and a C-SPARQL query over what it concludes

All four read the same files, a file a batch, so that what they differ in is what is measured.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from ebbtide.benches.imars.settings import Say
from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results
from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import DeadLetters
from ebbtide.pipeline.placements.driver import Driver
from ebbtide.pipeline.progress import Latency
from ebbtide.pipeline.sinks.parts import Parts, answer_lines
from ebbtide.pipeline.sources.files import read_files
from ebbtide.pipeline.units import Fed, Unit
from ebbtide.pipeline.units.queries import Queries
from ebbtide.pipeline.units.rules import Rules
from ebbtide.reasoner.intake import as_program
from ebbtide.terms.writing import ntriples_line
from ebbtide.testing.workloads.lubm import UB, departments, lubm
from ebbtide.time import Tumbling

STREAM: Final = "campus"
IRI: Final = "http://example/campus"
RULES: Final = "rdfs-sparkwave"
QUERY: Final = f"""PREFIX ub: <{UB}>
REGISTER QUERY members AS
SELECT ?organization (COUNT(*) AS ?members)
FROM STREAM <{IRI}> [RANGE 1s STEP 1s]
WHERE {{ ?person ub:worksFor ?organization . ?person a ub:Professor }} GROUP BY ?organization"""
CONTENDERS: Final = ("nothing", "no-op", "rules", "rules and a query")


class Idle:
    """A unit that takes facts and does nothing."""

    names: Sequence[str] = ()
    identity: Mapping[str, str] = {}

    def begin(self) -> None:
        """Nothing to start from."""

    def feed(self, batch: Mapping[str, Any]) -> Fed:
        """Nothing follows."""
        return Fed({}, DeadLetters.none)

    def finish(self) -> Fed:
        """Nothing follows."""
        return Fed({}, DeadLetters.none)

    def snapshot(self) -> bytes:
        """No state."""
        return b""

    def restore(self, data: bytes) -> None:
        """No state."""

    def __len__(self) -> int:
        return 0


def write_files(folder: Path, facts: int, files: int, seed: int) -> Path:
    """Files of LUBM facts, a second of event time each; the ontology beside them."""
    incoming = folder / "incoming"
    incoming.mkdir()
    rows = chain.from_iterable(each.rows for each in departments(1_000, seed))
    for number in range(files):
        file = incoming / f"{number:05d}.tnt"
        lines = (f"{1_000 * number + 1}\t{s} {p} {o} .\n" for s, p, o in islice(rows, facts))
        file.write_text("".join(lines))
        os.utime(file, (60 * number, 60 * number))
    ontology = (ntriples_line(fact.terms) for fact in lubm().background())
    (folder / "ontology.nt").write_text("".join(ontology))
    return incoming


def _units(contender: str, folder: Path) -> list[Unit]:
    if contender == "no-op":
        return [Idle()]
    program = as_program(RULES)
    background = [folder / "ontology.nt"]
    if contender == "rules":
        # A tumbling window of a second: what a batch brings, the next one takes.
        return [Rules(program, {STREAM: Tumbling(1_000)}, background=background)]
    query = parse_continuous_query(QUERY)
    return [Queries([query], {STREAM: IRI}, program=program, background=background)]


def time_batches(
    contender: str, spark: SparkSession, folder: Path, warm: int
) -> Sequence[Mapping[str, float]]:
    """The durations of batches, by stage, in milliseconds."""
    work = folder / contender.replace(" ", "-")
    facts = read_files(spark, folder / "incoming", files_a_batch=1)
    writer = facts.writeStream.option("checkpointLocation", str(work / "spark"))
    reasoning: Collection[float] = ()
    if contender == "nothing":
        query = writer.format("noop").start()
    else:
        units = _units(contender, folder)
        sink = Parts(work / "out", "jsonl", answer_lines)
        driver = Driver(
            units=units,
            streams=[STREAM],
            sinks=[(name, sink) for unit in units for name in unit.names if name == "members"],
            dead=DeadLetters(None, fail=False),
            checkpoint=Checkpoint(work, {}),
            snapshot_every=10_000,
            say=lambda sentence: None,
        )

        def take(batch: DataFrame, number: int) -> None:
            driver.take_batch(batch.selectExpr(f"'{STREAM}' AS stream", "*"), number)

        query = writer.foreachBatch(take).start()
        reasoning = driver.progress.tick_milliseconds
    query.processAllAvailable()
    found = [each.durationMs for each in query.recentProgress if each.numInputRows]
    times: list[dict[str, float]] = [{**each} for each in found]
    query.stop()
    for time, tick in zip(times[-len(reasoning) :], reasoning, strict=False):
        time["reasoning"] = tick
    return times[warm:]


def _measure(
    name: str,
    size: int,
    files: int,
    goals: Mapping[str, Goal],
    settings: Settings,
    results: Results,
    spark: SparkSession,
    folder: Path,
    say: Say,
) -> None:
    write_files(folder, size, files, settings.seed)
    base: Latency | None = None
    for contender in CONTENDERS:
        say(f"{name}: {contender}")
        times = time_batches(contender, spark, folder, settings.warm)
        whole = Latency.of(each["triggerExecution"] for each in times)
        base = whole if contender == ("no-op" if name == "large" else "nothing") else base
        for which in ("p50", "p95"):
            value, of = getattr(whole, which), base and getattr(base, which)
            results.extend(
                [
                    Measurement(
                        f"{name} batches",
                        {"facts": size, "pipeline": contender, "of batches": which},
                        value,
                        "ms",
                        ratio=value / of if of else None,
                        ratio_of="no-op" if name == "large" else "nothing",
                        goal=goals.get(contender) if of else None,
                    )
                ]
            )
        results.extend(
            Measurement(
                f"{name} stages",
                {"pipeline": contender, "stage": stage},
                Latency.of(each.get(stage, 0.0) for each in times).p50,
                "ms",
            )
            for stage in ("latestOffset", "queryPlanning", "walCommit", "addBatch", "reasoning")
        )
        if name == "large":
            results.extend(
                [
                    Measurement(
                        "facts a second",
                        {"pipeline": contender},
                        1000 * size / whole.p50,
                        "facts/s",
                    )
                ]
            )


def measure_large(
    settings: Settings, results: Results, spark: SparkSession, folder: Path, say: Say
) -> None:
    """Large batches, against the pipeline without reasoning."""
    goals = {"rules and a query": Goal("at most", 1.3)}
    size, files = settings.large, settings.batches
    _measure("large", size, files, goals, settings, results, spark, folder, say)


def measure_small(
    settings: Settings, results: Results, spark: SparkSession, folder: Path, say: Say
) -> None:
    """Small batches, against Spark's own no-op sink."""
    goals = {"rules and a query": Goal("at most", 1.2)}
    size, files = settings.small, settings.small_batches
    _measure("small", size, files, goals, settings, results, spark, folder, say)
