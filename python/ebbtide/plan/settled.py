"""What is settled: the schema facts that follow from the known schema, by what they are about.

While nothing novel holds, a schema atom matches these facts or nothing; any other atom may match
anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from ebbtide.plan.pattern import Pattern, is_refuted, is_refuted_of_the_same
from ebbtide.plan.schema import Schema
from ebbtide.plan.unify import match, substitute_part
from ebbtide.program import TRIPLE, Argument, Atom, Fact, Variable

_Key: TypeAlias = tuple[str, Argument | None]
#: A place and what is there: a term, or the same as at another place.
_Place: TypeAlias = tuple[int, Argument | int]


class Settled:
    """Schema facts to be matched with patterns.

    >>> from ebbtide.testing import program
    >>> from ebbtide.plan.schema import RDFS
    >>> sub = f"<{RDFS}subClassOf>"
    >>> written = program(f"to_a(?x) :- triple(?x, {sub}, A). to_b(?x) :- triple(?x, {sub}, B).")
    >>> facts = [Fact.triple("<http://example/C>", sub, "<http://example/A>")]
    >>> settled = Settled(facts, Schema.of(written))
    >>> [settled.allows(Pattern.of(rule.positives[0])) for rule in written.rules]
    [True, False]
    """

    def __init__(self, facts: Iterable[Fact], schema: Schema) -> None:
        self._schema = schema
        self._facts: defaultdict[_Key, list[Fact]] = defaultdict(list)
        for fact in facts:
            self._facts[_key(fact.relation, fact.terms)].append(fact)
        self._at: dict[_Key, defaultdict[_Place, list[Fact]]] = {}
        self._different: dict[tuple[str, Argument | None, int, int], bool] = {}
        self._allowed: dict[Pattern, bool] = {}

    def allows(self, pattern: Pattern) -> bool:
        """Whether some fact may match the pattern."""
        if pattern not in self._allowed:
            self._allowed[pattern] = self._matches(pattern)
        return self._allowed[pattern]

    def _matches(self, pattern: Pattern) -> bool:
        if not self._schema.has(pattern.atom):
            return True
        # Most that is the same as something is so as itself, and rules ask for others.
        if any(not self._has_different(pattern.atom, *places) for places in _differing(pattern)):
            return False
        ways = (match(pattern.atom, Atom(*fact)) for fact in self._near(pattern.atom))
        return any(
            not any(is_refuted(substitute_part(test, found)) for test in pattern.tests)
            for found in ways
            if found is not None
        )

    def _has_different(self, pattern: Atom, place: int, other: int) -> bool:
        """Whether some fact with the predicate of the pattern has different terms at two places."""
        about = _key(pattern.relation, pattern.arguments)
        key = (*about, place, other)
        if key not in self._different:
            self._different[key] = any(
                fact.terms[place] != fact.terms[other] for fact in self._facts[about]
            )
        return self._different[key]

    def _near(self, pattern: Atom) -> list[Fact]:
        """The facts with the predicate of the pattern, and what else it asks for most plainly.

        That is a constant, or the same term at two places.
        """
        key = _key(pattern.relation, pattern.arguments)
        given: list[_Place] = [
            (place, argument)
            for place, argument in enumerate(pattern.arguments)
            if argument not in key and not isinstance(argument, Variable)
        ]
        given += _pairs(pattern.arguments)
        if not given:
            return self._facts[key]
        if key not in self._at:
            self._at[key] = defaultdict(list)
            for fact in self._facts[key]:
                for each in (*enumerate(fact.terms), *_pairs(fact.terms)):
                    self._at[key][each].append(fact)
        return min((self._at[key].get(each, []) for each in given), key=len)


def _differing(pattern: Pattern) -> Iterator[tuple[int, int]]:
    """The places where the pattern asks for different terms."""
    arguments = pattern.atom.arguments
    for test in pattern.tests:
        if is_refuted_of_the_same(test) and all(each in arguments for each in test.arguments):
            one, other = map(arguments.index, test.arguments)
            yield one, other


def _pairs(arguments: Sequence[Argument]) -> Iterator[tuple[int, int]]:
    """The places of equal arguments, two and two."""
    for place, other in combinations(range(len(arguments)), 2):
        if arguments[place] == arguments[other]:
            yield place, other


def _key(relation: str, arguments: Sequence[Argument]) -> _Key:
    return relation, arguments[1] if relation == TRIPLE else None
