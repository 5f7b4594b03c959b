"""A view whose triples say when they happened, though its windows differ in range or step or kind.

Where all windows of a view have one range, a triple happened that long before its `until`; of an
inferred one, that is when the oldest fact that it rests on did. Windows of different ranges, or
looked at between their closes, or of so many facts, have no such range. So what was said is kept
here, with its instants, and at each tick what the windows hold is closed anew, in an engine in
which everything holds for one `span`: longer than anything can be in a window.

Invariant: after `advance`, the engine holds what the windows hold at that tick, and all of it, the
background aside, ends a `span` after it happened.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide._kernel import Kernel
from ebbtide.engines.native import NativeEngine
from ebbtide.program import TRIPLE, Fact, Program
from ebbtide.queries.blocks import Blocks
from ebbtide.queries.pane import ViewKey
from ebbtide.queries.static import StaticGraph
from ebbtide.queries.upper_plan import UpperPlan
from ebbtide.queries.view import View
from ebbtide.terms import IRI, parse_term
from ebbtide.time import Instant, Sliding

_SAID: Final = "said:"
#: Longer than any stream lasts.
_UNENDING: Final = 1 << 60


class DatedView(View):
    """A view that is closed anew at each tick."""

    _engine: NativeEngine | None

    def __init__(
        self, key: ViewKey, program: Program, graphs: Mapping[IRI | None, StaticGraph]
    ) -> None:
        super().__init__(key, program, graphs)
        self._said: dict[str, list[tuple[Instant, str, Fact]]] = {}
        self._taken_back: list[tuple[Instant, str, Fact]] = []
        #: The windows that hold so many facts.
        self._counted = {
            pane: Blocks(pane.size, pane.step) for pane in key.windows if pane.kind == "count"
        }
        self._blocks = {}

    @property
    def engine(self) -> NativeEngine:
        """The engine of the last tick."""
        assert isinstance(self._engine, NativeEngine), "a view is looked at after a tick"
        return self._engine

    @property
    def span(self) -> int:
        """How long what it holds has its `until` after it happened."""
        return _UNENDING if self._counted else self._reach + 1

    @property
    def _reach(self) -> int:
        """How long anything can be in a window of time."""
        steps = (pane.closes.step for pane in self.key.windows if pane.closes)
        return self.widest + max(steps, default=0)

    @property
    def moves(self) -> int:
        """How often windows that move by several facts did so, or lost one by retraction."""
        return sum(blocks.moves for pane, blocks in self._counted.items() if pane.step > 1)

    def can_host(self, plan: UpperPlan) -> bool:
        """What is closed anew at each tick has no changes to tell."""
        return False

    def quiet_until(self, seen: Instant) -> Instant | None:
        """Nobody knows."""
        return None

    def push(self, fact: Fact, at: Instant, stream: IRI) -> None:
        """A fact happens on one of the view's streams."""
        for pane in self._panes(stream):
            if pane in self._counted:
                self._counted[pane].push(fact, at)
        if any(pane not in self._counted for pane in self._panes(stream)):
            insort(self._said.setdefault(stream.value, []), (at, str(fact), fact))

    def push_arrow(self, data: Any, stream: IRI, time: str, columns: Sequence[str]) -> None:
        """The facts of a table happen on one of the view's streams."""
        for row in data.to_pylist():
            terms = tuple(parse_term(row[column]) for column in columns)
            self.push(Fact(TRIPLE, terms), row[time], stream)

    def retract(self, fact: Fact, at: Instant) -> None:
        """Every statement of a fact up to an instant is taken back."""
        insort(self._taken_back, (at, str(fact), fact))
        for blocks in self._counted.values():
            blocks.retract(fact, at)

    def add(self, fact: Fact) -> None:
        """A background fact is stated: its graph has it, and is read at every tick."""

    def advance(self, tick: Instant) -> None:
        """Close what the windows hold at a tick."""
        if self._tick is not None and self._tick >= tick:
            return
        for said in (*self._said.values(), self._taken_back):
            del said[: bisect_left(said, (tick - self._reach - 1,))]
        engine = NativeEngine(self._compiled(), {_SAID: Sliding(self.span)})
        for graph in self._graphs:
            graph.add_to(engine)
        for pane in self.key.windows - self._counted.keys():
            close = tick if pane.closes is None else pane.closes.at_or_before(tick)
            assert close is not None, "the closes of a view's windows have no first one"
            said = self._said.get(pane.stream, [])
            opened = bisect_left(said, (close - self.widest - pane.size + 1,))
            for at, _, fact in said[opened : bisect_left(said, (close + 1,))]:
                engine.push(fact, at, _SAID)
        for at, _, fact in self._taken_back:
            engine.retract(fact, at)
        for blocks in self._counted.values():
            blocks.advance(tick)
            for fact, at in blocks.held:
                engine.push(fact, at, _SAID)
        engine.evaluate(tick)
        self._engine, self._is_current, self._tick = engine, True, tick
        for mirror in self.mirrors:
            mirror.take(self, whole=True)

    def seen(self, widest: int, relation: str = TRIPLE) -> tuple[Kernel, int, Instant]:
        """A relation as it is at the last tick."""
        assert self._tick is not None, "a view is looked at after a tick"
        return self.native.seen(self._shown(relation), self._tick)
