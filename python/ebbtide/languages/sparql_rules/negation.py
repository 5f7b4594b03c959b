"""What must match nothing, or something: NOT EXISTS, MINUS, the other case of OPTIONAL, and EXISTS.

A negated branch of one atom is a negation of the rule. One with a join or a filter inside is
concluded by a helper relation of the variables that both sides have, and that is negated:

    FILTER NOT EXISTS { ?x ex:in ?y . ?y a ex:Room }
        not:1(?x) :- triple(?x, ex:in, ?y), triple(?y, a, ex:Room).     ... not not:1(?x)

If a filter inside uses variables that only the outside binds, the helper repeats the outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from ebbtide.languages.sparql_rules.branch import Branch, atoms
from ebbtide.program import Argument, Atom, Negation, Variable

if TYPE_CHECKING:
    from ebbtide.languages.sparql_rules.pattern import Lowering, Place


def present(
    lowering: Lowering, branch: Branch, found: Iterable[Branch], place: Place
) -> list[Branch]:
    """The branch where one of those that were found can be joined.

    It binds no more variables, except those that a pattern further out binds and must agree on.
    """
    known = set(branch.variables())
    found = list(found)
    if lowering.keeps_count and (only := _some(lowering, branch, found, place)) is not None:
        return only
    joined = [lowering.joined(branch, one) for one in found]
    # Each match of what need only exist would count as a solution.
    only_once = len(joined) < 2 and all(
        one is None or known >= set(one.variables()) for one in joined
    )
    lowering.counts = lowering.counts and only_once
    names = (*branch.binding, *place.around)
    return [_returning(one.showing(names)) for one in joined if one is not None]


def absent(
    lowering: Lowering, branch: Branch, found: Iterable[Branch], place: Place
) -> list[Branch]:
    """The branch where none of those that were found can be joined."""
    negations = []
    for one in map(partial(_lent, branch), found):
        further = one.borrowed.keys() | (one.binding.keys() & place.around.keys())
        if unknown := sorted(further - branch.binding.keys()):
            lowering.refuse(
                ["EXISTS"],
                f"what is negated here asks for ?{unknown[0]} of a pattern further out than the "
                "one around it, which does not bind it",
            )
        shared = sorted(one.binding.keys() & branch.binding.keys())
        if not one.parts and not shared:
            return []
        if any(branch.is_computed(name) for name in (*shared, *one.borrowed)):
            branch = lowering.stepped(branch)
        negation = _negation(lowering, branch, one, shared)
        if negation is not None:
            negations.append(negation)
    return [branch.having(*negations)]


def _some(
    lowering: Lowering, branch: Branch, found: list[Branch], place: Place
) -> list[Branch] | None:
    """The branch where a helper relation says that one can be joined, each solution once."""
    names = {frozenset(one.binding.keys() & branch.binding.keys()) for one in found}
    if len(names) != 1:
        return None if found else []
    shared = sorted(*names)
    further = place.around.keys() - branch.binding.keys()
    if any(one.borrowed or one.binding.keys() & further for one in found) or any(
        branch.is_computed(name) or one.is_computed(name) for name in shared for one in found
    ):
        return None
    cases = [([one.binding[name] for name in shared], one) for one in found]
    relation = lowering.helpers.relation_of_any("some", cases)
    atom = Atom(relation, tuple(branch.binding[name] for name in shared), lowering.helpers.origin)
    return [branch.having(atom)]


def _returning(branch: Branch) -> Branch:
    """The branch, which borrows no more what it binds."""
    borrowed = {name: one for name, one in branch.borrowed.items() if name not in branch.binding}
    return replace(branch, borrowed=borrowed)


def _lent(branch: Branch, found: Branch) -> Branch:
    """What was found, borrowing from the branch what that binds: within EXISTS it is the same."""
    return found.replacing(
        {
            one: branch.binding[name]
            for name, one in found.borrowed.items()
            if isinstance(one, Variable) and name in branch.binding
        }
    )


def _negation(
    lowering: Lowering, branch: Branch, found: Branch, shared: list[str]
) -> Negation | None:
    outside = [branch.binding[name] for name in shared]
    inside = [found.binding[name] for name in shared]
    if found.borrowed:
        return _repeating(lowering, branch, found, shared)
    swap = {one: other for one, other in zip(inside, outside, strict=True) if _is_variable(one)}
    if _is_atom(found) and len(swap) == len(inside):
        local = {one: lowering.fresh("any") for one in found.variables() if one not in swap}
        (atom,) = atoms(found.replacing(local | swap).parts)
        return Negation(atom)
    relation = lowering.helpers.relation("not", inside, found)
    return Negation(Atom(relation, tuple(outside), lowering.helpers.origin))


def _repeating(
    lowering: Lowering, branch: Branch, found: Branch, shared: list[str]
) -> Negation | None:
    """The negation of a helper that joins the outside with what was found."""
    joined = lowering.joined(branch, found)
    if joined is None:
        return None
    names = [*shared, *sorted(found.borrowed)]
    outside = [branch.binding[name] for name in names]
    inside = [joined.binding[name] for name in names]
    relation = lowering.helpers.relation("not", inside, joined)
    return Negation(Atom(relation, tuple(outside), lowering.helpers.origin))


def _is_atom(branch: Branch) -> bool:
    return len(branch.body) == 1 and isinstance(branch.body[0], Atom)


def _is_variable(argument: Argument) -> TypeGuard[Variable]:
    return isinstance(argument, Variable)
