"""Placement `dataframe`: nothing leaves the executors but the answers.

Each batch stays a DataFrame; for every tick that becomes due, the maintenance program is run as
joins (`engines/dataframe`). The state after a batch is tables in the checkpoint:

    frames/00000012/clock.json             where time stands
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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.engines.dataframe import DataFrameEngine
from ebbtide.pipeline.dead import bad_letters, late_letters
from ebbtide.pipeline.errors import CheckpointError
from ebbtide.pipeline.file.load import RULES
from ebbtide.pipeline.placements.placement import Placement
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

    def take_frame(self, batch: DataFrame, number: int, begun: float) -> None:
        """Take a batch: unlike in the driver, it stays where it is."""
        self._stand_before(number)
        batch = batch.persist()
        try:
            bad = bad_letters(batch.where("error IS NOT NULL").toArrow())
            facts = batch.where("error IS NULL").drop("error")
            late = self._late(facts)
            for letters in (bad, late):
                self.dead.allow(letters)
            count = self._push(facts)
            rows = self._rows()
            self.write(number, {RULES: rows}, pa.concat_tables([bad, late]))
            crash_point("between sink and checkpoint", str(number))
            self._keep(number)
            crash_point("before the commit", str(number))
        finally:
            batch.unpersist()
        self._next = number + 1
        self._tell(number, count, bad.num_rows, late.num_rows, rows, begun)

    def _late(self, facts: DataFrame) -> Any:
        over = self._evaluated
        if over is None:
            return self.dead.none
        late = facts.where(F.col("t") <= over).toArrow()
        return late_letters({"": late}, {"": list(range(late.num_rows))})

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
        for tick in self._time.due():
            changes = self._engine.changes(tick).frames.get(TRIPLE)
            self._evaluated = tick
            if changes is not None:
                until = F.when(F.col("until") != FOREVER, F.col("until")).alias("until")
                told = changes.select(F.lit(tick).alias("t"), "op", "a0", "a1", "a2", until)
                tables.append(told.toDF(*ROWS.names).toArrow().cast(ROWS))
        return pa.concat_tables(tables)

    def _tell(self, number: int, facts: int, bad: int, late: int, rows: Any, begun: float) -> None:
        ticks = pa.compute.unique(rows["t"]).to_pylist()
        frame = None if self._engine is None else self._engine.frame(TRIPLE)
        self.tell(
            begun,
            {RULES: rows},
            batch=number,
            facts=facts,
            bad=bad,
            late=late,
            ticks=len(ticks),
            tick=max(ticks, default=None),
            holding=0 if frame is None else frame.count(),
        )

    # ---- the state ---------------------------------------------------------------------------

    def _stand_before(self, number: int) -> None:
        if self._next is not None:
            assert self._next == number, f"batch {number} came when {self._next} was due"
            return
        self._time = Timeline(self.streams, **self.unit.ticking)
        self._engine = DataFrameEngine(self.spark, self.unit.program, self.unit.windows)
        if number == 0:
            background = self.unit.background_table()
            if background.num_rows:
                self._engine.add_frame(self.spark.createDataFrame(background), TRIPLE)
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
        clock = {"time": self._time.state(), "evaluated": self._evaluated, "tables": tables}
        (aside / "clock.json").write_text(json.dumps(clock))
        shutil.rmtree(self._folder(number), ignore_errors=True)
        os.replace(aside, self._folder(number))
        for old, folder in list(self._kept()):
            if old < number - 1:
                shutil.rmtree(folder)

    def _restore(self, folder: Path) -> None:
        assert self._engine is not None
        try:
            clock = json.loads((folder / "clock.json").read_bytes())
        except (OSError, ValueError):
            raise CheckpointError(f"{folder} is missing or damaged") from None

        def table(name: str) -> DataFrame | None:
            path = folder / name
            return self.spark.read.parquet(str(path)) if path.exists() else None

        self._time.restore(clock["time"])
        self._evaluated = clock["evaluated"]
        self._engine.resume(
            clock["evaluated"],
            [
                (relation, table(f"whole-{place}"), table(f"waiting-{place}"))
                for place, relation in clock["tables"].items()
            ],
        )
