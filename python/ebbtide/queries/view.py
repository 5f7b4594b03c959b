"""A view: one materialisation, kept for all queries of the same streams and rules.

A view is the closure of (static graphs + the windows of some streams) under a program. Its key is
what must be equal for queries to share it (`pane.py`); it is kept for the widest of their windows.

Facts of a window that is looked at between its closes wait here until it closes, so that a
retraction in between finds those that it takes back, and no others.

Invariant: ticks ascend.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import gcd
from typing import Any, Final

from ebbtide._kernel import Kernel
from ebbtide.engines.native import NativeEngine
from ebbtide.engines.planned import PlannedEngine
from ebbtide.plan.make import can_be_planned, needed_part
from ebbtide.program import TRIPLE, Atom, Fact, Program, Rule
from ebbtide.program.reserved import NOW
from ebbtide.queries.blocks import Blocks
from ebbtide.queries.pane import Pane, ViewKey
from ebbtide.queries.reader import Follower, Guest, Reader
from ebbtide.queries.seen import SEEING, SEEN, invents, seen_atom, seen_rule
from ebbtide.queries.static import StaticGraph
from ebbtide.queries.upper_plan import UpperPlan
from ebbtide.reasoner.printing import print_atoms
from ebbtide.terms import IRI, parse_term, to_term
from ebbtide.time import Instant, Sliding, Window

#: The stream of the fact that says which tick it is.
_CLOCK: Final = "now:"


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
        self._invents = invents(program)
        self.readers: list[Reader] = []
        self.widest = 0
        self.mirrors: list[Follower] = []
        self.guests: list[Guest] = []
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
        self._rest_guests()
        if self.readers:
            for guest in [each for each in self.guests if not each.can_stay_with(reader)]:
                guest.move_out()
                self.guests.remove(guest)
        self.readers.append(reader)
        self.widest = max(self.widest, reader.widest)
        self._is_current = False

    def leave(self, reader: Reader) -> None:
        """A query looks no longer."""
        self._rest_guests()
        self.readers.remove(reader)
        self.widest = max((each.widest for each in self.readers), default=0)
        self._is_current = False

    def _rest_guests(self) -> None:
        """The engine will be another one, which does not know what the last tick changed."""
        for guest in self.guests:
            guest.rest()

    def can_host(self, plan: UpperPlan) -> bool:
        """Whether a query can keep what it wants in the view itself.

        If that takes rules, it must be the first to come. Plans are made for rules without
        negation; and windows that move by several facts are looked at between the ticks of a query.
        """
        is_simple = not plan.rules and not plan.operators
        is_alone = not self.readers
        return not self._blocks and (is_simple or (is_alone and not self._is_planned))

    def _wanted(self) -> list[Atom] | None:
        """The patterns of what rules print and readers look at; None if one looks at everything."""
        if not self._is_lazy:
            return None
        found: dict[Atom, None] = dict.fromkeys(print_atoms(self.program))
        for reader in self.readers:
            if reader.triples is None:
                return None
            triples = map(seen_atom, reader.triples) if self._invents else reader.triples
            answers = (pattern.head for pattern in reader.patterns)
            found |= dict.fromkeys((*triples, *answers))
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
        if not patterns and not self._blocks and not self._invents:
            return self.program
        guests = [guest.in_view for guest in self.guests]
        rules = dict.fromkeys((*self.program.written, *(pane.rule for pane in self._blocks)))
        if self._invents:
            rules[SEEING] = None
        for pattern in patterns:
            rules.update(dict.fromkeys(map(self._asking, pattern.rules)))
        relations = {pattern.relation: pattern.arity for pattern in patterns}
        relations |= {pane.relation: 3 for pane in self._blocks}
        for plan in guests:
            rules.update(dict.fromkeys(map(self._asking, plan.rules)))
            relations |= plan.relations
        operators = [*self.program.operators, *(one for plan in guests for one in plan.operators)]
        return Program(
            rules,
            {**self.program.relations, **relations},
            operators=operators,
        )

    def _asking(self, rule: Rule) -> Rule:
        """The rule of a query as it runs here."""
        return seen_rule(rule) if self._invents else rule

    def _needed(self, program: Program, wanted: Sequence[Atom]) -> Program:
        """The rules that contribute to what is wanted, and all of a guest's."""
        guests = [self._asking(rule) for guest in self.guests for rule in guest.in_view.rules]
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

    def changed(self, relations: Collection[str]) -> tuple[Collection[Fact], Collection[Fact]]:
        """The facts of some relations that the last tick brought, and those that it took."""
        assert self._tick is not None, "a view changes at its ticks"
        delta = self.native.delta(self._tick, True, relations)
        return delta.entered.keys(), delta.left.keys()

    def quiet_until(self, seen: Instant) -> Instant | None:
        """Before this it stays as it was at a tick, unless something is said; None: who knows."""
        if self._tick is None or not self._is_current or NOW in self.program.relations:
            return None
        if self._changed is not None and self._changed > seen:
            return None
        waiting = (*self._waiting, *(blocks.first for blocks in self._blocks.values()))
        return min((self.native.quiet_until(), *waiting))

    @property
    def native(self) -> NativeEngine:
        """The kernel of the materialisation."""
        engine = self.engine
        return engine.native if isinstance(engine, PlannedEngine) else engine

    def seen(self, widest: int, relation: str = TRIPLE) -> tuple[Kernel, int, Instant]:
        """A relation as windows of a widest range see it at the last tick."""
        assert self._tick is not None, "a view is looked at after a tick"
        return self.native.seen(self._shown(relation), self._tick + self.widest - widest)

    def _shown(self, relation: str) -> str:
        """Where the facts of a relation are as queries see them."""
        return SEEN if relation == TRIPLE and self._invents else relation


def _adopt(engine: NativeEngine | PlannedEngine, before: NativeEngine | PlannedEngine) -> None:
    match engine, before:
        case PlannedEngine(), PlannedEngine():
            engine.adopt(before)
        case NativeEngine(), NativeEngine():
            engine.adopt(before)
