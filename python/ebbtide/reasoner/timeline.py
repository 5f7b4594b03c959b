"""The time of a reasoner: a watermark for each stream, and the grid of its ticks.

What happened is told (`happened`, `changed`, `heartbeat`, `complete`); which ticks are due follows.

Invariant: a fact is late exactly when a tick at or after it was already due when it arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ebbtide.time import Instant, Ticks, Watermark

#: So many ticks at once are rather a mistake than a wish.
MANY_TICKS: Final = 100_000
#: Fewer ticks at which nothing changes are evaluated sooner than anybody would miss them.
LONG_QUIET: Final = 1_000


class Timeline:
    """Which instants are complete, and which ticks are due.

    >>> time = Timeline(["trains", "people"], step=10, start=None, lateness=0)
    >>> time.happened("trains", 7, 25)
    >>> list(time.due())
    []
    >>> time.heartbeat(21, "people")
    >>> list(time.due()), time.last_due
    ([10, 20], 20)
    """

    def __init__(
        self, streams: Iterable[str], *, step: int, start: Instant | None, lateness: int
    ) -> None:
        self._ticks = Ticks(step, start)
        self._watermarks = {name: Watermark(lateness) for name in streams}
        self._latest: Instant | None = None

    @property
    def watermark(self) -> Instant:
        """The last complete instant: the minimum over the streams."""
        return min(watermark.instant for watermark in self._watermarks.values())

    def check(self, stream: str) -> None:
        """Refuse a stream that there is not."""
        if stream not in self._watermarks:
            known = ", ".join(sorted(self._watermarks))
            raise ValueError(f"there is no stream {stream!r}; there are {known}")

    # ---- what is told ------------------------------------------------------------------------

    def happened(self, stream: str, first: Instant, last: Instant) -> None:
        """Facts from `first` to `last` were taken on a stream."""
        self._watermarks[stream].see(last)
        self._ticks.begin(first)
        self.changed(last)

    def changed(self, at: Instant) -> None:
        """A tick at or after `at` has something to see."""
        self._latest = at if self._latest is None else max(self._latest, at)

    def heartbeat(self, at: Instant, stream: str | None) -> None:
        """Time has reached `at` on a stream, or on all."""
        if stream is not None:
            self.check(stream)
        for name in self._watermarks if stream is None else [stream]:
            self._watermarks[name].see(at)

    def complete(self, to: Instant) -> None:
        """Nothing at or before `to` is still to come, on any stream, and a tick is wanted there."""
        for watermark in self._watermarks.values():
            watermark.complete(to)
        self._ticks.begin_by(to)

    # ---- ticks -------------------------------------------------------------------------------

    def due(self) -> Iterator[Instant]:
        """Every tick that is due and was not handed out yet, lazily, in order."""
        return self._ticks.due(self.watermark)

    def skip(self, to: Instant) -> None:
        """The ticks before `to`, which is one, were handed out in another way."""
        self._ticks.skip(to)

    def leap(self, quiet: Instant, least: int = LONG_QUIET) -> None:
        """No tick before `quiet` changes anything: leave those out, if they are so many.

        The last tick that is due is not left out, so that time stands where it would.

        >>> time = Timeline(["trains"], step=10, start=None, lateness=0)
        >>> time.happened("trains", 7, 1_000_000)
        >>> due = time.due()
        >>> first = next(due)
        >>> time.leap(999_975)
        >>> first, list(due)
        (10, [999980, 999990])
        """
        last = self.last_due
        if self.next is None or last is None:
            return
        to = last if quiet > last else self._ticks.at_or_after(quiet)
        if to - self.next >= least * self._ticks.step:
            self._ticks.skip(to)

    @property
    def next(self) -> Instant | None:
        """The tick that comes next, as far as it is known."""
        return self._ticks.next

    @property
    def count_due(self) -> int:
        """How many ticks `due` would hand out."""
        return self._ticks.count_due(self.watermark)

    @property
    def last_due(self) -> Instant | None:
        """The last tick that is due, handed out or not: what happened by then is late."""
        return self._ticks.last_due(self.watermark)

    @property
    def has_begun(self) -> bool:
        """Whether a tick was handed out."""
        return self._ticks.state()["last"] is not None

    @property
    def has_happened(self) -> bool:
        """Whether anything happened."""
        return self._latest is not None

    @property
    def end(self) -> Instant:
        """The first tick that sees all that happened."""
        return self._ticks.at_or_after(self._latest or 0)

    # ---- snapshots ---------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What a snapshot keeps."""
        seen = {name: watermark.seen for name, watermark in self._watermarks.items()}
        return {"ticks": self._ticks.state(), "seen": seen, "latest": self._latest}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a snapshot."""
        self._ticks.restore(state["ticks"])
        for name, seen in state["seen"].items():
            self._watermarks[name].seen = seen
        self._latest = state["latest"]
