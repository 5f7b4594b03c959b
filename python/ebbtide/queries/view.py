"""A view: one materialisation, kept for all queries of the same streams and rules.

A view is the closure of (static graphs + the windows of some streams) under a program. Its key is
what must be equal for queries to share it. Ranges are relative: queries whose windows differ by the
same span on every stream share the view, which is kept for the widest. What a narrower query sees
are the facts that end more than the difference later. With negation in the rules, with count
windows or with rules that ask the time, that would be wrong, so there the ranges themselves are
part of the key.

A window that is looked at between its closes is as it was when it closed last. So its facts enter
at the first close at or after them, and leave at the first close that no longer sees them:

    #  at     enter          at + range   leave         closes are step apart
    #  ┼────────┼─────── ... ──┼────────────┼──►        k = range // step

They hold for k * step, or for one step more, depending on where between two closes they happen:
two streams of the engine, each with a window as long as that. Until they enter they wait here, so
that a retraction in between finds those that it takes back, and no others.

Invariant: ticks ascend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any, Final, Literal, Protocol

from ebbtide._kernel import Kernel
from ebbtide.engines.native import NativeEngine
from ebbtide.engines.planned import PlannedEngine
from ebbtide.languages.rspql import CountWindow, StreamWindow, TimeWindow
from ebbtide.plan.make import can_be_planned, needed_part
from ebbtide.program import TRIPLE, Atom, Fact, Program, Rule, Variable
from ebbtide.program.reserved import NOW
from ebbtide.queries.blocks import Blocks
from ebbtide.queries.grid import Grid
from ebbtide.queries.lowering import Asked, Direct
from ebbtide.queries.maintained import Maintained
from ebbtide.queries.static import StaticGraph
from ebbtide.queries.upper_plan import UpperPlan
from ebbtide.terms import IRI, parse_term, to_term
from ebbtide.time import EARLIEST, LATEST, Count, Instant, Landmark, Sliding, Window

#: The stream of the fact that says which tick it is.
_CLOCK: Final = "now:"


@dataclass(frozen=True, slots=True, order=True)
class Pane:
    """A window of a view: on a stream, the last `size` facts; or a range, told as what it is less
    than the widest one of the view.

    `closes` are the instants at which it moves, if it is looked at in between.
    """

    stream: str
    kind: Literal["time", "count"]
    size: int
    closes: Grid | None = None
    #: By how many facts a count window moves.
    step: int = 1

    @property
    def name(self) -> str:
        """What the stream of the engine is called."""
        moves = "" if self.closes is None else f" {self.closes.step} {self.closes.anchor}"
        return f"{self.stream} {self.kind} {self.size} {self.step}{moves}"

    @property
    def relation(self) -> str:
        """Where the facts of a window are that moves by several facts."""
        return f"window:{self.name}"

    @property
    def rule(self) -> Rule:
        """The rule that what such a window holds is seen."""
        terms = tuple(map(Variable, "spo"))
        return Rule(self.relation, (Atom(TRIPLE, terms),), (Atom(self.relation, terms),))

    def streams(self, widest: int) -> dict[str, Window]:
        """The streams of the engine, and their windows, in a view of a widest range."""
        if self.kind == "count":
            return {self.name: Count(self.size) if self.step == 1 else Landmark(EARLIEST)}
        if self.closes is None:
            return {self.name: Sliding(widest + self.size)}
        step = self.closes.step
        steps = (widest + self.size) // step
        return {f"{self.name}+{k}": Sliding(k * step) for k in (steps, steps + 1) if k > 0}

    def place(self, at: Instant, widest: int) -> tuple[str, Instant] | None:
        """The stream that a fact goes to, and when it enters; None if no close sees it."""
        if self.closes is None:
            return self.name, at
        enter = self.closes.at_or_after(at)
        steps = (self.closes.at_or_after(at + widest + self.size) - enter) // self.closes.step
        return (f"{self.name}+{steps}", enter) if steps else None


@dataclass(frozen=True, slots=True)
class ViewKey:
    """What queries must have in common to share a view.

    `range` is the widest range of the windows where ranges cannot be shared.
    """

    program: str
    statics: frozenset[IRI | None]
    windows: frozenset[Pane]
    range: int | None
    #: Whether its triples say when they happened, though its windows differ.
    is_dated: bool = False


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
    windows: Mapping[StreamWindow, Grid | None],
) -> tuple[ViewKey, int]:
    """The key of the view that shows some windows in one graph, and their widest range.

    With each window goes when it moves, if it is looked at in between.
    """
    ranges = [each.window.range for each in windows if isinstance(each.window, TimeWindow)]
    widest = max(ranges, default=0)
    panes = frozenset(
        Pane(each.stream.value, "time", each.window.range - widest, closes)
        if isinstance(each.window, TimeWindow)
        else Pane(each.stream.value, "count", each.window.size, None, each.window.step)
        for each, closes in windows.items()
    )
    shared = can_share(program, list(windows)) and not any(windows.values())
    return ViewKey(program.fingerprint, statics, panes, None if shared else widest), widest


@dataclass(slots=True, eq=False)
class Reader:
    """What a query wants of a view: through windows of a widest range, at ticks `step` apart."""

    widest: int
    step: int
    patterns: tuple[Maintained, ...] = ()
    #: The triples that it looks at besides; None for all.
    triples: tuple[Atom, ...] | None = None


def wants(plan: Direct | Asked, graph: IRI | None, widest: int, step: int) -> Reader:
    """What a query that runs by a plan wants of the view that shows a graph."""
    read: list[Maintained] = []
    if plan.upper is not None:
        read += [source.pattern for source in plan.upper.sources if source.graph == graph]
    if isinstance(plan, Direct):
        if plan.graph == graph and isinstance(plan.content, Maintained):
            read.append(plan.content)
        return Reader(widest, step, tuple(read), ())
    contents = (table.content for table in plan.tables if table.graph == graph)
    read += [each for each in contents if isinstance(each, Maintained)]
    return Reader(widest, step, tuple(read), plan.triples.get(graph))


class Follower(Protocol):
    """Who is told what each tick of a view changed."""

    def take(self, view: View, whole: bool) -> None:
        """The view is at a tick: what it changed counts, or all that holds."""
        ...


class Guest(Protocol):
    """What a query keeps in a view that it has to itself."""

    @property
    def in_view(self) -> UpperPlan:
        """What the view is to run on its own relations."""
        ...

    def move_out(self) -> None:
        """Somebody else comes: take along what is needed, and keep it elsewhere."""
        ...


class View:
    """A materialisation that several queries look at."""

    def __init__(
        self,
        key: ViewKey,
        program: Program,
        graphs: Mapping[IRI | None, StaticGraph],
        lazy: bool = True,
    ) -> None:
        self.key = key
        self.program = program
        self.readers: list[Reader] = []
        self.widest = 0
        self.mirrors: list[Follower] = []
        self.guest: Guest | None = None
        self._is_told = True
        self._graphs = [graphs[name] for name in key.statics]
        self._engine: NativeEngine | PlannedEngine | None = None
        # Plans, and what is needed, are about facts that are stated as they are.
        is_plain = all(pane.step == 1 for pane in key.windows)
        self._is_planned = is_plain and can_be_planned(program)
        self._is_lazy = is_plain and lazy
        self._is_current = False
        self._tick: Instant | None = None
        #: The last tick at which anything changed.
        self._changed: Instant | None = None
        #: What waits for a close: by when it enters, the fact, when it happened, and its stream.
        self._waiting: dict[Instant, list[tuple[Fact, Instant, str]]] = {}
        #: The retractions that something that waits, or comes and waits, may be taken back by.
        self._retractions: dict[Fact, list[Instant]] = {}
        self._waits = any(pane.closes for pane in key.windows)
        #: The windows that move by several facts.
        self._blocks = {pane: Blocks(pane.size, pane.step) for pane in key.windows if pane.step > 1}

    @property
    def streams(self) -> set[IRI]:
        """The streams that it shows."""
        return {IRI(pane.stream) for pane in self.key.windows}

    @property
    def is_fresh(self) -> bool:
        """Whether nothing was told to it yet."""
        return self._engine is None

    @property
    def engine(self) -> NativeEngine | PlannedEngine:
        """The engine that holds the materialisation, for all that readers want."""
        if self._engine is None or not self._is_current:
            self._engine = self._opened(self._engine)
            self._is_current = True
        return self._engine

    def join(self, reader: Reader) -> None:
        """A query looks at the view."""
        if self.guest is not None and self.readers:
            self.guest.move_out()
            self.guest = None
        self.readers.append(reader)
        self.widest = max(self.widest, reader.widest)
        self._is_current = False

    def leave(self, reader: Reader) -> None:
        """A query looks no longer."""
        self.readers.remove(reader)
        self.widest = max((each.widest for each in self.readers), default=0)
        self._is_current = False

    def can_host(self, plan: UpperPlan) -> bool:
        """Whether a query that comes first can keep what it wants in the view itself.

        Plans are made for rules without negation; and windows that move by several facts are looked
        at between the ticks of a query.
        """
        is_simple = not plan.rules and not plan.operators
        return not self.readers and not self._blocks and (is_simple or not self._is_planned)

    def _wanted(self) -> list[Atom] | None:
        """The patterns of all that readers look at; None if one of them looks at everything."""
        if not self._is_lazy:
            return None
        found: dict[Atom, None] = {}
        for reader in self.readers:
            if reader.triples is None:
                return None
            answers = (pattern.head for pattern in reader.patterns)
            found |= dict.fromkeys((*reader.triples, *answers))
        return list(found)

    def _opened(self, before: NativeEngine | PlannedEngine | None) -> NativeEngine | PlannedEngine:
        """A new engine, which takes over what was stated to the one before."""
        step = gcd(*(reader.step for reader in self.readers)) or 1
        program, windows = self._compiled(), self._windows()
        wanted = self._wanted()
        engine: NativeEngine | PlannedEngine
        if self._is_planned:
            engine = PlannedEngine(program, windows, step=step, wanted=wanted)
        else:
            kept = program if wanted is None else self._needed(program, wanted)
            engine = NativeEngine(kept, windows, step=step)
        if before is None:
            for graph in self._graphs:
                graph.add_to(engine)
        else:
            _adopt(engine, before)
        # What its ticks change is told from here on: before, the whole is.
        self._is_told = False
        return engine

    def _compiled(self) -> Program:
        """The user's rules, and on top of them those of all patterns that readers want."""
        patterns = [pattern for reader in self.readers for pattern in reader.patterns]
        if not patterns and not self._blocks:
            return self.program
        guest = UpperPlan() if self.guest is None else self.guest.in_view
        rules = dict.fromkeys((*self.program.written, *(pane.rule for pane in self._blocks)))
        for pattern in patterns:
            rules.update(dict.fromkeys(pattern.rules))
        rules.update(dict.fromkeys(guest.rules))
        relations = {pattern.relation: pattern.arity for pattern in patterns}
        relations |= {pane.relation: 3 for pane in self._blocks}
        return Program(
            rules,
            {**self.program.relations, **relations, **guest.relations},
            operators=(*self.program.operators, *guest.operators),
        )

    def _needed(self, program: Program, wanted: Sequence[Atom]) -> Program:
        """The rules that contribute to what is wanted, and all of a guest's."""
        guests = () if self.guest is None else self.guest.in_view.rules
        others = program.rewritten(rule for rule in program.rules if rule not in guests)
        return program.rewritten((*needed_part(others, wanted).rules, *guests))

    def _windows(self) -> dict[str, Window]:
        windows: dict[str, Window] = {}
        for pane in sorted(self.key.windows, key=str):
            windows |= pane.streams(self.widest)
        if NOW in self.program.relations:
            windows[_CLOCK] = Sliding(1)
        return windows

    # ---- facts in ----------------------------------------------------------------------------

    def push(self, fact: Fact, at: Instant, stream: IRI) -> None:
        """A fact happens on one of the view's streams."""
        for pane in self._panes(stream):
            if pane in self._blocks:
                self._blocks[pane].push(fact, at)
            elif (place := pane.place(at, self.widest)) is not None:
                name, enter = place
                if pane.closes is None:
                    self.engine.push(fact, enter, name)
                else:
                    self._waiting.setdefault(enter, []).append((fact, at, name))

    def push_arrow(self, data: Any, stream: IRI, time: str, columns: Sequence[str]) -> None:
        """The facts of a table happen on one of the view's streams."""
        panes = self._panes(stream)
        if all(pane.closes is None and pane not in self._blocks for pane in panes):
            for pane in panes:
                self.engine.push_arrow(data, pane.name, TRIPLE, time, columns)
            return
        for row in data.to_pylist():
            terms = tuple(parse_term(row[column]) for column in columns)
            self.push(Fact(TRIPLE, terms), row[time], stream)

    def retract(self, fact: Fact, at: Instant) -> None:
        """Every statement of a fact up to an instant is taken back."""
        self.engine.retract(fact, at)
        for blocks in self._blocks.values():
            blocks.retract(fact, at)
        if self._waits:
            self._retractions.setdefault(fact, []).append(at)

    def _enter(self, tick: Instant) -> None:
        """Let in what waited for closes up to a tick and was not taken back before they came."""
        for enter in sorted(each for each in self._waiting if each <= tick):
            for fact, at, stream in self._waiting.pop(enter):
                retractions = self._retractions.get(fact, ())
                if not any(at <= taken_back < enter for taken_back in retractions):
                    self.engine.push(fact, enter, stream)
        self._retractions = {
            fact: needed
            for fact, instants in self._retractions.items()
            if (needed := [at for at in instants if self._entered_by(at) > tick])
        }

    def _entered_by(self, at: Instant) -> Instant:
        """The close at which, at the latest, everything enters that happened up to an instant."""
        return max(pane.closes.at_or_after(at) for pane in self.key.windows if pane.closes)

    @property
    def moves(self) -> int:
        """How often windows that move by several facts did so, or lost one by retraction."""
        return sum(blocks.moves for blocks in self._blocks.values())

    def add(self, fact: Fact) -> None:
        """A background fact is stated."""
        self.engine.add(fact)

    def _panes(self, stream: IRI) -> list[Pane]:
        return [pane for pane in self.key.windows if pane.stream == stream.value]

    # ---- ticks -------------------------------------------------------------------------------

    def advance(self, tick: Instant) -> None:
        """Bring the materialisation to a tick; it may be there already."""
        if self._tick is not None and self._tick >= tick:
            return
        if self._waits:
            self._enter(tick)
        for pane, blocks in self._blocks.items():
            came, went = blocks.advance(tick)
            for fact in came:
                self.engine.push(Fact(pane.relation, fact.terms), tick, pane.name)
            for fact in went:
                self.engine.retract(Fact(pane.relation, fact.terms), tick)
        if NOW in self.program.relations:
            self.engine.push(Fact(NOW, (to_term(tick),)), tick, _CLOCK)
        self.engine.evaluate(tick)
        self._tick = tick
        if self.native.has_changes:
            self._changed = tick
        for mirror in self.mirrors:
            mirror.take(self, whole=not self._is_told)
        self._is_told = True

    def quiet_until(self, seen: Instant) -> Instant | None:
        """Before this it stays as it was at a tick, unless something is said; None: who knows."""
        if self._tick is None or not self._is_current or NOW in self.program.relations:
            return None
        if self._changed is not None and self._changed > seen:
            return None
        waiting = (*self._waiting, *(blocks.first for blocks in self._blocks.values()))
        return min((self.native.quiet_until, *waiting))

    @property
    def native(self) -> NativeEngine:
        """The kernel of the materialisation."""
        engine = self.engine
        return engine.native if isinstance(engine, PlannedEngine) else engine

    def seen(self, widest: int, relation: str = TRIPLE) -> tuple[Kernel, int, Instant]:
        """A relation as windows of a widest range see it at the last tick."""
        assert self._tick is not None, "a view is looked at after a tick"
        return self.native.seen(relation, self._tick + self.widest - widest)


def _adopt(engine: NativeEngine | PlannedEngine, before: NativeEngine | PlannedEngine) -> None:
    match engine, before:
        case PlannedEngine(), PlannedEngine():
            engine.adopt(before)
        case NativeEngine(), NativeEngine():
            engine.adopt(before)


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
