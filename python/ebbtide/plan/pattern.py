"""Patterns: what an atom asks of a fact, the tests that its rule makes of its variables included.

    triple(?*0, owl:sameAs, ?*1), notEqual(?*0, ?*1)

Variables are named by their places, so that atoms that differ only in names give equal patterns;
no text can contain these names, so a pattern and a rule never share a variable. The tests matter:
a rule that concludes `?x owl:sameAs ?x` gives nothing to one that asks for the above. A rule that
could only repeat its premise where two of its variables are the same term asks for different ones:
that is the test `differ`, which no text can write and no engine is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from ebbtide.plan.unify import Substitution, match, substitute, substitute_part, unify
from ebbtide.program import Argument, Atom, Guard, Rule, Variable, find_builtin

DIFFER: Final = "differ"
#: Tests that do not hold of a term and itself.
_NEVER_OF_THE_SAME: Final = frozenset(
    (DIFFER, "notEqual", "notSameTerm", "lessThan", "greaterThan")
)


_NO_TESTS: Final[frozenset[Guard]] = frozenset()


@cache
def _place(number: int) -> Variable:
    return Variable(f"*{number}")


@dataclass(frozen=True, slots=True)
class Pattern:
    """An atom, and the tests over nothing but its variables."""

    atom: Atom
    tests: frozenset[Guard] = _NO_TESTS

    @classmethod
    def of(
        cls, atom: Atom, guards: Collection[Guard] = (), found: Substitution = MappingProxyType({})
    ) -> Pattern:
        """What the atom, its variables replaced, asks in a body with these guards.

        >>> from ebbtide.testing import program
        >>> rule = program("far(?x, ?z) :- near(?x, ?y), near(?y, ?z), notEqual(?y, ?z).").rules[0]
        >>> for atom in rule.positives:
        ...     print(Pattern.of(atom, rule.guards))
        near(?*0, ?*1)
        near(?*0, ?*1), notEqual(?*0, ?*1)
        """
        names: dict[Argument, Argument] = {}
        arguments: list[Argument] = []
        for argument in atom.arguments:
            if isinstance(argument, Variable):
                argument = found.get(argument, argument)
            if isinstance(argument, Variable):
                argument = names.get(argument) or names.setdefault(argument, _place(len(names)))
            arguments.append(argument)
        return cls(
            Atom(atom.relation, tuple(arguments)),
            frozenset(
                Guard(guard.builtin, tuple([names.get(each, each) for each in guard.arguments]))
                for guard in guards
                if is_test(guard) and names.keys() >= variables(guard)
            )
            if guards
            else _NO_TESTS,
        )

    def meets(self, head: Atom) -> Substitution | None:
        """What makes the pattern and a rule's head equal; None if no fact is both."""
        found = unify(head, self.atom)
        if found is None or any(is_refuted(substitute_part(test, found)) for test in self.tests):
            return None
        return found

    def covers(self, other: Pattern) -> bool:
        """Whether every fact that matches the other pattern matches this one.

        >>> from ebbtide.testing import program
        >>> rule = program("d(?x) :- p(?x, ?y), p(?z, ?z).").rules[0]
        >>> any_, same = map(Pattern.of, rule.positives)
        >>> any_.covers(same), same.covers(any_)
        (True, False)
        """
        found = match(self.atom, other.atom)
        return found is not None and all(
            substitute_part(test, found) in other.tests for test in self.tests
        )

    def __str__(self) -> str:
        return ", ".join(map(str, (self.atom, *sorted(self.tests, key=str))))


def tests(rule: Rule) -> list[Guard]:
    """What a rule asks of its variables: its tests, and which of them must differ.

    >>> from ebbtide.testing import program
    >>> rule = program("holds(?x, ?q) :- sub(?p, ?q), holds(?x, ?p).").rules[0]
    >>> print(*tests(rule))
    differ(?q, ?p)
    """
    return [*filter(is_test, rule.guards), *_differing(rule)]


def _differing(rule: Rule) -> Iterator[Guard]:
    for atom in rule.positives:
        same = unify(rule.heads[0], atom)
        if same is not None and len(same) == 1:
            body = [substitute(each, same) for each in rule.positives]
            pair = (*same.keys(), *same.values())
            if all(isinstance(each, Variable) for each in pair) and all(
                substitute(head, same) in body for head in rule.heads
            ):
                yield Guard(DIFFER, pair)


def is_test(guard: Guard) -> bool:
    """Whether the guard holds or not, and computes nothing."""
    found = find_builtin(guard.builtin)
    return found is None or not found.is_function


def variables(guard: Guard) -> set[Variable]:
    """The variables of a guard."""
    return {argument for argument in guard.arguments if isinstance(argument, Variable)}


def is_refuted(test: Guard) -> bool:
    """Whether a test is known to fail whatever its variables are.

    >>> is_refuted(Guard("notEqual", (Variable("x"), Variable("x"))))
    True
    """
    return is_refuted_of_the_same(test) and len(set(test.arguments)) == 1


def is_refuted_of_the_same(test: Guard) -> bool:
    """Whether a test of two terms fails if they are the same."""
    return test.builtin in _NEVER_OF_THE_SAME
