"""A LARS program on the kernel: input atoms and time points in, intensional atoms out.

In: atoms of a stream, each at an instant, in any order within a time point. Every time point from
`start` on is evaluated once, in order. Out: at each of them the intensional atoms that hold, as
facts or as Arrow tables, in full or as changes. Invariant: they are the output of Definition 6 for
the input up to then (`engines/reference/lars.py` is the specification).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from ebbtide._kernel import BudgetExceeded, Table, Timeline
from ebbtide.engines.budget import Budget
from ebbtide.engines.derivation import Node
from ebbtide.engines.lars_answer import Answer
from ebbtide.engines.lars_why import Explainer, Explanation, Times
from ebbtide.engines.native import NativeEngine
from ebbtide.engines.protocol import LateFact
from ebbtide.languages.lars.formula import LarsProgram
from ebbtide.languages.lars.lower import lower
from ebbtide.languages.lars.lowered import (
    EVER,
    NOW,
    OUTSIDE,
    Lowered,
    Route,
    Tally,
    padded_terms,
)
from ebbtide.languages.lars.wakes import reach, wakes
from ebbtide.program import Fact, Rule
from ebbtide.terms import Literal, Term, parse_term, to_term
from ebbtide.time import LATEST, Instant, Sliding, Tumbling

_parsed: Final[Callable[[str], Term]] = lru_cache(maxsize=65_536)(parse_term)


#: For so many time points is known, for `why`, when an atom entered a window of all time points: to
#: know for ever when each came would take memory for every one that ever was.
EVER_MEMORY: Final = 10_000

#: A stream, a relation, and for each of its columns that of a table, -1 for the time, or a term.
_Places: TypeAlias = tuple[int, int, list[int | str]]


class Fed(NamedTuple):
    """What became of a table: the numbers of the rows that came late, and the last instant."""

    late: list[int]
    last: Instant | None


class LarsEngine(NativeEngine):
    """The kernel, running a lowered LARS program time point by time point.

    >>> from ebbtide.languages.lars import parse_atoms, parse_lars
    >>> engine = LarsEngine(parse_lars("q(X) :- p(X) in [1]."), start=0)
    >>> engine.take(parse_atoms("p(a).", "", {})[0], at=0)
    >>> [len(engine.tick().atoms or ()) for _ in range(3)]
    [1, 1, 0]
    """

    def __init__(
        self,
        program: LarsProgram,
        *,
        start: Instant,
        step: int = 1,
        tick: int | None = None,
        budget: Budget | None = None,
        state: bytes | None = None,
    ) -> None:
        self.lars = program
        self.lowered: Lowered = lower(program, start, step, tick)
        self._start, self._step, self._tick = start, step, tick
        streams = self.lowered.streams or {NOW: Sliding(step)}
        super().__init__(self.lowered.program, streams, step=step, origin=start, budget=budget)
        self._predicates: dict[int, list[str]] = {}
        #: The relations that tell the present of a predicate, with the time point in front.
        self._stamped: set[int] = set()
        for predicate, relation in self.lowered.outputs.items():
            self._predicates.setdefault(self._relation_ids[relation], []).append(predicate)
            if predicate in self.lowered.stamped:
                self._stamped.add(self._relation_ids[relation])
        #: Where among the tables of `play` a predicate is.
        self._played = [
            (predicate, place)
            for place, predicates in enumerate(self._predicates.values())
            for predicate in predicates
        ]
        #: The most arguments of an atom that a tally has columns for.
        self._widest = min(
            (tally.width - (2 if tally.route.stamped else 1) for tally in self.lowered.tallies),
            default=sys.maxsize,
        )
        self._timeline = Timeline(
            start,
            step,
            [
                (
                    self._stream(one.stream),
                    self._relation_ids[one.relation],
                    one.kind,
                    one.back,
                    reach(self.lowered, one, step),
                )
                for one in self.lowered.clocks
            ],
            [(relation, relation in self._stamped) for relation in self._predicates],
            self._relation_ids.get(OUTSIDE),
            [[self._relation_ids[name] for name in needed] for needed in wakes(self.lowered)],
            self._memory(),
        )
        #: For each predicate and number of columns that tables had.
        self._places: dict[tuple[str, int], list[_Places]] = {}
        self._shown: set[Fact] = set()
        #: The atoms that held at the last time point; None after tables, which do not tell.
        self._holds: set[Fact] | None = set()
        #: The atoms of the last answer, if it is known.
        self._told: frozenset[Fact] | None = None
        #: The time points of the last `play` that have no answer stream.
        self.without_answer: list[Instant] = []
        #: Those at which a budget was hit, and that have only a part of their answer.
        self.incomplete: list[Instant] = []
        if state is not None:
            self._resume(state)
        else:
            for fact in self.lowered.background:
                self.add(fact)

    def _memory(self) -> int:
        """How long ticks are remembered, so that `why` can tell when an atom entered a window."""
        panes = (each for each in self.lowered.streams.values() if isinstance(each, Tumbling))
        meanings = self.lowered.meanings.values()
        is_ever = any(each.kind == "in" and each.window == EVER for each in meanings)
        ever = min(EVER_MEMORY * self._step, LATEST) if is_ever else 0
        return max(ever, *(pane.width for pane in panes), 0)

    # ---- atoms in ----------------------------------------------------------------------------

    @property
    def next(self) -> Instant:
        """The time point that comes next."""
        return self._timeline.next

    def point(self, at: Instant) -> Instant:
        """The time point that an instant belongs to: the first at or after it."""
        return self._start - (self._start - at) // self._step * self._step

    def take(self, fact: Fact, at: Instant) -> None:
        """Take an input atom; `LateFact` if its time point is over."""
        point = self.point(at)
        if point < self.next:
            raise LateFact(f"{fact} happens at {at}, and that time point is over")
        if problem := self.lars.refuses(fact):
            raise ValueError(problem)
        time = to_term(point)
        for route in self.lowered.routes.get(fact.relation, ()):
            terms = (time, *fact.terms) if route.stamped else fact.terms
            self.push(Fact(route.relation, terms), point, route.stream)
        for tally in self.lowered.tallies:
            front = (Literal(fact.relation), *((time,) if tally.route.stamped else ()))
            terms = padded_terms((*front, *fact.terms), tally.width)
            self.push(Fact(tally.route.relation, terms), point, tally.route.stream)

    def is_wide(self, arity: int) -> bool:
        """Whether atoms have more arguments than a tally has columns: `take` alone packs those."""
        return arity > self._widest

    def feed(self, data: Any, predicate: str, time: str, columns: Sequence[str]) -> Fed:
        """Take the input atoms of Arrow data, whose columns hold whole numbers or terms' texts.

        They must not be wide.
        """
        key = (predicate, len(columns))
        places = self._places.get(key)
        if places is None:
            places = self._places[key] = self._all_places(*key)
        return Fed(*self._timeline.feed(self._kernel, data, time, columns, places))

    def _all_places(self, predicate: str, arity: int) -> list[_Places]:
        """Where the columns of a predicate's atoms go."""
        if problem := self.lars.refuses(Fact(predicate, (to_term(0),) * arity)):
            raise ValueError(problem)
        places = [self._placed(route, arity) for route in self.lowered.routes.get(predicate, ())]
        return places + [self._tallied(tally, predicate, arity) for tally in self.lowered.tallies]

    def _placed(self, route: Route, arity: int) -> _Places:
        places: list[int | str] = [-1] if route.stamped else []
        places += range(arity)
        return self._stream(route.stream), self._relation_ids[route.relation], places

    def _tallied(self, tally: Tally, predicate: str, arity: int) -> _Places:
        stream, relation, places = self._placed(tally.route, arity)
        padded = [Literal(predicate).text, *places]
        return stream, relation, [*padded, *("<>",) * (tally.width - len(padded))]

    # ---- answers out -------------------------------------------------------------------------

    def tick(self) -> Answer:
        """Evaluate the next time point."""
        point = self.next
        if self._told is not None and self._timeline.leap(self._kernel, point) > point:
            return Answer(point, self._told)
        if self._holds is None:
            self._holds = self._all_that_holds()
        self._told = None
        try:
            tick = self._timeline.tick(self._kernel)
        except BudgetExceeded:
            raise self._exceeded() from None
        now = to_term(tick).text
        entered: set[Fact] = set()
        left: set[Fact] = set()
        present: set[Fact] = set()
        for relation, texts, before, after in self._kernel.changes():
            predicates = self._predicates.get(relation)
            if predicates is None or (before is None) == (after is None):
                continue
            if relation in self._stamped:
                if texts[0] != now:
                    continue
                texts, to = texts[1:], present
            else:
                to = left if after is None else entered
            terms = tuple(map(_parsed, texts))
            to.update(Fact(predicate, terms) for predicate in predicates)
        if self._stamped:
            stamped = self.lowered.stamped
            was = {fact for fact in self._holds if fact.relation in stamped}
            entered |= present - was
            left |= was - present
        self._holds -= left
        self._holds |= entered
        self._told = None if self._is_outside() else frozenset(self._holds)
        if self.lowered.has_outside:
            shown = set(self._told or ())
            was, self._shown = self._shown, shown
            entered, left = shown - was, was - shown
        complete = self._kernel.is_complete
        return Answer(tick, self._told, frozenset(entered), frozenset(left), complete=complete)

    def leap(self, to: Instant) -> None:
        """Leave out the time points up to one that say nothing else than the one before them."""
        self._timeline.leap(self._kernel, to)

    def play(self, to: Instant, *, full: bool = False) -> dict[str, Table]:
        """Evaluate the time points up to one; for each intensional predicate what they say.

        A table has the columns t, c0, c1, ...; it tells the atoms that hold at each time point, or
        without `full`, with the column diff, those that began to (+1) and ceased to (-1). At time
        points without an answer stream, which `without_answer` then lists, nothing holds.
        """
        self._holds = self._told = None
        try:
            played = self._timeline.play(self._kernel, to, full)
        except BudgetExceeded:
            raise self._exceeded() from None
        tables, self.without_answer, self.incomplete = played
        if self.lowered.has_outside:
            self._shown = set() if self._is_outside() else self._all_that_holds()
        return {predicate: tables[place] for predicate, place in self._played}

    def _is_outside(self) -> bool:
        return self.lowered.has_outside and bool(self._kernel.facts(self._relation_ids[OUTSIDE]))

    def _all_that_holds(self) -> set[Fact]:
        now = to_term(self.next - self._step).text
        held: set[Fact] = set()
        for relation, predicates in self._predicates.items():
            for texts, _ in self._kernel.facts(relation):
                if relation in self._stamped:
                    if texts[0] != now:
                        continue
                    texts = texts[1:]
                terms = tuple(map(_parsed, texts))
                held.update(Fact(predicate, terms) for predicate in predicates)
        return held

    # ---- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Everything the engine needs to go on: where time stands, then the kernel's snapshot."""
        time = json.dumps([self.next, self._timeline.ticks])
        return b"%b\n%b" % (time.encode(), super().snapshot())

    def _resume(self, state: bytes) -> None:
        time, _, kernel = state.partition(b"\n")
        self.restore(kernel)
        point, ticks = json.loads(time)
        self._timeline.resume(point, [tuple(tick) for tick in ticks])
        self._holds = self._all_that_holds()
        self._shown = set() if self._is_outside() else set(self._holds)

    # ---- why ---------------------------------------------------------------------------------

    def explain_atom(self, fact: Fact) -> Explanation:
        """Why an intensional atom holds now; KeyError if it does not.

        LookupError if nothing does, because there is no answer stream.
        """
        relation = self.lowered.outputs.get(fact.relation)
        if relation is None:
            raise KeyError(f"{fact.relation} is not concluded by rules")
        if self._is_outside():
            raise LookupError(f"there is no answer stream at {self.next - self._step}")
        is_stamped = fact.relation in self.lowered.stamped
        now = to_term(self.next - self._step)
        terms = (now, *fact.terms) if is_stamped else fact.terms
        explainer = self._explainer(self.derivation(Fact(relation, terms)))
        return explainer.present(fact) if is_stamped else explainer.conclusion(fact)

    def _explainer(self, nodes: Sequence[Node]) -> Explainer:
        now = self.next - self._step
        times = Times(self._start, self._step, self._tick, now, self.counted_at, self._entered_at)
        return Explainer(self.lars, self.lowered, times, self, nodes)

    def facts_of(self, relation: str) -> list[Fact]:
        """The facts of a relation of the lowered program."""
        of = self._relation_ids[relation]
        return [Fact(relation, tuple(map(_parsed, texts))) for texts, _ in self._kernel.facts(of)]

    def _rule_named(self, rule: Rule) -> str:
        written = next((one for one in self.lars.rules if one.origin == rule.origin), None)
        return f"{rule.name if written is None else written.name} ({rule.origin})"

    def _fact_named(self, fact: Fact) -> str | None:
        return self._explainer([]).says(fact)

    def _entered_at(self, fact: Fact) -> Instant | None:
        """When a fact entered its pane, or came first of all, as far as that is known."""
        texts = [term.text for term in fact.terms]
        return self._timeline.entered_at(self._kernel, self._relation(fact), texts)
