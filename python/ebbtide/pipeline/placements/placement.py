"""What every placement does with a micro-batch: take it, write what comes of it, tell about it.

    facts ─► prepare ─► writer ─► take_batch ─► sinks, dead letters

`prepare` is what Spark does with the facts beforehand: nothing for the driver, all of the reasoning
for shards.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow.compute as pc

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import DeadLetters
from ebbtide.pipeline.file.meaning import RULES
from ebbtide.pipeline.progress import BatchProgress, Progress
from ebbtide.pipeline.sinks import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class Stopped(Exception):
    """What came after the stop: it is left for the next run."""


@dataclass
class Stop:
    """Whether a run was told to stop, and what it still takes then: the batch in hand.

    That is the one after the last that was finished: Spark may be reading or parsing it.

    >>> stop = Stop(finished=6)
    >>> stop.tell()
    >>> stop.admits(7), stop.admits(8)
    (True, False)
    """

    told: bool = False
    #: What is waited for then.
    once: str = "Spark has started"
    #: The last batch of this run that was.
    finished: int | None = None
    _last: int | None = None

    def tell(self) -> None:
        """Take the batch in hand, and no other."""
        self.told = True
        if self._last is None and self.finished is not None:
            self._last = self.finished + 1

    def admits(self, number: int) -> bool:
        """Whether a batch is still taken."""
        if not self.told:
            return True
        if self._last is None:
            self._last = number
        return number <= self._last


@dataclass(kw_only=True)
class Placement(ABC):
    """Where the units are, and the sinks of their rows, by name."""

    streams: Sequence[str]
    sinks: Sequence[tuple[str, Sink]]
    dead: DeadLetters
    checkpoint: Checkpoint
    say: Callable[[str], None]
    #: Whether facts come in parcels (`stages.parcels`) instead of rows.
    takes_parcels: ClassVar[bool] = False
    progress: Progress = field(default_factory=Progress)
    error: BaseException | None = None
    stop: Stop = field(default_factory=Stop)

    @abstractmethod
    def prepare(self, facts: DataFrame) -> DataFrame:
        """What is to be handed to `take_batch`, made of what `stages.parse` gives."""

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        """What hands every micro-batch of prepared rows to `take_batch`."""
        return rows.writeStream.foreachBatch(self.take_batch)

    @abstractmethod
    def take(self, number: int, batch: Any, begun: float) -> None:
        """Do what is to be done with a batch: a DataFrame, or what the writer hands over."""

    @abstractmethod
    def end(self, query: StreamingQuery) -> None:
        """The streams have ended, and everything was read: evaluate the ticks that waited."""

    def take_batch(self, batch: Any, number: int) -> None:
        """What the writer calls for every micro-batch."""
        try:
            if not self.stop.admits(number):
                raise Stopped
            self.take(number, batch, time.perf_counter())
            self.stop.finished = number
        except BaseException as error:
            # Spark knows how to tell that something failed, not what.
            self.error = error
            raise

    def write(self, number: int, rows: Mapping[str, Any], letters: Any) -> None:
        """Hand the rows of a batch to the sinks."""
        for name, sink in self.sinks:
            sink.write(number, rows[name])
        self.dead.write(number, letters)

    def tell(self, begun: float, rows: Mapping[str, Any], **known: Any) -> None:
        """Count a batch, and say a line about it."""
        told = rows.get(RULES)
        counts = [] if told is None else pc.value_counts(told["op"]).to_pylist()
        changes = {each["values"]: each["counts"] for each in counts}
        batch = BatchProgress(
            entered=changes.get("+", 0),
            left=changes.get("-", 0),
            answers=sum(len(each) for name, each in rows.items() if name != RULES),
            milliseconds=1000 * (time.perf_counter() - begun),
            **known,
        )
        self.progress.add(batch)
        self.progress.told(rows)
        self.say(str(batch))
