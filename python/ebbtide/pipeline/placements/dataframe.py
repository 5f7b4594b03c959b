"""Placement `dataframe`: nothing leaves the executors but the answers.

Each batch stays a DataFrame; for every tick that becomes due, the maintenance program is run as
joins (`engines/dataframe`). The state after a batch is tables in the checkpoint:

    frames/00000012/clock                  where time stands, and the files of the tables, sealed
    frames/00000012/whole-0, waiting-0     the facts of relation 0, and those that wait for a tick

Invariant: the state before a batch is in reach until the batch after it is done with, so that a
batch can come again.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.engines.dataframe import DataFrameEngine
from ebbtide.pipeline.checkpoint.sealed import Damaged, seal, unseal
from ebbtide.pipeline.dead import bad_letters, late_letters
from ebbtide.pipeline.errors import CheckpointError
from ebbtide.pipeline.file.meaning import RULES
from ebbtide.pipeline.placements.placement import Placement
from ebbtide.pipeline.stages.documents import read_documents
from ebbtide.pipeline.units.rules import ROWS, Rules
from ebbtide.program import TRIPLE
from ebbtide.reasoner.timeline import Timeline
from ebbtide.testing.crash import crash_point
from ebbtide.time import FOREVER, Instant

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(kw_only=True)
class DataFramePlacement(Placement):
    """A unit of rules as tables and joins."""

    unit: Rules
    spark: SparkSession
    _engine: DataFrameEngine | None = None
    _next: int | None = None
    _evaluated: Instant | None = None
    _tick_seconds: list[float] = field(default_factory=list)

    def prepare(self, facts: DataFrame) -> DataFrame:
        """The facts as they are."""
        return facts

    def end(self, query: StreamingQuery) -> None:
        """Stop, and evaluate the ticks that waited, in the place of the next batch."""
        query.stop()
        begun = time.perf_counter()
        self._stand_before(self._last_kept() + 1)
        assert self._next is not None
        self._time.complete(self._time.end)
        rows = self._rows()
        self.write(self._next, {RULES: rows}, self.dead.none)
        self._tell(self._next, 0, 0, 0, rows, begun)

    # ---- a batch -----------------------------------------------------------------------------

    def take(self, number: int, batch: DataFrame, begun: float) -> None:
        """Take a batch: unlike in the driver, it stays where it is."""
        self._stand_before(number)
        batch = batch.persist()
        try:
            bad, late = self._letters(batch)
            for letters in (bad, late):
                self.dead.allow(letters)
            count = self._push(batch.where("error IS NULL").drop("error"))
            rows = self._rows()
            self.write(number, {RULES: rows}, pa.concat_tables([bad, late]))
            crash_point("between sink and checkpoint", str(number))
            self._keep(number)
            crash_point("before the commit", str(number))
        finally:
            batch.unpersist()
        self._next = number + 1
        self._tell(number, count, bad.num_rows, late.num_rows, rows, begun)

    def _letters(self, batch: DataFrame) -> tuple[Any, Any]:
        """What is no fact, and the facts that are late."""
        is_bad = F.col("error").isNotNull()
        is_late = F.lit(False) if self._evaluated is None else F.col("t") <= self._evaluated
        found = batch.where(is_bad | is_late).toArrow()
        is_fact = pc.is_null(found["error"])
        letters = late_letters(found.filter(is_fact))
        return bad_letters(found.filter(pc.invert(is_fact))), letters

    def _push(self, facts: DataFrame) -> int:
        assert self._engine is not None
        over = self._evaluated
        spans = facts.groupBy("stream").agg(
            F.min("t").alias("first"), F.max("t").alias("last"), F.count("*").alias("count")
        )
        total = 0
        for stream, first, last, count in spans.collect():
            total += count
            self.progress.heard({stream: (count, last)})
            mine = facts.where(F.col("stream") == stream)
            if over is not None:
                mine = mine.where(F.col("t") > over)
            self._engine.push_frame(mine.select("s", "p", "o", "t"), TRIPLE, stream)
            self._time.happened(stream, first, last)
        return total

    def _rows(self) -> Any:
        """The rows of every tick that is due."""
        assert self._engine is not None
        tables = [ROWS.empty_table()]
        before = time.perf_counter()
        for tick in self._time.due():
            changes = self._engine.changes(tick).frames.get(TRIPLE)
            self._evaluated = tick
            if changes is not None:
                until = F.when(F.col("until") != FOREVER, F.col("until")).alias("until")
                told = changes.select(F.lit(tick).alias("t"), "op", "a0", "a1", "a2", until)
                tables.append(told.toDF(*ROWS.names).toArrow().cast(ROWS))
            if self._time.count_due and not (changes is not None and len(tables[-1])):
                # To ask takes less than another tick at which nothing changes.
                self._time.leap(self._engine.quiet_until(), least=1)
            self._tick_seconds.append(time.perf_counter() - before)
            before = time.perf_counter()
        return pa.concat_tables(tables)

    def _tell(self, number: int, facts: int, bad: int, late: int, rows: Any, begun: float) -> None:
        ticks = len(self._tick_seconds)
        self.progress.tick_milliseconds += [1000 * each for each in self._tick_seconds]
        self._tick_seconds.clear()
        self.tell(
            begun,
            {RULES: rows},
            batch=number,
            facts=facts,
            bad=bad,
            late=late,
            ticks=ticks,
            tick=self._evaluated if ticks else None,
            holding=0 if self._engine is None else self._engine.size(TRIPLE),
        )

    # ---- the state ---------------------------------------------------------------------------

    def _stand_before(self, number: int) -> None:
        if self._next is not None:
            assert self._next == number, f"batch {number} came when {self._next} was due"
            return
        self._time = Timeline(self.streams, **self.unit.ticking)
        self._engine = DataFrameEngine(
            self.spark, self.unit.program, self.unit.windows, self.unit.builtins
        )
        if number == 0:
            files = [str(file) for file in self.unit.background]
            if files:
                background = read_documents(self.spark, files).drop("g")
                self._engine.add_frame(background, TRIPLE)
        else:
            self._restore(self._folder(number - 1))
            self.say(f"going on with batch {number}")
        self._next = number

    def _folder(self, number: int) -> Path:
        return self.checkpoint.folder / "frames" / f"{number:08d}"

    def _last_kept(self) -> int:
        return max((number for number, _ in self._kept()), default=-1)

    def _kept(self) -> Iterator[tuple[int, Path]]:
        for folder in (self.checkpoint.folder / "frames").glob("[0-9]*"):
            if folder.suffix != ".tmp":
                yield int(folder.name), folder

    def _keep(self, number: int) -> None:
        assert self._engine is not None
        aside = self._folder(number).with_suffix(".tmp")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        tables = {}
        for place, (relation, whole, waiting) in enumerate(self._engine.state()):
            tables[place] = relation
            for name, frame in (("whole", whole), ("waiting", waiting)):
                if frame is not None:
                    frame.write.parquet(str(aside / f"{name}-{place}"))
            crash_point("half written", f"frames {number}")
        clock = {
            "time": self._time.state(),
            "evaluated": self._evaluated,
            "tables": tables,
            "files": _files(aside),
        }
        seal(aside / "clock", json.dumps(clock).encode())
        crash_point("written aside", f"frames {number}")
        shutil.rmtree(self._folder(number), ignore_errors=True)
        os.replace(aside, self._folder(number))
        for old, folder in list(self._kept()):
            if old < number - 1:
                shutil.rmtree(folder)

    def _restore(self, folder: Path) -> None:
        assert self._engine is not None
        clock = _read(folder)

        def table(name: str) -> DataFrame | None:
            path = folder / name
            return self.spark.read.parquet(str(path)) if path.exists() else None

        self._time.restore(clock["time"])
        self._evaluated = clock["evaluated"]
        state = [
            (relation, f"whole-{place}", f"waiting-{place}")
            for place, relation in clock["tables"].items()
        ]
        try:
            self._engine.resume(
                clock["evaluated"],
                [(relation, table(whole), table(waiting)) for relation, whole, waiting in state],
            )
        except PySparkException as error:
            # Spark has checksums of its own beside what it writes.
            why = str(error).splitlines()[0]
            raise CheckpointError(f"a table in {folder} is damaged: {why}") from None


def _files(folder: Path) -> dict[str, int]:
    """The files of the tables, and their sizes in bytes."""
    return {
        str(file.relative_to(folder)): file.stat().st_size for file in folder.glob("*/*.parquet")
    }


def _read(folder: Path) -> Any:
    """What is in the sealed file of a state, if all its tables are there."""
    try:
        clock = json.loads(unseal(folder / "clock"))
    except FileNotFoundError:
        raise CheckpointError(f"{folder / 'clock'} is missing") from None
    except Damaged as error:
        raise CheckpointError(str(error)) from None
    there = _files(folder)
    for file, size in clock["files"].items():
        if file not in there:
            raise CheckpointError(f"{folder / file} is missing")
        if there[file] != size:
            found = f"it has {there[file]} bytes instead of {size}"
            raise CheckpointError(f"{folder / file} is damaged: {found}")
    return clock
