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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import DeadLetters, bad_letters, late_letters
from ebbtide.pipeline.errors import CheckpointError
from ebbtide.pipeline.packed import packed, unpacked
from ebbtide.pipeline.progress import BatchProgress, Progress
from ebbtide.pipeline.sinks import Sink
from ebbtide.pipeline.units import Fed, Unit
from ebbtide.reasoner import SnapshotError
from ebbtide.terms.formats import TERM_COLUMNS
from ebbtide.testing.crash import crash_point

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FACT_COLUMNS = ["stream", "source", "t", *TERM_COLUMNS]


class Stopped(Exception):
    """A batch came after the stop: it is left for the next run."""


@dataclass
class Driver:
    """One unit and its sinks, fed by micro-batches."""

    unit: Unit
    streams: Sequence[str]
    sinks: Sequence[Sink]
    dead: DeadLetters
    checkpoint: Checkpoint
    snapshot_every: int
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        self.progress = Progress()
        self.error: BaseException | None = None
        self.stopping = False
        self._next: int | None = None

    def take_batch(self, batch: DataFrame, number: int) -> None:
        """What Spark calls for every micro-batch."""
        try:
            if self.stopping:
                raise Stopped
            begun = time.perf_counter()
            self.take(number, batch.toArrow(), begun)
        except BaseException as error:
            # Spark knows how to tell that something failed, not what.
            self.error = error
            raise

    def take(self, number: int, table: Any, begun: float) -> None:
        """Reason over a batch: a table of what `stages.parse` gives, with the stream's name."""
        self._stand_before(number)
        facts, bad = _parted(table)
        self.dead.allow(bad)
        fed = self.unit.feed(self._by_stream(facts))
        late = late_letters(self._by_stream(facts), fed.late)
        self.dead.allow(late)
        crash_point("reasoned", str(number))
        self._write(number, fed, pa.concat_tables([bad, late]))
        crash_point("between sink and checkpoint", str(number))
        self.checkpoint.save_batch(number, packed(facts.drop_columns(["source"])))
        crash_point("between batch and snapshot", str(number))
        if (number + 1) % self.snapshot_every == 0:
            self.checkpoint.save_snapshot(number, self.unit.snapshot())
        crash_point("before the commit", str(number))
        self._next = number + 1
        self._tell(number, facts.num_rows, bad.num_rows, late.num_rows, fed, begun)

    def finish(self) -> None:
        """The streams have ended: evaluate the ticks that waited for later facts.

        What this writes stands in for the next batch, which would replace it if the streams went
        on; the checkpoint does not know of it.
        """
        begun = time.perf_counter()
        self._stand_before(self.checkpoint.last + 1)
        assert self._next is not None
        fed = self.unit.finish()
        self._write(self._next, fed, self.dead.none)
        self._tell(self._next, 0, 0, 0, fed, begun)

    # ---- inside ------------------------------------------------------------------------------

    def _stand_before(self, number: int) -> None:
        """Let the unit be in the state before a batch."""
        if self._next is not None:
            assert self._next == number, f"batch {number} came when {self._next} was due"
            return
        self.checkpoint.check_next(number)
        snapshot = self.checkpoint.snapshot_before(number)
        if snapshot is None:
            self.unit.begin()
        else:
            try:
                self.unit.restore(snapshot[1])
            except SnapshotError as error:
                raise CheckpointError(str(error)) from None
        first = 0 if snapshot is None else snapshot[0] + 1
        if number:
            self.say(f"going on with batch {number}, {number - first} fed again")
        for content in self.checkpoint.batches(first, number):
            self.unit.feed(self._by_stream(unpacked(content)))
        self._next = number

    def _by_stream(self, facts: Any) -> Mapping[str, Any]:
        if len(self.streams) == 1:
            return {self.streams[0]: facts}
        return {name: facts.filter(pc.equal(facts["stream"], name)) for name in self.streams}

    def _write(self, number: int, fed: Fed, dead: Any) -> None:
        for sink in self.sinks:
            sink.write(number, fed.rows)
        self.dead.write(number, dead)

    def _tell(self, number: int, facts: int, bad: int, late: int, fed: Fed, begun: float) -> None:
        counts = {
            each["values"]: each["counts"] for each in pc.value_counts(fed.rows["op"]).to_pylist()
        }
        batch = BatchProgress(
            batch=number,
            facts=facts,
            bad=bad,
            late=late,
            ticks=len(fed.tick_seconds),
            tick=fed.last_tick,
            entered=counts.get("+", 0),
            left=counts.get("-", 0),
            holding=len(self.unit),
            milliseconds=1000 * (time.perf_counter() - begun),
        )
        self.progress.add(batch)
        self.progress.tick_milliseconds += [1000 * each for each in fed.tick_seconds]
        for event in fed.events:
            self.say(event)
        self.say(str(batch))


def _parted(table: Any) -> tuple[Any, Any]:
    """The facts of a batch, and its dead letters."""
    is_fact = pc.is_null(table["error"])
    facts = table.filter(is_fact).select(FACT_COLUMNS)
    return facts, bad_letters(table.filter(pc.invert(is_fact)))
