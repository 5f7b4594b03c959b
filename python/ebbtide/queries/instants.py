"""The instants at which facts happened on one stream, for whoever asks what a window holds.

They are kept as long as a window of a reader may hold them, whether or not somebody asks: a query
that is registered later may. Those of tables wait as columns until then, so that they cost little.

Invariant: `_known` is sorted, each once. Instants that no window can hold any more are let go by
`forget`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right, insort
from typing import TYPE_CHECKING

from ebbtide.time import Instant

if TYPE_CHECKING:
    import pyarrow


class Instants:
    """Instants, in order.

    >>> instants = Instants()
    >>> for at in (5, 9, 5):
    ...     instants.add(at)
    >>> instants.any_in(5, 9), instants.any_in(9, 20), instants.after(5)
    (True, False, 9)
    """

    def __init__(self) -> None:
        self._known: array[int] = array("q")
        #: Columns that nobody asked for yet, each with its last instant.
        self._columns: list[tuple[Instant, pyarrow.Array]] = []

    def add(self, at: Instant) -> None:
        """A fact happened."""
        if not self._known or at > self._known[-1]:
            self._known.append(at)
        elif at != self._known[bisect_right(self._known, at) - 1]:
            insort(self._known, at)

    def add_column(self, column: pyarrow.Array, last: Instant) -> None:
        """The facts of a table happened, the last of them at an instant."""
        self._columns.append((last, column.unique()))

    def any_in(self, after: Instant, up_to: Instant) -> bool:
        """Whether anything happened in (after, up_to]."""
        found = self.after(after)
        return found is not None and found <= up_to

    def after(self, instant: Instant) -> Instant | None:
        """The first instant after another one."""
        for _, column in self._columns:
            for at in sorted(column.to_pylist()):
                self.add(at)
        self._columns.clear()
        place = bisect_right(self._known, instant)
        return self._known[place] if place < len(self._known) else None

    def forget(self, up_to: Instant) -> None:
        """Let go of all up to an instant, the last of them aside: a count window may hold it."""
        over = [last for last, _ in self._columns if last <= up_to]
        self._columns = [each for each in self._columns if each[0] > up_to]
        if over:
            self.add(max(over))
        del self._known[: max(bisect_right(self._known, up_to) - 1, 0)]
