"""A clock that moves only when it is told to."""

from __future__ import annotations

from ebbtide.time import Instant


class FakeClock:
    """Stands in for a clock of milliseconds: call it to read it.

    >>> clock = FakeClock(1000)
    >>> clock.advance(500)
    >>> clock()
    1500
    """

    def __init__(self, now: Instant = 0) -> None:
        self._now = now

    def __call__(self) -> Instant:
        """The present instant."""
        return self._now

    def advance(self, by: int) -> None:
        """Let time pass; it never goes back."""
        if by < 0:
            raise ValueError(f"time does not go back, but here by {-by}")
        self._now += by
