"""The ticks of one query: which is the next, and which was the last.

They are the points of its grids, or, without any, the instants at which facts happen on its
streams. A tick *sees* what happened up to `lag` before it.

    skip, begin ──► next ──► move_on ──► next ──► ...        jump: some are left out, return_to: not
                    last

Invariant: ticks ascend; `last` is None until the first one is over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ebbtide.queries.grid import Grid
from ebbtide.queries.instants import Instants
from ebbtide.terms import IRI
from ebbtide.time import Instant


class Ticks:
    """When a query that reads some streams is asked.

    >>> ticks = Ticks((Grid(10),), 0, (), {})
    >>> ticks.begin(13), ticks.next
    (True, 20)
    >>> ticks.move_on(20)
    >>> ticks.last, ticks.next, ticks.count_up_to(55)
    (20, 30, 3)
    """

    def __init__(
        self,
        grids: Sequence[Grid],
        lag: int,
        streams: Collection[IRI],
        instants: Mapping[IRI, Instants],
    ) -> None:
        self.next: Instant | None = None
        self.last: Instant | None = None
        self.lag = lag
        #: Whether the query answers whenever a fact happens.
        self.follows_facts = bool(streams) and not grids
        self._grids = grids
        self._streams = streams
        self._instants = instants

    @property
    def sight(self) -> Instant | None:
        """The last instant that the next tick sees."""
        return None if self.next is None else self.next - self.lag

    @property
    def awaits_facts(self) -> bool:
        """Whether a fact may change the next tick."""
        return self.last is None or self.follows_facts

    @property
    def longest_step(self) -> int:
        """How far ticks are apart at most; 0 if they follow facts."""
        return max((grid.step for grid in self._grids), default=0)

    # ---- the first ---------------------------------------------------------------------------

    def begin(self, at: Instant) -> bool:
        """Something happened: ticks reach back to it, unless under way. Whether they moved."""
        if self.follows_facts and self.last is not None and at <= self.last:
            return False
        found = self.first_that_sees(at)
        if self.last is None:
            # With t0 there are ticks from the beginning of time on.
            firsts = (each.first for each in self._grids if each.first is not None)
            found = min(firsts, default=found)
        if found is None or (self.next is not None and self.next <= found):
            return False
        self.next = found
        return True

    def begin_by(self, at: Instant) -> None:
        """A tick at or before an instant is wanted, even if nothing has happened yet."""
        if self.next is None and self.last is None and not self.follows_facts:
            if not self._grids:
                self.next = at
                return
            self.next = self._last_up_to(at)
            if self.next is None:
                self.next = self._after(at)

    def skip(self, up_to: Instant) -> None:
        """Ticks that see an instant at most are over."""
        self.move_on(up_to + self.lag)

    # ---- from one to the next ----------------------------------------------------------------

    def move_on(self, tick: Instant) -> None:
        """A tick is over."""
        self.last = tick
        if self.follows_facts:
            following = (self._instants[stream].after(tick) for stream in self._streams)
            self.next = min((each for each in following if each is not None), default=None)
        else:
            self.next = self._after(tick)

    def jump(self, quiet: Instant, due: Instant) -> bool:
        """Leave out ticks that see less than an instant, but for the last that is due.

        Whether there were any.
        """
        last, first = self._last_up_to(due), self._after(min(quiet, due) + self.lag - 1)
        if self.next is None or first is None or last is None or min(first, last) <= self.next:
            return False
        self.next = min(first, last)
        return True

    def return_to(self, at: Instant) -> bool:
        """Something is said of an instant that ticks were left out for. Whether one is back."""
        if self.next is None or self.last is None or self.follows_facts:
            return False
        found = self.first_that_sees(max(at, self.last - self.lag + 1))
        if found is None or found >= self.next:
            return False
        self.next = found
        return True

    # ---- which there are ---------------------------------------------------------------------

    def first_that_sees(self, at: Instant) -> Instant | None:
        """The first tick that sees what happened at an instant."""
        return at if self.follows_facts else self._after(at + self.lag - 1)

    def count_up_to(self, due: Instant) -> int:
        """How many ticks, at most, see instants up to this one and are to come."""
        if self.next is None:
            return 0
        spans = ((due + self.lag - self.next) // grid.step + 1 for grid in self._grids)
        return sum(span for span in spans if span > 0)

    def _after(self, instant: Instant) -> Instant | None:
        return min((grid.after(instant) for grid in self._grids), default=None)

    def _last_up_to(self, sight: Instant) -> Instant | None:
        """The last tick that sees at most an instant."""
        found = (grid.at_or_before(sight + self.lag) for grid in self._grids)
        return max((each for each in found if each is not None), default=None)
