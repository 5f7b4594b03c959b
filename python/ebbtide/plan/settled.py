"""What is settled: the schema facts that follow from the known schema, by what they are about.

While nothing novel holds, a schema atom matches these facts or nothing; any other atom may match
anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from ebbtide.plan.pattern import Pattern, is_refuted
from ebbtide.plan.schema import Schema
from ebbtide.plan.unify import match, substitute_part
from ebbtide.program import TRIPLE, Argument, Atom, Fact, Variable

_Key: TypeAlias = tuple[str, Argument | None]
_Place: TypeAlias = tuple[int, Argument]


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
        self._atoms: defaultdict[_Key, list[Atom]] = defaultdict(list)
        for fact in facts:
            atom = Atom(fact.relation, fact.terms)
            self._atoms[_key(atom)].append(atom)
        self._at: dict[_Key, defaultdict[_Place, list[Atom]]] = {}

    def allows(self, pattern: Pattern) -> bool:
        """Whether some fact may match the pattern."""
        if not self._schema.has(pattern.atom):
            return True
        ways = (match(pattern.atom, atom) for atom in self._near(pattern.atom))
        return any(
            not any(is_refuted(substitute_part(test, found)) for test in pattern.tests)
            for found in ways
            if found is not None
        )

    def _near(self, pattern: Atom) -> list[Atom]:
        """The facts with the predicate of the pattern, and with another constant of it if any."""
        key = _key(pattern)
        given = [
            (place, argument)
            for place, argument in enumerate(pattern.arguments)
            if argument not in key and not isinstance(argument, Variable)
        ]
        if not given:
            return self._atoms[key]
        if key not in self._at:
            self._at[key] = defaultdict(list)
            for atom in self._atoms[key]:
                for place, argument in enumerate(atom.arguments):
                    self._at[key][place, argument].append(atom)
        return min((self._at[key].get(each, []) for each in given), key=len)


def _key(atom: Atom) -> _Key:
    return atom.relation, atom.arguments[1] if atom.relation == TRIPLE else None
