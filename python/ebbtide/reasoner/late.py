"""Facts that came too late: counted for ever, kept until somebody takes them.

Invariant: memory is bounded. Of late facts that nobody takes only the newest are kept, and the
first time one is dropped a warning says so; the count always tells how many there were.
"""

from __future__ import annotations

import warnings
from collections import deque
from typing import Final, NamedTuple

from ebbtide.program import Fact
from ebbtide.time import Instant

KEPT: Final = 10_000


class Late(NamedTuple):
    """A fact, or a retraction, that was not taken, and why."""

    fact: Fact
    at: Instant
    stream: str | None
    reason: str


class LateBox:
    """The late facts of one reasoner.

    >>> box = LateBox()
    >>> box.put(Late(Fact.of("p"), 5, "default", "tick 10 is over"))
    >>> box.count, len(box.take()), box.take()
    (1, 1, [])
    """

    def __init__(self) -> None:
        self.count = 0
        self._waiting: deque[Late] = deque(maxlen=KEPT)
        self._warned = False

    def put(self, late: Late) -> None:
        """Count and keep a late fact."""
        self.count += 1
        if len(self._waiting) == KEPT and not self._warned:
            self._warned = True
            warnings.warn(
                f"more than {KEPT} late facts wait for take_late(); the oldest are dropped",
                RuntimeWarning,
                stacklevel=2,
            )
        self._waiting.append(late)

    def take(self) -> list[Late]:
        """The waiting facts, oldest first; they no longer wait."""
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    def waiting(self) -> list[Late]:
        """The waiting facts, oldest first; they go on waiting."""
        return list(self._waiting)
