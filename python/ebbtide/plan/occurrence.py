"""Literals: where a rule asks that one occurs somewhere, statements answer, and no rule need.

    _value(?l, ?v) :- triple(?s, ?p, ?l), isDLiteral(?l), dataValue(?l, ?v).

asks for a literal in any triple. If rules take the literals of the triples that they conclude from
those that they ask for, then a literal in any triple is one in a triple that was stated, since
there literals are objects. So nothing that is concluded is needed for such an atom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from ebbtide.plan.unify import variables
from ebbtide.program import TRIPLE, Atom, Guard, Rule, Variable, is_hidden
from ebbtide.terms import Literal

_Place: TypeAlias = tuple[str, int]
#: Tests that hold of literals alone.
_OF_LITERALS: Final = ("isLiteral", "isPLiteral", "isDLiteral")


def literals_are_stated(rules: Sequence[Rule]) -> bool:
    """Whether every literal in a concluded triple occurs in a triple that was stated.

    >>> from ebbtide.testing import program
    >>> literals_are_stated(program("triple(?x, Q, ?y) :- triple(?x, P, ?y).").rules)
    True
    >>> sums = "triple(?x, Q, ?z) :- triple(?x, P, ?y), sum(?y, 1, ?z)."
    >>> literals_are_stated(program(sums).rules)
    False
    """
    # What users state of other relations may be anything.
    atoms = [atom for rule in rules for atom in (*rule.heads, *rule.positives)]
    own = {
        (atom.relation, place)
        for atom in atoms
        if atom.relation != TRIPLE and not is_hidden(atom.relation)
        for place in range(len(atom.arguments))
    }
    others = [rule for rule in rules if not _repeats_triples(rule)]
    grew = True
    while grew:
        more = {place for rule in others for place in _new_values(rule, own)} - own
        own |= more
        grew = bool(more)
    return all(relation != TRIPLE for relation, _ in own)


def _repeats_triples(rule: Rule) -> bool:
    """Whether all that a rule puts into its heads are IRIs, and terms of triples of its body."""
    taken = {
        argument
        for atom in rule.positives
        if atom.relation == TRIPLE
        for argument in atom.arguments
    }
    return not any(
        isinstance(argument, Literal) or (isinstance(argument, Variable) and argument not in taken)
        for head in rule.heads
        for argument in head.arguments
    )


def _new_values(rule: Rule, own: set[_Place]) -> Iterator[_Place]:
    """The places of heads that may get a literal that no triple of the body has."""
    taken = {
        argument
        for atom in rule.positives
        for place, argument in enumerate(atom.arguments)
        if (atom.relation, place) not in own
    }
    for head in rule.heads:
        for place, argument in enumerate(head.arguments):
            if isinstance(argument, Literal) or (
                isinstance(argument, Variable) and argument not in taken
            ):
                yield head.relation, place


def is_occurrence(rule: Rule, atom: Atom) -> bool:
    """Whether the atom asks for nothing but a literal in some triple."""
    if atom.relation != TRIPLE or not rule.guards:
        return False
    subject, predicate, literal = atom.arguments
    if not any(Guard(builtin, (literal,)) in rule.guards for builtin in _OF_LITERALS):
        return False
    rest = replace(rule, body=tuple(part for part in rule.body if part is not atom))
    free = {subject, predicate}
    return (
        len({*free, literal}) == 3
        and all(isinstance(argument, Variable) for argument in atom.arguments)
        and free.isdisjoint(variables(rest))
    )
