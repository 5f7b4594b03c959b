"""What a query sees: one view a graph of its dataset.

    C-SPARQL    default graph: background, FROM graphs and all windows, closed under the rules
    RSP-QL      default graph: background and FROM graphs, closed under the rules
                <window>:      the window; with rules: closed under them, with the background
    FROM NAMED  the static graph, closed under the rules

A window is looked at as it was when it closed last. That is the tick itself if the query's ticks
are among the window's closes; if they are not, the view knows when it closes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ebbtide.languages.rspql import ContinuousQuery, StreamWindow, TimeWindow
from ebbtide.program import Program, ProgramError
from ebbtide.queries.grid import Grid
from ebbtide.queries.pane import ViewKey, view_key, window_grid
from ebbtide.queries.reader import Reader
from ebbtide.queries.report import Report
from ebbtide.queries.view import View
from ebbtide.terms import IRI
from ebbtide.time import Instant


@dataclass(frozen=True, slots=True)
class Wanted:
    """A graph of a query's dataset that a view is wanted for."""

    name: IRI | None
    statics: frozenset[IRI | None]
    windows: tuple[StreamWindow, ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """A graph of a query's dataset, the view that shows it, and when its window closes first."""

    name: IRI | None
    view: View
    reader: Reader
    first: Instant | None
    #: How long its triples hold after they happened, if that is asked; as its own windows are.
    dated: int | None = None

    @property
    def widest(self) -> int:
        """The widest range of its windows."""
        return self.reader.widest

    def tick(self, at: Instant, lag: int) -> Instant | None:
        """The tick of the view that a query sees at an instant; None before the first close."""
        return None if self.first is not None and at < self.first else at - lag


def wanted_graphs(query: ContinuousQuery, program: Program) -> Iterator[Wanted]:
    """The graphs of a query's dataset."""
    statics = frozenset((None, *query.graphs))
    merged = tuple(window for window in query.streams if window.name is None)
    yield Wanted(None, statics, merged)
    named = dict.fromkeys(window.name for window in query.streams if window.name is not None)
    for name in named:
        windows = tuple(window for window in query.streams if window.name == name)
        yield Wanted(name, statics if program.rules else frozenset(), windows)
    for name in query.named_graphs:
        yield Wanted(name, frozenset([name]), ())


def lag_of(query: ContinuousQuery) -> int:
    """How long before its tick a query looks: a window [open, close) holds nothing at its close."""
    bounds: set[str] = set()
    for each in query.streams:
        bounds |= {each.window.bounds} if isinstance(each.window, TimeWindow) else set()
        if len(bounds) > 1:
            raise ProgramError(
                "windows of FROM STREAM are (t - range, t] and those of FROM NAMED WINDOW are "
                "[open, close): a query has only the one kind or the other",
                each.origin,
            )
    return 1 if "[)" in bounds else 0


def grids_of(query: ContinuousQuery, report: Report, t0: Instant | None) -> tuple[Grid, ...]:
    """The grids of a query's ticks; none if it answers whenever a fact happens."""
    every = report.period or query.every
    if every is not None:
        return (Grid(every, t0 or 0, t0),)
    grids = (window_grid(window, t0) for window in query.streams)
    return tuple(dict.fromkeys(grid for grid in grids if grid is not None))


def closes_of(
    query: ContinuousQuery, report: Report, t0: Instant | None
) -> dict[StreamWindow, Grid | None]:
    """When each window closes; None for windows that end at every tick."""
    if report.period is not None:
        return dict.fromkeys(query.streams)
    return {window: window_grid(window, t0) for window in query.streams}


def sight_key(
    wanted: Wanted,
    program: Program,
    grids: Sequence[Grid],
    lag: int,
    closing: Mapping[StreamWindow, Grid | None],
) -> tuple[ViewKey, int, Instant | None]:
    """The key of the view for a graph, the widest range, and when a window closes first."""
    windows: dict[StreamWindow, Grid | None] = {}
    firsts = []
    for window in wanted.windows:
        closes = closing[window]
        if closes is None or all(closes.covers(grid) for grid in grids):
            windows[window] = None
        else:
            # Views are asked a lag before the tick.
            windows[window] = Grid(closes.step, (closes.anchor - lag) % closes.step)
        if closes is not None and closes.first is not None:
            firsts.append(closes.first)
    key, widest = view_key(program, wanted.statics, windows)
    return key, widest, min(firsts, default=None)


def dated_range(wanted: Wanted, key: ViewKey) -> int | None:
    """How long the triples of a graph hold after they happened; None if its windows differ."""
    ranges = {
        each.window.range if isinstance(each.window, TimeWindow) else None
        for each in wanted.windows
    }
    is_moved = any(pane.closes for pane in key.windows)
    return ranges.pop() if len(ranges) == 1 and not is_moved else None
