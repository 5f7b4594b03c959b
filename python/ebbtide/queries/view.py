"""A view: one materialisation, kept for all queries of the same streams and rules.

A view is the closure of (static graphs + the windows of some streams) under a program. Its key is
what must be equal for queries to share it. Ranges are relative: queries whose windows differ by the
same span on every stream share the view, which is kept for the widest. What a narrower query sees
are the facts that end more than the difference later. With negation in the rules, with count
windows or with rules that ask the time, that would be wrong, so there the ranges themselves are
part of the key.

Invariant: ticks ascend. A query that looks at a window between its closes has a view of its own
grid; all others are asked for at the tick that is evaluated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any, Final

from ebbtide._kernel import Kernel
from ebbtide.engines.native import NativeEngine
from ebbtide.languages.rspql import ContinuousQuery, CountWindow, StreamWindow, TimeWindow
from ebbtide.program import TRIPLE, Fact, Program
from ebbtide.program.reserved import NOW
from ebbtide.queries.answers import Row
from ebbtide.queries.compile import compiled, group_name, narrowed_name
from ebbtide.queries.grid import Grid
from ebbtide.queries.lowering import Asked, Direct, Grouped, Maintained
from ebbtide.queries.static import StaticGraph
from ebbtide.terms import IRI, to_term
from ebbtide.time import LATEST, Count, Instant, Sliding, Window

#: The stream of the fact that says which tick it is.
_CLOCK: Final = "now:"


@dataclass(frozen=True, slots=True)
class ViewKey:
    """What queries must have in common to share a view.

    `windows` are, for each stream, the range less the widest range of the view, or the size of a
    count window. `range` is the widest range itself where it cannot be shared, `grid` the closes of
    a window that is looked at in between.
    """

    program: str
    statics: frozenset[IRI | None]
    windows: frozenset[tuple[IRI, str, int]]
    range: int | None
    grid: Grid | None


def can_share(program: Program, windows: Sequence[StreamWindow]) -> bool:
    """Whether a narrower window is a filter on `until`."""
    return (
        all(isinstance(each.window, TimeWindow) for each in windows)
        and not any(rule.negations for rule in program.rules)
        and not program.operators
        and NOW not in program.relations
    )


def view_key(
    program: Program,
    statics: frozenset[IRI | None],
    windows: Sequence[StreamWindow],
    grid: Grid | None,
) -> tuple[ViewKey, int]:
    """The key of the view that shows some windows in one graph, and their widest range."""
    ranges = [each.window.range for each in windows if isinstance(each.window, TimeWindow)]
    widest = max(ranges, default=0)
    relative = frozenset(
        (each.stream, "time", each.window.range - widest)
        if isinstance(each.window, TimeWindow)
        else (each.stream, "count", each.window.size)
        for each in windows
    )
    own_range = None if can_share(program, windows) else widest
    return ViewKey(program.fingerprint, statics, relative, own_range, grid), widest


@dataclass(slots=True, eq=False)
class Reader:
    """What a query wants of a view: through windows of a widest range, at ticks `step` apart.

    `follows` is the pattern whose `changes` are noted until the reader takes them.
    """

    widest: int
    step: int
    patterns: tuple[Maintained, ...] = ()
    groups: tuple[Grouped, ...] = ()
    follows: Maintained | None = None
    changes: Counter[Row] = field(default_factory=Counter)
    is_following: bool = False


def wants(
    plan: Direct | Asked, query: ContinuousQuery, graph: IRI | None, widest: int, step: int
) -> Reader:
    """What a query that runs by a plan wants of the view that shows a graph."""
    if isinstance(plan, Direct):
        if plan.graph != graph:
            return Reader(widest, step)
        follows = None if query.emits == "RStream" else plan.pattern
        return Reader(widest, step, (plan.pattern,), (), follows)
    contents = [table.content for table in plan.tables if table.graph == graph]
    patterns = tuple(each for each in contents if isinstance(each, Maintained))
    groups = tuple(each for each in contents if isinstance(each, Grouped))
    return Reader(widest, step, patterns, groups)


class View:
    """A materialisation that several queries look at."""

    def __init__(
        self, key: ViewKey, program: Program, graphs: Mapping[IRI | None, StaticGraph]
    ) -> None:
        self.key = key
        self.program = program
        self.readers: dict[int, Reader] = {}
        self.widest = 0
        self._graphs = [graphs[name] for name in key.statics]
        self._engine: NativeEngine | None = None
        self._is_current = False
        self._tick: Instant | None = None

    @property
    def streams(self) -> set[IRI]:
        """The streams that it shows."""
        return {stream for stream, _, _ in self.key.windows}

    @property
    def engine(self) -> NativeEngine:
        """The engine that holds the materialisation, for all that readers want."""
        if self._engine is None or not self._is_current:
            self._engine = self._opened(self._engine)
            self._is_current = True
        return self._engine

    def join(self, number: int, reader: Reader) -> None:
        """A query looks at the view."""
        self.readers[number] = reader
        self.widest = max(self.widest, reader.widest)
        self._is_current = False

    def leave(self, number: int) -> None:
        """A query looks no longer."""
        if self.readers.pop(number, None) is not None:
            self._is_current = False

    def _opened(self, before: NativeEngine | None) -> NativeEngine:
        """A new engine, which takes over what was stated to the one before."""
        step = gcd(*(reader.step for reader in self.readers.values())) or 1
        engine = NativeEngine(compiled(self), self._windows(), step=step)
        if before is None:
            for graph in self._graphs:
                graph.add_to(engine)
        else:
            engine.adopt(before)
        if self._tick is not None:
            for reader in self.readers.values():
                if reader.follows is not None and not reader.is_following:
                    kernel, place, after = engine.seen(self.relation_of(reader), self._tick)
                    reader.changes.update(map(tuple, kernel.rows(place, after)))
        for reader in self.readers.values():
            reader.is_following = reader.follows is not None
        return engine

    def _windows(self) -> dict[str, Window]:
        windows: dict[str, Window] = {}
        for stream, kind, size in sorted(self.key.windows, key=str):
            window: Window = Count(size) if kind == "count" else Sliding(self.widest + size)
            windows[_name(stream, kind, size)] = window
        if NOW in self.program.relations:
            windows[_CLOCK] = Sliding(1)
        return windows

    # ---- facts in ----------------------------------------------------------------------------

    def push(self, fact: Fact, at: Instant, stream: IRI) -> None:
        """A fact happens on one of the view's streams."""
        for name in self._names(stream):
            self.engine.push(fact, at, name)

    def push_arrow(self, data: Any, stream: IRI, time: str, columns: Sequence[str]) -> None:
        """The facts of a table happen on one of the view's streams."""
        for name in self._names(stream):
            self.engine.push_arrow(data, name, TRIPLE, time, columns)

    def retract(self, fact: Fact, at: Instant) -> None:
        """Every statement of a fact up to an instant is taken back."""
        self.engine.retract(fact, at)

    def add(self, fact: Fact) -> None:
        """A background fact is stated."""
        self.engine.add(fact)

    def _names(self, stream: IRI) -> list[str]:
        return [_name(*each) for each in self.key.windows if each[0] == stream]

    # ---- ticks -------------------------------------------------------------------------------

    def advance(self, tick: Instant) -> None:
        """Bring the materialisation to a tick; it may be there already."""
        if self._tick is not None and self._tick >= tick:
            return
        if NOW in self.program.relations:
            self.engine.push(Fact(NOW, (to_term(tick),)), tick, _CLOCK)
        self.engine.evaluate(tick)
        self._tick = tick
        for reader in self.readers.values():
            if reader.follows is not None:
                kernel, place, _ = self.engine.seen(self.relation_of(reader), tick)
                for row, diff in kernel.row_changes(place):
                    reader.changes[tuple(row)] += diff

    def seen(self, widest: int, relation: str = TRIPLE) -> tuple[Kernel, int, Instant]:
        """A relation as windows of a widest range see it at the last tick."""
        assert self._tick is not None, "a view is looked at after a tick"
        return self.engine.seen(relation, self._tick + self.widest - widest)

    def seen_group(self, widest: int, grouped: Grouped) -> tuple[Kernel, int, Instant]:
        """The groups of a pattern in windows of a widest range, at the last tick."""
        assert self._tick is not None, "a view is looked at after a tick"
        return self.engine.seen(group_name(self, widest, grouped), self._tick)

    def relation_of(self, reader: Reader) -> str:
        """The relation that a reader follows."""
        assert reader.follows is not None
        return narrowed_name(self, reader.widest, reader.follows)


def _name(stream: IRI, kind: str, size: int) -> str:
    return f"{stream.value} {kind} {size}"


def window_grid(window: StreamWindow, t0: Instant | None) -> Grid | None:
    """When a window closes; None for one that moves with every fact."""
    match window.window:
        case CountWindow():
            return None
        case TimeWindow(range, step, "(]"):
            return Grid(step, t0 or 0, t0)
        case TimeWindow(range, step, _):
            # What holds everything that happened opens at t0, and closes whenever it is asked.
            close = (t0 or 0) + (range if range < LATEST else 0)
            return Grid(step, close, None if t0 is None else close)
