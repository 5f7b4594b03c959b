"""Substitution and unification: how the atoms of different rules meet."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias, TypeVar, cast

from ebbtide.program import Argument, Atom, BodyPart, Fact, Guard, Lineage, Negation, Rule, Variable

Substitution: TypeAlias = Mapping[Variable, Argument]
Part = TypeVar("Part", bound=BodyPart)


def unify(left: Atom, right: Atom) -> dict[Variable, Argument] | None:
    """The most general substitution that makes the atoms equal; None if there is none.

    Variables of the same name are the same variable: rename one side apart beforehand.

    >>> x, y, z = map(Variable, "xyz")
    >>> print(substitute(Atom("p", (x, x)), unify(Atom("p", (x, x)), Atom("p", (y, z)))))
    p(?z, ?z)
    """
    if left.relation != right.relation or len(left.arguments) != len(right.arguments):
        return None
    found: dict[Variable, Argument] = {}
    for a, b in zip(left.arguments, right.arguments, strict=True):
        if found:
            a, b = _resolve(a, found), _resolve(b, found)
        if a is b or a == b:
            continue
        if isinstance(a, Variable):
            found[a] = b
        elif isinstance(b, Variable):
            found[b] = a
        else:
            return None
    if len(found) > 1:
        for variable in found:
            found[variable] = _resolve(variable, found)
    return found


def _resolve(argument: Argument, substitution: Substitution) -> Argument:
    while isinstance(argument, Variable) and argument in substitution:
        argument = substitution[argument]
    return argument


def match(
    general: Atom, special: Atom, known: Substitution = MappingProxyType({})
) -> dict[Variable, Argument] | None:
    """What is known, extended so that it makes the general atom the special one.

    The special atom stays as it is: its variables count as terms that nothing is known of.

    >>> x, y = Variable("x"), Variable("y")
    >>> match(Atom("p", (x, x)), Atom("p", (x, y))) is None
    True
    """
    if general.relation != special.relation or len(general.arguments) != len(special.arguments):
        return None
    found = dict(known)
    for argument, meant in zip(general.arguments, special.arguments, strict=True):
        stands = found.setdefault(argument, meant) if isinstance(argument, Variable) else argument
        if stands != meant:
            return None
    return found


def substitute(atom: Atom, substitution: Substitution) -> Atom:
    """The atom with its variables replaced; it keeps its origin."""
    # As `replace` does, which takes four times as long; plans are made while somebody waits.
    return Atom(atom.relation, _replaced(atom.arguments, substitution), atom.origin)


def substitute_part(part: Part, substitution: Substitution) -> Part:
    """A part of a body with its variables replaced."""
    new: BodyPart
    match part:
        case Atom():
            new = substitute(part, substitution)
        case Negation(atom):
            new = Negation(substitute(atom, substitution))
        case Guard(builtin, arguments, origin):
            new = Guard(builtin, _replaced(arguments, substitution), origin)
    return cast(Part, new)


def to_fact(atom: Atom) -> Fact:
    """The fact that an atom without variables is."""
    terms = tuple(a for a in atom.arguments if not isinstance(a, Variable))
    assert len(terms) == len(atom.arguments), atom
    return Fact(atom.relation, terms)


def substitute_rule(rule: Rule, substitution: Substitution) -> Rule:
    """The rule with its variables replaced; it keeps its name and its origin."""
    return Rule(
        rule.name,
        tuple(substitute(head, substitution) for head in rule.heads),
        tuple(substitute_part(part, substitution) for part in rule.body),
        rule.origin,
        rule.lineage and _substitute_lineage(rule.lineage, substitution),
    )


def _substitute_lineage(lineage: Lineage, substitution: Substitution) -> Lineage:
    return Lineage(
        lineage.rule,
        substitute(lineage.head, substitution),
        tuple(
            _substitute_lineage(premise, substitution) if isinstance(premise, Lineage) else premise
            for premise in lineage.premises
        ),
    )


def apart(rule: Rule, mark: str) -> Rule:
    """The rule with the mark added to the names of its variables.

    >>> from ebbtide.testing import program
    >>> print(apart(program("edge(?y, ?x) :- edge(?x, ?y).").rules[0], "'"))
    edge(?y', ?x') :- edge(?x', ?y').
    """
    return substitute_rule(rule, {v: Variable(v.name + mark) for v in variables(rule)})


def variables(rule: Rule) -> dict[Variable, None]:
    """The variables of a rule, in order of appearance, as the keys of a dictionary."""
    parts: tuple[BodyPart, ...] = (*rule.heads, *rule.body)
    return {
        argument: None
        for part in parts
        for argument in (part.atom if isinstance(part, Negation) else part).arguments
        if isinstance(argument, Variable)
    }


def _replaced(arguments: tuple[Argument, ...], substitution: Substitution) -> tuple[Argument, ...]:
    return tuple(
        [
            substitution.get(argument, argument) if isinstance(argument, Variable) else argument
            for argument in arguments
        ]
    )
