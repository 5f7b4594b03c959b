"""Windows: which facts are in sight at a tick.

A time window turns the instant of an event into the `until` of its fact; nothing else about it
reaches an engine. A count window cannot know `until` beforehand: its facts hold until newer ones
push them out, and for as long as they are in the window their `until` is `FOREVER`. Nor can a
session: each event that continues it renews all of them.

    #                      tick t
    # Sliding(w)      (t-w------t]      until = at + w
    # Tumbling(w)      (k*w----t]       until = end of the pane + 1
    # Landmark(s)   [s----------t]      until = FOREVER
    # Count(n)         the last n       until = FOREVER, while in the window
    # Session(g)    the run up to t     until = its last event + g, as long as it goes on
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.time.instant import FOREVER, Instant


class WindowError(ValueError):
    """A window that cannot be."""


def _positive(name: str, value: int) -> None:
    _whole(name, value)
    if value <= 0:
        raise WindowError(f"the {name} of a window must be positive, not {value}")


def _whole(name: str, value: object) -> None:
    if not isinstance(value, int):
        raise WindowError(f"the {name} of a window must be a whole number, not {value!r}")


@dataclass(frozen=True, slots=True)
class Sliding:
    """Facts with an event time in (t - range, t].

    >>> Sliding(range=10).until(1)
    11
    """

    range: int

    def __post_init__(self) -> None:
        _positive("range", self.range)

    def until(self, at: Instant) -> Instant | None:
        """When a fact that happens at `at` leaves."""
        return min(at + self.range, FOREVER - 1)


@dataclass(frozen=True, slots=True)
class Tumbling:
    """Facts of the pane (k * width, (k + 1) * width] + origin that t falls in.

    >>> Tumbling(width=10).until(1), Tumbling(width=10).until(10), Tumbling(width=10).until(11)
    (11, 11, 21)
    """

    width: int
    origin: Instant = 0

    def __post_init__(self) -> None:
        _positive("width", self.width)
        _whole("origin", self.origin)

    def until(self, at: Instant) -> Instant | None:
        """When a fact that happens at `at` leaves."""
        pane = -((self.origin - at) // self.width)
        return min(self.origin + pane * self.width + 1, FOREVER - 1)


@dataclass(frozen=True, slots=True)
class Landmark:
    """Facts with an event time of `start` or later; earlier ones are outside.

    >>> Landmark(start=5).until(4) is None
    True
    """

    start: Instant

    def __post_init__(self) -> None:
        _whole("start", self.start)

    def until(self, at: Instant) -> Instant | None:
        """FOREVER, or None for a fact outside the window."""
        return FOREVER if at >= self.start else None


@dataclass(frozen=True, slots=True)
class Count:
    """The last `size` facts of the stream, or of each group of equal terms at `group`.

    Facts are ordered by event time, then by relation and the texts of their terms. The same fact
    at two instants counts twice; at one instant, once. `group` names argument positions.
    """

    size: int
    group: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _positive("size", self.size)


@dataclass(frozen=True, slots=True)
class Session:
    """The run of events up to t in which each came less than `gap` after the one before it.

    The run is of the stream, or of each group of equal terms at `group`, as in a `Count`. It is
    over when `gap` has passed since its last event, and then all of its facts leave at once.

    >>> Session(gap=10)  # events at 1, 9 and 20: the first two hold until 19, the third until 30
    Session(gap=10, group=())
    """

    gap: int
    group: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _positive("gap", self.gap)


#: The windows that know `until` beforehand.
TimeWindow: TypeAlias = Sliding | Tumbling | Landmark
Window: TypeAlias = TimeWindow | Count | Session


def as_window(value: object) -> Window:
    """The value, if it is a window.

    >>> as_window(10)
    Traceback (most recent call last):
    ebbtide.time.window.WindowError: not a window, such as Sliding(10000) or Count(5): 10
    """
    if isinstance(value, Sliding | Tumbling | Landmark | Count | Session):
        return value
    raise WindowError(f"not a window, such as Sliding(10000) or Count(5): {value!r}")
