"""The instants at which facts happened on one stream, for whoever asks what a window holds.

Invariant: sorted, each once. Instants that no window can hold any more are let go by `forget`.
"""

from __future__ import annotations

from bisect import bisect_right, insort

from ebbtide.time import Instant


class Instants:
    """Instants, in order.

    >>> instants = Instants()
    >>> for at in (5, 9, 5):
    ...     instants.add(at)
    >>> instants.any_in(5, 9), instants.any_in(9, 20), instants.after(5)
    (True, False, 9)
    """

    def __init__(self) -> None:
        self._known: list[Instant] = []

    def add(self, at: Instant) -> None:
        """A fact happened."""
        if not self._known or at > self._known[-1]:
            self._known.append(at)
        elif at != self._known[bisect_right(self._known, at) - 1]:
            insort(self._known, at)

    def any_in(self, after: Instant, up_to: Instant) -> bool:
        """Whether anything happened in (after, up_to]."""
        found = self.after(after)
        return found is not None and found <= up_to

    def after(self, instant: Instant) -> Instant | None:
        """The first instant after another one."""
        place = bisect_right(self._known, instant)
        return self._known[place] if place < len(self._known) else None

    def forget(self, up_to: Instant) -> None:
        """Let go of all up to an instant, the last of them aside: a count window may hold it."""
        del self._known[: max(bisect_right(self._known, up_to) - 1, 0)]
