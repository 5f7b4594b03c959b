"""Relevance: the rules that can contribute to what is wanted, found backwards from it.

In: rules, and patterns of the facts that are wanted. Out: for each rule that is needed, why. A rule
is needed if a head meets a wanted pattern, or one that a needed rule asks for. The predicate of
that pattern, and the class of a type, go into the rule's body; other constants do not, so that
there are few patterns.

Invariant: a wanted fact holds by the needed rules exactly when it holds by all, and until the same
instant. If not everything is *possible*, that is promised as long as nothing holds that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from itertools import count

from ebbtide.plan.heads import Heads, Use
from ebbtide.plan.occurrence import is_occurrence, literals_are_stated
from ebbtide.plan.pattern import Pattern
from ebbtide.plan.schema import TYPE
from ebbtide.plan.topics import Topics
from ebbtide.program import TRIPLE, Argument, Atom, Rule, Variable, is_hidden
from ebbtide.program.reserved import NOW


def everything(pattern: Pattern) -> bool:
    """Any fact may hold."""
    return True


@dataclass(frozen=True)
class Needed:
    """What is needed for something wanted."""

    #: Why each needed rule is, by the rules' ids.
    why: Mapping[int, str]
    #: The patterns of all the facts that matter.
    patterns: Sequence[Pattern]


def needed(
    rules: Iterable[Rule],
    wanted: Iterable[Pattern],
    possible: Callable[[Pattern], bool] = everything,
    beyond: Iterable[Pattern] = (),
    is_schema: Callable[[Atom], bool] = lambda atom: False,
) -> Needed:
    """The rules that are needed for what is wanted.

    `beyond` are patterns that are wanted as well, but not if they follow from schema alone.

    >>> from ebbtide.testing import program
    >>> rules = program('''
    ...     reach: path(?x, ?y) :- edge(?x, ?y).
    ...     on:    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).
    ...     back:  back(?y, ?x) :- path(?x, ?y).
    ... ''').rules
    >>> found = needed(rules, [Pattern.of(rules[0].heads[0])])
    >>> [found.why.get(id(rule)) for rule in rules]
    ['concludes what is wanted', 'concludes what is wanted', None]
    """
    rules = list(rules)
    heads = Heads(rules)
    by_statements = literals_are_stated(rules)
    why: dict[int, str] = {}
    seen = _Seen()
    waiting = _Waiting()
    #: Most rules ask for what others do.
    asked: set[Pattern] = set()
    for pattern in wanted:
        waiting.put(pattern, "concludes what is wanted")

    @cache
    def can_hold(pattern: Pattern) -> bool:
        """Nobody states facts of hidden relations but the time: a rule must conclude them."""
        hidden = is_hidden(pattern.atom.relation) and pattern.atom.relation != NOW
        return possible(pattern) and (not hidden or heads.any_conclude(pattern))

    def take(use: Use, because: str) -> None:
        if all(map(can_hold, use.asks)):
            why.setdefault(id(use.rule), because)
            asks = [
                ask
                for atom, ask in zip(use.rule.positives, use.asks, strict=True)
                if not (by_statements and is_occurrence(use.rule, atom))
            ]
            for ask in (*asks, *use.negates):
                if ask in asked:
                    continue
                asked.add(ask)
                waiting.put(widened(ask), f"concludes what {use.rule.name} asks for")

    of_data = {id(rule) for rule in rules if not all(map(is_schema, rule.positives))}
    for pattern in beyond:
        for use in heads.concluding(pattern, of_data):
            if not all(is_schema(ask.atom) for ask in use.asks):
                take(use, "may conclude novel schema")
    for pattern, because in waiting:
        if seen.is_new(pattern):
            for use in heads.concluding(pattern):
                take(use, because)
    return Needed(why, seen.patterns)


class _Waiting:
    """Patterns to be looked at, the most general first: it may cover many others."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, Pattern, str]] = []
        self._count = count()

    def put(self, pattern: Pattern, because: str) -> None:
        constants = len(pattern.atom.arguments) - sum(1 for _ in pattern.atom.variables())
        entry = constants, len(pattern.tests), next(self._count), pattern, because
        heappush(self._heap, entry)

    def __iter__(self) -> Iterator[tuple[Pattern, str]]:
        while self._heap:
            _, _, _, pattern, because = heappop(self._heap)
            yield pattern, because


class _Seen:
    """Patterns, none of which another one covers that came before."""

    def __init__(self) -> None:
        self.patterns: list[Pattern] = []
        self._known: set[Pattern] = set()
        self._by: Topics[Pattern] = Topics()

    def is_new(self, pattern: Pattern) -> bool:
        """Whether no pattern so far covers this one, which is then among them."""
        if pattern in self._known:
            return False
        self._known.add(pattern)
        if any(known.covers(pattern) for known in self._by.above(pattern.atom)):
            return False
        self._by.add(pattern.atom, pattern)
        self.patterns.append(pattern)
        return True


def meets(pattern: Pattern, heads: Iterable[Atom]) -> bool:
    """Whether some fact matches the pattern and one of the heads."""
    return any(pattern.meets(head) is not None for head in heads)


def widened(pattern: Pattern) -> Pattern:
    """The pattern of a triple without the constants that do not matter."""
    atom = pattern.atom
    if atom.relation != TRIPLE:
        return pattern
    telling = atom.arguments[1 : 3 if atom.arguments[1] == TYPE else 2]
    # A constant that occurs twice becomes one variable: what is said of a thing and itself stays.
    free: dict[Argument, Argument] = {
        argument: Variable(f"*{place}c")
        for place, argument in enumerate(atom.arguments)
        if argument not in telling and not isinstance(argument, Variable)
    }
    if not free:
        return pattern
    arguments = tuple(
        argument if place == 1 else free.get(argument, argument)
        for place, argument in enumerate(atom.arguments)
    )
    return Pattern.of(Atom(atom.relation, arguments), pattern.tests)
