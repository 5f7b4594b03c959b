"""The pipelines that are compared: each does what the ones before do, and a stage more.

    source                 Spark's own no-op sink behind the source alone
    rows                   ... and the parser, as any Spark program has it: a row a fact
    parcels                ... and the parser, as the driver has it: a row a record batch
    no-op                  ... and transfer to the driver, change log, commit: all but the units
    rules                  ... and RDFS over a campus ontology
    rules and a query      ... and a C-SPARQL query over what they conclude, and its sink

A contender goes on from one run to the next, as a pipeline does that was stopped in between; so
that runs of several can take turns on one machine.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from pyspark.sql import SparkSession

from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import DeadLetters
from ebbtide.pipeline.placements.driver import Driver
from ebbtide.pipeline.sinks.parts import Parts, answer_lines
from ebbtide.pipeline.sources.files import SCHEMA, read_files
from ebbtide.pipeline.sources.here import Home
from ebbtide.pipeline.stages.parse import ANY, Documents, parser
from ebbtide.pipeline.units import Fed, Unit
from ebbtide.pipeline.units.pieces import Piece
from ebbtide.pipeline.units.queries import Queries
from ebbtide.pipeline.units.rules import Rules
from ebbtide.reasoner.intake import as_program
from ebbtide.testing.workloads.lubm import UB
from ebbtide.time import Tumbling

SPARK_ALONE: Final = ("source", "rows", "parcels")
CONTENDERS: Final = (*SPARK_ALONE, "no-op", "rules", "rules and a query")
STREAM: Final = "campus"
IRI: Final = "http://example/campus"
RULES: Final = "rdfs-sparkwave"
QUERY: Final = f"""PREFIX ub: <{UB}>
REGISTER QUERY members AS
SELECT ?organization (COUNT(*) AS ?members)
FROM STREAM <{IRI}> [RANGE 1s STEP 1s]
WHERE {{ ?person ub:worksFor ?organization . ?person a ub:Professor }} GROUP BY ?organization"""
#: As a pipeline file has it that says nothing.
SNAPSHOT_EVERY: Final = 20


class Idle:
    """A unit that takes facts and does nothing."""

    names: Sequence[str] = ()
    title = "idle"
    identity: Mapping[str, str] = {}
    pieces: Sequence[Piece] = ()

    def begin(self) -> None:
        """Nothing to start from."""

    def feed(self, batch: Mapping[str, Any]) -> Fed:
        """Nothing follows."""
        return Fed({})

    def finish(self) -> Fed:
        """Nothing follows."""
        return Fed({})

    def snapshot(self) -> bytes:
        """No state."""
        return b""

    def restore(self, data: bytes) -> None:
        """No state."""

    def __len__(self) -> int:
        return 0


@dataclass
class Clock:
    """Milliseconds by stage, of the batch in hand."""

    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def counting(self, stage: str) -> Iterator[None]:
        """Count what is done within."""
        began = perf_counter()
        yield
        self.spent[stage] += 1000 * (perf_counter() - began)

    def timed(self, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, counted."""

        def counted(*arguments: Any) -> Any:
            with self.counting(stage):
                return call(*arguments)

        return counted


class Contender:
    """One pipeline over a folder of its own, run by run."""

    def __init__(self, name: str, spark: SparkSession, folder: Path) -> None:
        self.name = name
        self._spark = spark
        self._work = folder / name.replace(" ", "-")
        self._incoming = self._work / "incoming"
        self._incoming.mkdir(parents=True)
        self._driver = None if name in SPARK_ALONE else _driver(name, self._work, folder)
        self._stages: list[Mapping[str, float]] = []

    def run(self, files: Sequence[Path]) -> list[dict[str, float]]:
        """Take some more files, a batch each: milliseconds of each batch, by stage."""
        for file in files:
            os.link(file, self._incoming / file.name)
        self._stages.clear()
        query = self._writer().option("checkpointLocation", str(self._work / "spark")).start()
        query.processAllAvailable()
        query.stop()
        batches = [each for each in query.recentProgress if "addBatch" in each.durationMs]
        if len(batches) != len(files):
            raise RuntimeError(f"{self.name}: {len(files)} files came in {len(batches)} batches")
        stages = self._stages or [{}] * len(batches)
        return [
            {"batch": each.durationMs["triggerExecution"], **known}
            for each, known in zip(batches, stages, strict=True)
        ]

    def _writer(self) -> Any:
        if self.name == "source":
            reader = self._spark.readStream.format("binaryFile").schema(SCHEMA)
            files = reader.option("maxFilesPerTrigger", 1).load(str(self._incoming))
            return files.select("path", "content").writeStream.format("noop")
        documents = Documents(parcels=self.name != "rows")
        facts = read_files(self._spark, self._incoming, documents, files_a_batch=1)
        driver = self._driver
        if driver is None:
            return facts.writeStream.format("noop")
        clock = Clock()
        for unit in driver.units:
            unit.feed = clock.timed("reasoning", type(unit).feed.__get__(unit))  # type: ignore[method-assign]
        driver.write = clock.timed("sink", type(driver).write.__get__(driver))  # type: ignore[method-assign]

        take_batch = type(driver).take_batch.__get__(driver)

        def take(batch: Any, number: int) -> None:
            clock.spent.clear()
            with clock.counting("driver"):
                take_batch(batch, number)
            self._stages.append(dict(clock.spent))

        driver.take_batch = take  # type: ignore[method-assign]
        named = facts.selectExpr(f"'{STREAM}' AS stream", "*")
        return driver.writer(driver.prepare(named))


def _driver(name: str, work: Path, folder: Path) -> Driver:
    units = _units(name, folder)
    sink = Parts(work / "out", "jsonl", answer_lines)
    return Driver(
        units=units,
        streams=[STREAM],
        sinks=[(each, sink) for unit in units for each in unit.names if each == "members"],
        dead=DeadLetters(None, fail=False),
        checkpoint=Checkpoint(work, {}),
        homes=[Home(STREAM, work / "incoming", parser(str(work / "incoming"), ANY))],
        snapshot_every=SNAPSHOT_EVERY,
        say=lambda sentence: None,
    )


def _units(name: str, folder: Path) -> list[Unit]:
    if name == "no-op":
        return [Idle()]
    program = as_program(RULES)
    background = [folder / "ontology.nt"]
    if name == "rules":
        # A tumbling window of a second: what a batch brings, the next one takes.
        return [Rules(program, {STREAM: Tumbling(1_000)}, background=background)]
    query = parse_continuous_query(QUERY)
    return [Queries([query], {STREAM: IRI}, program=program, background=background)]
