"""The instants at which a query answers, and at which a window closes.

A grid is the instants anchor + k * step, from `first` on if there is a first one. A query's ticks
are those of one or several grids, or the instants at which facts happen.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.time import Instant


@dataclass(frozen=True, slots=True)
class Grid:
    """Instants `step` apart.

    >>> grid = Grid(step=10, anchor=3, first=23)
    >>> grid.after(0), grid.after(23), grid.at_or_before(32), grid.at_or_before(22)
    (23, 33, 23, None)
    """

    step: int
    anchor: Instant = 0
    first: Instant | None = None

    def after(self, instant: Instant) -> Instant:
        """The first point after an instant."""
        point = instant - (instant - self.anchor) % self.step + self.step
        return point if self.first is None else max(point, self.first)

    def at_or_after(self, instant: Instant) -> Instant:
        """The first point at or after an instant, though there was a first one."""
        return instant + (self.anchor - instant) % self.step

    def at_or_before(self, instant: Instant) -> Instant | None:
        """The last point at or before an instant, if there is one."""
        point = instant - (instant - self.anchor) % self.step
        return None if self.first is not None and point < self.first else point

    def covers(self, other: Grid) -> bool:
        """Whether every point of another grid is one of this one, first points aside."""
        return other.step % self.step == 0 and (other.anchor - self.anchor) % self.step == 0
