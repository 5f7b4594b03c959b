"""What the windows of a query held when it was asked last: report policies decide by that.

Content is timed facts: the same fact at another instant is a change. What was retracted counts, and
so does its retraction.

Invariant: `_looked_at` has, of each window that has closed, the last instant that was seen of it,
or how often it has moved if it does so by several facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ebbtide.languages.rspql import CountWindow, StreamWindow, TimeWindow
from ebbtide.queries.grid import Grid
from ebbtide.queries.instants import Instants
from ebbtide.queries.report import Report
from ebbtide.terms import IRI
from ebbtide.time import EARLIEST, LATEST, Instant


class Contents:
    """The windows of one query, as its report policy sees them."""

    def __init__(
        self,
        report: Report,
        windows: Sequence[StreamWindow],
        closes: Mapping[StreamWindow, Grid | None],
        instants: Mapping[IRI, Instants],
        lag: int,
    ) -> None:
        self._report = report
        self._windows = windows
        self._closes = closes
        self._instants = instants
        self._lag = lag
        self._looked_at: dict[StreamWindow, Instant] = {}

    def report(self, tick: Instant, moves_of: Callable[[StreamWindow], int]) -> bool:
        """Look at the windows at a tick: whether there is something to report.

        `moves_of` says how often a window has moved that does so by several facts.
        """
        if not self._report.looks_at_content:
            return True
        changed = holds = False
        for window in self._windows:
            before = self._looked_at.get(window)
            if moves_by_several(window):
                seen = moves_of(window)
                changed = changed or seen != before
                holds = holds or seen > 0
            else:
                closes = self._closes[window]
                close = tick if closes is None else closes.at_or_before(tick)
                if close is None:
                    continue
                seen = close - self._lag
                instants = self._instants[window.stream]
                changed = changed or _has_changed(window, instants, before, seen)
                holds = holds or _holds_anything(window, instants, seen)
            self._looked_at[window] = seen
        return (changed or not self._report.on_change) and (holds or not self._report.non_empty)

    def rest(self) -> None:
        """A tick goes by that is not looked at: whatever the next one holds is other content."""
        self._looked_at.clear()

    def silent_until(self) -> Instant | None:
        """Before this there is nothing to report, unless something happens; None: who knows."""
        if not self._windows or not all(
            window in self._looked_at and not moves_by_several(window) for window in self._windows
        ):
            return None
        seen = [(each, self._instants[each.stream], at) for each, at in self._looked_at.items()]
        found = []
        if self._report.on_change:
            found.append(min(_changes_next(*each) for each in seen))
        if self._report.non_empty and not any(_holds_anything(*each) for each in seen):
            # What is empty changes when something happens.
            found.append(min(_changes_next(*each) for each in seen))
        return max(found, default=None)


def moves_by_several(window: StreamWindow) -> bool:
    """Whether it is a count window that takes in several facts at a time."""
    return isinstance(window.window, CountWindow) and window.window.step > 1


def _changes_next(window: StreamWindow, instants: Instants, seen: Instant) -> Instant:
    """When, after an instant, a window first holds other timed facts; `LATEST` if never."""
    found = [instants.after(seen)]
    if isinstance(window.window, TimeWindow):
        reach = window.window.range
        held = instants.after(seen - reach)
        found.append(None if held is None else held + reach)
    return min((at for at in found if at is not None), default=LATEST)


def _holds_anything(window: StreamWindow, instants: Instants, tick: Instant) -> bool:
    """Whether a window holds a fact at a tick."""
    reach = window.window.range if isinstance(window.window, TimeWindow) else None
    after = EARLIEST - 1 if reach is None else tick - reach
    return instants.any_in(after, tick)


def _has_changed(
    window: StreamWindow, instants: Instants, before: Instant | None, tick: Instant
) -> bool:
    """Whether a window holds other timed facts than at an earlier tick."""
    if before is None:
        return True
    match window.window:
        case CountWindow():
            return instants.any_in(before, tick)
        case TimeWindow(range):
            came = instants.any_in(max(before, tick - range), tick)
            return came or instants.any_in(before - range, min(before, tick - range))
