"""Watermarks and the tick grid: which ticks are complete, each handed out once and in order.

The watermark of a stream is its last complete instant:

    the greatest event time or heartbeat seen - lateness - 1

The - 1 is there because several facts may share an instant: when the first of them arrives, the
others may still be on their way, in the next batch. Without it the answers would depend on where a
batch ends. The watermark of a reasoner is the minimum over its streams.

Ticks are the grid points start + k * step. The first one is `start` if it was given; otherwise
the grid is anchored at 0 and begins with the first grid point at or after the earliest event.

    #  step 10, lateness 0       tick 10          tick 20          tick 30
    #  ───────────┬────────────────┼────────────────┼────────────────┼──►
    #           t=7: first event   │                │   t=25: watermark 24
    #                              due              due              not yet

Invariant: a tick is due as soon as it is at or below the watermark, whether or not anybody asks; so
which ticks come, and what is late, depends on the order of arrival and never on the batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from ebbtide.time.instant import EARLIEST, Instant
from ebbtide.time.window import WindowError


class Watermark:
    """The last complete instant of one stream.

    >>> watermark = Watermark(lateness=5)
    >>> watermark.see(20)
    >>> watermark.see(18)
    >>> watermark.instant
    14
    """

    def __init__(self, lateness: int = 0) -> None:
        if not isinstance(lateness, int):
            raise WindowError(f"the lateness must be a whole number, but is {lateness!r}")
        if lateness < 0:
            raise WindowError(f"the lateness must not be negative, but is {lateness}")
        self.lateness = lateness
        self.seen: Instant | None = None

    def see(self, at: Instant) -> None:
        """An event or a heartbeat at `at` arrived."""
        if self.seen is None or at > self.seen:
            self.seen = at

    def complete(self, at: Instant) -> None:
        """Nothing at or before `at` will come any more: the watermark is `at` or later."""
        self.see(at + self.lateness + 1)

    @property
    def instant(self) -> Instant:
        """No fact at or before it is still to come; `EARLIEST` while nothing was seen."""
        return EARLIEST if self.seen is None else max(EARLIEST, self.seen - self.lateness - 1)


class TicksState(TypedDict):
    """What a snapshot keeps of `Ticks`."""

    next: Instant | None
    last: Instant | None


class Ticks:
    """The ticks of one reasoner.

    >>> ticks = Ticks(step=10)
    >>> ticks.begin(7)
    >>> list(ticks.due(24)), list(ticks.due(24)), list(ticks.due(30))
    ([10, 20], [], [30])
    """

    def __init__(self, step: int, start: Instant | None = None) -> None:
        if not isinstance(step, int):
            raise WindowError(f"the step must be a whole number, but is {step!r}")
        if step <= 0:
            raise WindowError(f"the step must be positive, but is {step}")
        self.step = step
        self._start = start
        self._anchor = 0 if start is None else start
        self._next: Instant | None = start
        self._last: Instant | None = None

    def begin(self, at: Instant) -> None:
        """An event at `at` arrived: the grid reaches back to it, unless it is under way."""
        if self._start is None and self._last is None:
            tick = self.at_or_after(at)
            self._next = tick if self._next is None else min(self._next, tick)

    def begin_by(self, at: Instant) -> None:
        """A tick at or before `at` is wanted, even if nothing has happened yet."""
        if self._next is None:
            self._next = self.at_or_before(at)

    def due(self, watermark: Instant) -> Iterator[Instant]:
        """Every tick at or below the watermark that was not handed out yet, lazily, in order."""
        while self._next is not None and self._next <= watermark:
            self._last, self._next = self._next, self._next + self.step
            yield self._last

    def skip(self, to: Instant) -> None:
        """The ticks before `to`, which is one, were handed out in another way."""
        self._last, self._next = to - self.step, to

    @property
    def next(self) -> Instant | None:
        """The tick that comes next, as far as it is known."""
        return self._next

    def count_due(self, watermark: Instant) -> int:
        """How many ticks `due` would hand out."""
        if self._next is None or self._next > watermark:
            return 0
        return (watermark - self._next) // self.step + 1

    def last_due(self, watermark: Instant) -> Instant | None:
        """The last tick at or below the watermark, handed out or not: what it has seen is late."""
        if self.count_due(watermark):
            return self.at_or_before(watermark)
        return self._last

    def at_or_after(self, at: Instant) -> Instant:
        """The first tick at or after an instant."""
        tick = self._anchor - (self._anchor - at) // self.step * self.step
        return tick if self._start is None else max(tick, self._start)

    def at_or_before(self, at: Instant) -> Instant:
        """The last grid point at or before an instant."""
        return self._anchor + (at - self._anchor) // self.step * self.step

    def state(self) -> TicksState:
        """What a snapshot keeps."""
        return {"next": self._next, "last": self._last}

    def restore(self, state: TicksState) -> None:
        """Go on from a snapshot."""
        self._next, self._last = state["next"], state["last"]
