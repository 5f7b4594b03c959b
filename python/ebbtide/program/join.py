"""Several programs as one: what rule files named together mean.

In: programs, in the order in which they were named. Out: one program with every rule once. Rules
are the same if they differ only in the names of variables and in the order of their bodies (very
long ones are compared in order); the first one stays, with its name. Different rules of the same
name stay both, and the later one is renamed: `rdfs2`, `rdfs2-2`. Relations are shared by name, so
that one file can ask for what another one concludes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeAlias

from ebbtide.program.atom import Argument, Atom, Negation, Variable
from ebbtide.program.guard import Guard
from ebbtide.program.origin import ProgramError
from ebbtide.program.program import Program
from ebbtide.program.reserved import INCONSISTENCY
from ebbtide.program.rule import BodyPart, Rule

#: Up to so many parts are tried in every order, one within the other.
_TRIED: Final = 100

#: What is asked, of what, and how: a part of a rule without its variables' names.
_Shape: TypeAlias = tuple[str, str, tuple[str, ...]]


def join(programs: Iterable[Program]) -> Program:
    """One program with the rules and the relations of all.

    >>> from ebbtide.languages.jena import parse_rules
    >>> one = parse_rules("[sub: (?c rdfs:subClassOf ?d), (?x a ?c) -> (?x a ?d)]")
    >>> other = parse_rules("[is: (?y a ?a), (?a rdfs:subClassOf ?b) -> (?y a ?b)]")
    >>> [rule.name for rule in join([one, other]).rules]
    ['sub']
    """
    programs = tuple(programs)
    rules: list[Rule] = []
    alike: defaultdict[tuple[_Shape, ...], list[Rule]] = defaultdict(list)
    names: set[str] = set()
    for rule in (rule for program in programs for rule in program.written):
        known = alike[tuple(sorted(map(_shape, (*rule.heads, *rule.body))))]
        if any(same_rule(rule, other) for other in known):
            continue
        known.append(rule)
        rules.append(_renamed(rule, names))
        names.add(rules[-1].name)
    return Program(
        rules,
        _relations(programs),
        closed=any(program.closed for program in programs),
        operators=dict.fromkeys(each for program in programs for each in program.operators),
    )


def same_rule(one: Rule, other: Rule) -> bool:
    """Whether two rules differ at most in variables' names and in the order of their bodies.

    >>> from ebbtide.languages.jena import parse_rules
    >>> rules = parse_rules("(?x a ?c) -> (?c a ?x). (?y a ?d) -> (?d a ?y).").rules
    >>> same_rule(*rules)
    True
    """
    if len(one.heads) != len(other.heads) or len(one.body) != len(other.body):
        return False
    if len(one.body) > _TRIED:
        return _renaming_in_order((*one.heads, *one.body), (*other.heads, *other.body)) is not None
    naming = _renaming_in_order(one.heads, other.heads)
    return naming is not None and _matches(one.body, other.body, naming)


def _renaming_in_order(
    parts: tuple[BodyPart, ...], others: tuple[BodyPart, ...]
) -> dict[Variable, Variable] | None:
    """The renaming that makes each part the one at its place; None if there is none."""
    naming: dict[Variable, Variable] = {}
    for part, other in zip(parts, others, strict=True):
        extended = _renaming(part, other, naming)
        if extended is None:
            return None
        naming = extended
    return naming


def _matches(
    body: tuple[BodyPart, ...], others: tuple[BodyPart, ...], naming: dict[Variable, Variable]
) -> bool:
    """Whether each part has a counterpart of its own, under one renaming of the variables."""
    if not body:
        return True
    for index, other in enumerate(others):
        extended = _renaming(body[0], other, naming)
        rest = (*others[:index], *others[index + 1 :])
        if extended is not None and _matches(body[1:], rest, extended):
            return True
    return False


def _renaming(
    part: BodyPart, other: BodyPart, naming: dict[Variable, Variable]
) -> dict[Variable, Variable] | None:
    """The renaming, extended so that it makes the one part the other; None if there is none."""
    if _shape(part) != _shape(other):
        return None
    extended = dict(naming)
    for ours, theirs in zip(_arguments(part), _arguments(other), strict=True):
        if (
            isinstance(ours, Variable)
            and isinstance(theirs, Variable)
            and extended.setdefault(ours, theirs) != theirs
        ):
            return None
    different = len(set(extended.values())) == len(extended)
    return extended if different else None


def _shape(part: BodyPart) -> _Shape:
    kind = type(part).__name__
    name = part.builtin if isinstance(part, Guard) else _atom(part).relation
    terms = ("?" if isinstance(term, Variable) else str(term) for term in _arguments(part))
    return kind, name, tuple(terms)


def _arguments(part: BodyPart) -> tuple[Argument, ...]:
    return part.arguments if isinstance(part, Guard) else _atom(part).arguments


def _atom(part: Atom | Negation) -> Atom:
    return part.atom if isinstance(part, Negation) else part


def _renamed(rule: Rule, taken: set[str]) -> Rule:
    """The rule, under a name that no rule has yet."""
    name, count = rule.name, 1
    while name in taken:
        count += 1
        name = f"{rule.name}-{count}"
    if name == rule.name:
        return rule
    heads = tuple(
        replace(head, relation=INCONSISTENCY + name)
        if head.relation == INCONSISTENCY + rule.name
        else head
        for head in rule.heads
    )
    return replace(rule, name=name, heads=heads)


def _relations(programs: Iterable[Program]) -> dict[str, int]:
    """Every relation with its arity, which all programs must agree on."""
    relations: dict[str, int] = {}
    for program in programs:
        for name, arity in program.relations.items():
            if name.startswith(INCONSISTENCY) or relations.setdefault(name, arity) == arity:
                continue
            atoms = (atom for rule in program.rules for atom in rule.atoms)
            places = [atom.origin for atom in atoms if atom.relation == name]
            raise ProgramError(
                f"the relation {name} has the arity {arity} here and {relations[name]} in the "
                "rules it is joined with",
                *places[:1],
            )
    return relations
