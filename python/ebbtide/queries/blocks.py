"""A count window that moves by several facts at a time: [TRIPLES 10 STEP 5].

Facts are taken in order of their instants and texts. They wait until `step` of them are there; then
the window moves on and holds the last `size` of all that it took in:

    #  size 4, step 2     a b | c d | e f         after f: c d e f
    #  waiting            a, then c, then e       between two steps it is as it was

A retraction takes its fact out, of the window and of what waits, at its instant. What was pushed
out does not come back.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from ebbtide.program import Fact
from ebbtide.time import LATEST, Instant


class Blocks:
    """One such window.

    >>> a, b, c = (Fact.of("p", f"<http://e/{name}>") for name in "abc")
    >>> blocks = Blocks(size=2, step=2)
    >>> for at, fact in enumerate((a, b, c)):
    ...     blocks.push(fact, at)
    >>> blocks.advance(0)
    (set(), set())
    >>> blocks.advance(2)[0] == {a, b}, blocks.moves
    (True, 1)
    """

    def __init__(self, size: int, step: int) -> None:
        #: How often what it holds became another.
        self.moves = 0
        self._size = size
        self._step = step
        #: What happens: when, whether it is a retraction, and the fact with its text.
        self._said: list[tuple[Instant, bool, str, Fact]] = []
        self._waiting: list[tuple[Fact, Instant]] = []
        self._window: list[tuple[Fact, Instant]] = []
        self._shown: set[Fact] = set()

    @property
    def first(self) -> Instant:
        """When the first thing happens that was not taken in yet; `LATEST` if nothing does."""
        return self._said[0][0] if self._said else LATEST

    @property
    def held(self) -> Sequence[tuple[Fact, Instant]]:
        """What it held when it was asked to advance last, and when that happened."""
        return self._window

    def push(self, fact: Fact, at: Instant) -> None:
        """A fact happens. The same one at the same instant counts once."""
        self._say((at, False, str(fact), fact))

    def retract(self, fact: Fact, at: Instant) -> None:
        """A fact is taken back."""
        self._say((at, True, str(fact), fact))

    def _say(self, event: tuple[Instant, bool, str, Fact]) -> None:
        place = bisect_left(self._said, event)
        if place == len(self._said) or self._said[place] != event:
            insort(self._said, event)

    def advance(self, tick: Instant) -> tuple[set[Fact], set[Fact]]:
        """Take in what happened up to a tick: the facts that came into the window, and went."""
        due = bisect_left(self._said, (tick + 1,))
        for at, is_taken_back, _, fact in self._said[:due]:
            if is_taken_back:
                self.moves += any(fact == other for other, _ in self._window)
                self._waiting = [other for other in self._waiting if other[0] != fact]
                self._window = [other for other in self._window if other[0] != fact]
                continue
            self._waiting.append((fact, at))
            if len(self._waiting) == self._step:
                self._window = [*self._window, *self._waiting][-self._size :]
                self._waiting = []
                self.moves += 1
        del self._said[:due]
        before, self._shown = self._shown, {fact for fact, _ in self._window}
        return self._shown - before, before - self._shown
