"""Placement `driver`: executors parse, the units live in the driver process.

Each micro-batch comes over as Arrow columns, and a step of this goes with it:

    stand     before the first batch: the state before it, from the checkpoint
    feed      every unit takes the facts and gives the rows of the ticks that became due
    write     the sinks take the rows, the dead letters what is no fact
    keep      the batch goes into the checkpoint, now and then a snapshot after it

Then Spark commits the batch. Invariant: whatever was done of a batch that Spark has not committed
can be done again and comes out the same: the state is that before the batch, the units are
deterministic, and sinks and checkpoint put each batch's file into the place of the same file.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.pipeline.dead import DeadLetters, bad_letters, letters_of
from ebbtide.pipeline.errors import CheckpointError
from ebbtide.pipeline.packed import packed, unpacked
from ebbtide.pipeline.placements.placement import Placement
from ebbtide.pipeline.sinks.parcels import handing_over
from ebbtide.pipeline.sources.here import Home
from ebbtide.pipeline.units import Fed, Unit
from ebbtide.pipeline.units.unit import joined
from ebbtide.reasoner import SnapshotError
from ebbtide.terms.formats import TERM_COLUMNS
from ebbtide.testing.crash import crash_point

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

#: Where a fact came from is for dead letters, and is not kept.
PLACE_COLUMNS = ["source", "line"]
FACT_COLUMNS = ["stream", *PLACE_COLUMNS, "t", *TERM_COLUMNS]


@dataclass(kw_only=True)
class Driver(Placement):
    """Some units in this process."""

    takes_parcels: ClassVar[bool] = True
    units: Sequence[Unit]
    snapshot_every: int
    #: Where a few documents can be read and parsed here.
    homes: Sequence[Home] = ()
    _next: int | None = None

    def prepare(self, facts: DataFrame) -> DataFrame:
        """The facts as they are."""
        if self.checkpoint.states.last < 0:
            # What is wrong with the background is told before anything is read.
            self._stand_before(0)
        return facts

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        """Without the ways of foreachBatch."""
        return handing_over(rows, self.checkpoint.folder / "parcels", self.take_batch, self.homes)

    def take(self, number: int, table: Any, begun: float) -> None:
        """Reason over a batch: what `stages.parse` gives, with the names of streams."""
        self._stand_before(number)
        facts, bad = _parted(table)
        self.dead.allow(bad)
        batch = self._by_stream(facts)
        said = [(unit.title, unit.feed(batch)) for unit in self.units]
        fed, late = joined([each for _, each in said]), letters_of(batch, said)
        self.dead.allow(late)
        crash_point("reasoned", str(number))
        self.write(number, fed.rows, pa.concat_tables([bad, late]))
        crash_point("between sink and checkpoint", str(number))
        self.checkpoint.states.save_batch(number, packed(facts.drop_columns(PLACE_COLUMNS)))
        crash_point("between batch and snapshot", str(number))
        if (number + 1) % self.snapshot_every == 0:
            snapshots = [unit.snapshot() for unit in self.units]
            self.checkpoint.states.save_snapshot(number, msgspec.msgpack.encode(snapshots))
        crash_point("before the commit", str(number))
        self._next = number + 1
        self.progress.saw(facts)
        self._tell(number, facts.num_rows, bad.num_rows, late.num_rows, fed, begun)

    def end(self, query: StreamingQuery) -> None:
        """The streams have ended: stop, and evaluate the ticks that waited for later facts."""
        query.stop()
        self.finish()

    def finish(self) -> None:
        """Evaluate the ticks that waited for later facts.

        What this writes stands in for the next batch, which would replace it if the streams went
        on; the checkpoint does not know of it.
        """
        begun = time.perf_counter()
        self._stand_before(self.checkpoint.states.last + 1)
        assert self._next is not None
        fed = joined([unit.finish() for unit in self.units])
        self.write(self._next, fed.rows, self.dead.none)
        self._tell(self._next, 0, 0, 0, fed, begun)

    # ---- inside ------------------------------------------------------------------------------

    def _stand_before(self, number: int) -> None:
        """Let the unit be in the state before a batch."""
        if self._next == number:
            return
        self.checkpoint.states.check_next(number)
        assert self._next is None, f"batch {number} came when {self._next} was due"
        snapshot = self.checkpoint.states.snapshot_before(number)
        if snapshot is None:
            for unit in self.units:
                unit.begin()
        else:
            self._restore(msgspec.msgpack.decode(snapshot[1]))
        first = 0 if snapshot is None else snapshot[0] + 1
        if number:
            self.say(f"going on with batch {number}, {number - first} fed again")
        for content in self.checkpoint.states.batches(first, number):
            batch = self._by_stream(_from_nowhere(unpacked(content)))
            for unit in self.units:
                unit.feed(batch)
        self._next = number

    def _restore(self, snapshots: Sequence[bytes]) -> None:
        try:
            for unit, snapshot in zip(self.units, snapshots, strict=True):
                unit.restore(snapshot)
        except SnapshotError as error:
            raise CheckpointError(str(error)) from None

    def _by_stream(self, facts: Any) -> Mapping[str, Any]:
        if len(self.streams) == 1:
            return {self.streams[0]: facts}
        return {name: facts.filter(pc.equal(facts["stream"], name)) for name in self.streams}

    def _tell(self, number: int, facts: int, bad: int, late: int, fed: Fed, begun: float) -> None:
        for event in fed.events:
            self.say(event)
        self.progress.tick_milliseconds += [1000 * each for each in fed.tick_seconds]
        self.tell(
            begun,
            fed.rows,
            batch=number,
            facts=facts,
            bad=bad,
            late=late,
            ticks=len(fed.tick_seconds),
            tick=fed.last_tick,
            holding=sum(map(len, self.units)),
        )


def _from_nowhere(facts: Any) -> Any:
    """Facts of the checkpoint with the columns of places, which it does not keep."""
    for name, kind in zip(PLACE_COLUMNS, (pa.string(), pa.int32()), strict=True):
        facts = facts.append_column(name, pa.nulls(facts.num_rows, kind))
    return facts.select(FACT_COLUMNS)


def _parted(table: Any) -> tuple[Any, Any]:
    """The facts of a batch, and its dead letters."""
    if table["error"].null_count == table.num_rows:
        return table.select(FACT_COLUMNS), DeadLetters.none
    is_fact = pc.is_null(table["error"])
    facts = table.filter(is_fact).select(FACT_COLUMNS)
    return facts, bad_letters(table.filter(pc.invert(is_fact)))
