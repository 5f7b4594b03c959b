"""From a rule to facts that set it off: what its body asks for, and what it then concludes.

A variable becomes an IRI of its own; where guards ask for more, terms are tried until they hold. A
helper relation is unfolded into the body of a rule that concludes it: at first one that goes on
from the relation itself, so that lists have more than one item. Lists are written out as rdf:first
and rdf:rest. Every way to do all this is an `Example`; a test may take the one that suits it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, product
from typing import Final, TypeAlias, TypeVar

from ebbtide.engines.reference.closure import ground, guarded
from ebbtide.program import (
    TRIPLE,
    Argument,
    Atom,
    BodyPart,
    Fact,
    Guard,
    Program,
    Rule,
    Variable,
)
from ebbtide.program.reserved import LIST, LIST_LENGTH, LIST_NEXT
from ebbtide.terms import IRI, Literal, Term, to_term
from ebbtide.terms.term import RDF, XSD

Substitution: TypeAlias = Mapping[Variable, Argument]
Part = TypeVar("Part", Atom, Guard, BodyPart)


#: What is tried where an IRI does not satisfy the guards.
TERMS: Final[tuple[Term, ...]] = (
    Literal("1", XSD + "integer"),
    Literal("01", XSD + "int"),
    Literal("0", XSD + "integer"),
    Literal("a"),
    Literal("a", XSD + "token"),
    Literal("a", language="en"),
    Literal("1", XSD + "double"),
    Literal("1.0", XSD + "double"),
    Literal("1", XSD + "float"),
    Literal("1.0", XSD + "float"),
    Literal("true", XSD + "boolean"),
    Literal("1", XSD + "boolean"),
    Literal("false", XSD + "boolean"),
    Literal("0", XSD + "boolean"),
    Literal("b", XSD + "integer"),
    Literal("<", RDF + "XMLLiteral"),
    IRI(XSD + "integer"),
    IRI(XSD + "string"),
    IRI(RDF + "_1"),
)


@dataclass(frozen=True)
class Example:
    """Facts, and what a rule concludes from them."""

    premise: tuple[Fact, ...]
    conclusions: tuple[Fact, ...]


def examples(program: Program, rule: Rule) -> Iterator[Example]:
    """Premises of a rule of the program, each with its conclusions."""
    for substitution, parts in _unfold(rule.body, program.written, {}, depth=0, names=count()):
        resolved = [_replace(part, substitution) for part in parts]
        guards = tuple(part for part in resolved if isinstance(part, Guard))
        atoms = [part for part in resolved if isinstance(part, Atom)]
        for binding, cells in _lists(atoms):
            for terms in _terms(atoms, guards, binding):
                facts = [ground(atom, terms) for atom in atoms if atom.relation not in _READ]
                heads = [_replace(head, substitution) for head in rule.heads]
                yield Example(
                    (*facts, *(ground(cell, terms) for cell in cells)),
                    tuple(ground(head, terms) for head in heads),
                )


# ---- helper relations ------------------------------------------------------------------------


def _unfold(
    parts: Sequence[BodyPart],
    rules: Sequence[Rule],
    substitution: Substitution,
    depth: int,
    names: Iterator[int],
) -> Iterator[tuple[Substitution, list[BodyPart]]]:
    """The parts with each helper replaced by what it is concluded from, in every way."""
    if not parts:
        yield substitution, []
        return
    first, *rest = parts
    if not isinstance(first, Atom) or first.relation in (TRIPLE, *_READ):
        for done, others in _unfold(rest, rules, substitution, depth, names):
            yield done, [first, *others]
        return
    concluding = [r for r in rules if any(h.relation == first.relation for h in r.heads)]
    if not concluding:
        for done, others in _unfold(rest, rules, substitution, depth, names):
            yield done, [first, *others]
    for rule in sorted(concluding, key=lambda r: _is_recursive(r) == (depth > 0)):
        if depth > 1 and _is_recursive(rule):
            continue
        apart = _apart(rule, next(names))
        for head in (head for head in apart.heads if head.relation == first.relation):
            unified = _unify(first.arguments, head.arguments, substitution)
            if unified is None:
                continue
            for inner, body in _unfold(apart.body, rules, unified, depth + 1, names):
                for done, others in _unfold(rest, rules, inner, depth, names):
                    yield done, [*body, *others]


def _is_recursive(rule: Rule) -> bool:
    heads = {head.relation for head in rule.heads}
    return any(atom.relation in heads for atom in rule.positives if atom.relation != TRIPLE)


def _apart(rule: Rule, number: int) -> Rule:
    """The rule with variables that no other rule has."""
    variables = {
        argument
        for part in chain(rule.heads, rule.body)
        for argument in _arguments(part)
        if isinstance(argument, Variable)
    }
    naming = {variable: Variable(f"{variable.name}.{number}") for variable in variables}
    return replace(
        rule,
        heads=tuple(_replace(head, naming) for head in rule.heads),
        body=tuple(_replace(part, naming) for part in rule.body),
    )


def _unify(
    left: Iterable[Argument], right: Iterable[Argument], substitution: Substitution
) -> Substitution | None:
    known = dict(substitution)
    for one, other in zip(left, right, strict=True):
        a, b = _walk(one, known), _walk(other, known)
        if a == b:
            continue
        if isinstance(a, Variable):
            known[a] = b
        elif isinstance(b, Variable):
            known[b] = a
        else:
            return None
    return known


def _walk(argument: Argument, substitution: Substitution) -> Argument:
    while isinstance(argument, Variable) and argument in substitution:
        argument = substitution[argument]
    return argument


def _arguments(part: BodyPart) -> tuple[Argument, ...]:
    assert isinstance(part, Atom | Guard), "no regime negates"
    return part.arguments


def _replace(part: Part, substitution: Substitution) -> Part:
    arguments = tuple(_walk(argument, substitution) for argument in _arguments(part))
    return replace(part, arguments=arguments)


# ---- lists -----------------------------------------------------------------------------------

_READ: Final = (LIST, LIST_LENGTH, LIST_NEXT)


def _lists(atoms: Sequence[Atom]) -> Iterator[tuple[dict[Variable, Term], list[Atom]]]:
    """The places in lists that variables stand for, and the cells of the lists."""
    places = _places(atoms)
    items: dict[Argument, dict[int, Argument]] = {}
    for atom in atoms:
        if atom.relation == LIST:
            lst, place, item = atom.arguments
            items.setdefault(lst, {})[_known(place, places)] = item
    for atom in atoms:
        if atom.relation == LIST_LENGTH:
            lst, length = atom.arguments
            size = max(items.get(lst, {0: lst})) + 1
            if isinstance(length, Variable) and length not in places:
                places[length] = size
            elif _known(length, places) != size:
                return
    cells: list[Atom] = []
    for lst, members in items.items():
        cell = lst
        for place in range(last := max(members) + 1):
            item = members.get(place, Variable(f"{lst}-item-{place}"))
            rest = IRI(RDF + "nil") if place + 1 == last else Variable(f"{lst}-cell-{place + 1}")
            cells += [
                Atom(TRIPLE, (cell, IRI(RDF + "first"), item)),
                Atom(TRIPLE, (cell, IRI(RDF + "rest"), rest)),
            ]
            cell = rest
    yield {variable: to_term(place) for variable, place in places.items()}, cells


def _places(atoms: Sequence[Atom]) -> dict[Variable, int]:
    """A number for each variable that is a place in a list: one after the other."""
    places: dict[Variable, int] = {}
    following = [atom.arguments for atom in atoms if atom.relation == LIST_NEXT]
    after = {successor for _, successor in following}
    free = count()
    for atom in atoms:
        if atom.relation == LIST:
            place = atom.arguments[1]
            if isinstance(place, Variable) and place not in after:
                places.setdefault(place, next(free))
    for _ in following:
        for one, other in following:
            known = not isinstance(one, Variable) or one in places
            if known and isinstance(other, Variable):
                places[other] = _known(one, places) + 1
    return places


def _known(argument: Argument, places: Mapping[Variable, int]) -> int:
    if isinstance(argument, Variable):
        return places[argument]
    assert isinstance(argument, Literal)
    return int(argument.lexical)


# ---- terms -----------------------------------------------------------------------------------


def _terms(
    atoms: Sequence[Atom], guards: tuple[Guard, ...], binding: Mapping[Variable, Term]
) -> Iterator[Mapping[Variable, Term]]:
    """Terms for the variables, such that the guards hold."""
    results = {guard.result for guard in guards}
    variables = dict.fromkeys(variable for atom in atoms for variable in atom.variables())
    fresh = _Fresh(binding)
    asked = [
        variable
        for variable in variables
        if variable not in binding
        and any(variable in guard.arguments for guard in guards)
        and variable not in results
    ]
    for chosen in product(*((fresh[variable], *TERMS) for variable in asked)):
        tried = {**binding, **dict(zip(asked, chosen, strict=True))}
        held = guarded("premise", guards, tried)
        if held is not None:
            yield _Fresh(held)


class _Fresh(dict[Variable, Term]):
    """What variables stand for: an IRI of its own where nothing else is known."""

    def __missing__(self, variable: Variable) -> Term:
        return IRI(f"http://example/{variable.name}")

    def __contains__(self, variable: object) -> bool:
        return True
