"""Schema specialisation: the forms that rules take for the schema that is known.

In: rules, and the facts of the background that speak of the schema. Out: for each rule that joins
schema with data,

    cax-sco: triple(?x, a, ?d) :- triple(?c, subClassOf, ?d), triple(?x, a, ?c).

one *form* for each way in which its schema atoms match what follows from the known schema:

    cax-sco: triple(?x, a, Person) :- triple(?x, a, Student).

Relations that only help to walk along the lists of the schema are unfolded, so that the class of an
intersection becomes one join; forms that follow from others are left out, so that a type climbs the
taxonomy step by step. A rule with too many forms stays as it is.

Invariant: as far as nothing but known schema takes part, and while it holds, the forms of a rule
conclude from the data what the rule concludes. What is novel is the matter of `assemble`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeAlias

from ebbtide.plan.pattern import Pattern, is_test, variables
from ebbtide.plan.redundancy import reduced
from ebbtide.plan.schema import Schema
from ebbtide.plan.unfold import unfold
from ebbtide.plan.unify import Substitution, substitute, substitute_part, to_fact
from ebbtide.program import Atom, BodyPart, Fact, Lineage, Program, Rule
from ebbtide.terms import Term

#: Answers, for the closure of facts under rules, with the terms of the facts of some relations; or
#: with None, if the closure is too large.
Rows: TypeAlias = Mapping[str, Sequence[tuple[Term, ...]]]
Close: TypeAlias = Callable[[Sequence[Rule], Collection[Fact], Sequence[str]], Rows | None]

#: A rule with more forms than this stays as it is.
MOST_FORMS: Final = 1_000


@dataclass(frozen=True)
class Forms:
    """What the rules of a program become for a known schema."""

    #: The forms of each specialised rule, by the rule's id; helpers that were unfolded have none.
    of: Mapping[int, Sequence[Rule]]
    #: The ids of the specialised rules whose helpers were unfolded.
    unfolded: frozenset[int]


@dataclass(frozen=True)
class Closure:
    """What follows from the known schema, as far as it was asked for."""

    #: The rules that may be specialised, each with the rule that found out how its schema matches.
    asks: Sequence[tuple[Rule, Rule]]
    rows: Rows
    #: The facts that match watched patterns.
    settled: Mapping[Fact, None]
    #: Those that a form could conclude, but follow by rules about schema alone.
    given: Container[Fact]


def how_many(rule: Rule, found: Sequence[Rule], forms: Forms) -> str:
    """How many forms a rule has, in words."""
    count = "one form" if len(found) == 1 else f"{len(found) or 'no'} forms"
    return f"{count}, helpers unfolded" if id(rule) in forms.unfolded else count


def is_mixed(rule: Rule, schema: Schema) -> bool:
    """Whether a rule joins schema with data."""
    return len({schema.has(atom) for atom in rule.positives}) == 2


def work_out(
    rules: Sequence[Rule],
    mixed: Iterable[Rule],
    schema: Schema,
    known: Collection[Fact],
    close: Close,
    watched: Iterable[Pattern],
) -> Closure | None:
    """What follows from the known schema by the rules without negations; None if that is too much.

    It is asked how it matches the mixed rules, and the watched patterns.
    """
    asks = [(rule, _matching(f"plan:match{i}", rule, schema)) for i, rule in enumerate(mixed)]
    atoms = dict.fromkeys(pattern.atom for pattern in watched)
    looks = [_look(f"plan:settled{i}", atom) for i, atom in enumerate(atoms)]
    given = [_look(f"plan:given{i}", head) for i, head in enumerate(_static_heads(asks))]
    questions = [*(ask for _, ask in asks), *looks]
    positive = [rule for rule in rules if not rule.negations]
    rows = close([*positive, *questions], known, [_relation(rule) for rule in questions])
    # What a form could conclude must not be left to that very form: to rules about schema alone.
    pure = [rule for rule in positive if all(schema.has(atom) for atom in rule.positives)]
    said = close([*pure, *given], known, [_relation(rule) for rule in given]) if given else {}
    if rows is None or said is None:
        return None
    return Closure(asks, rows, _answers(looks, rows), _answers(given, said))


def specialise(program: Program, schema: Schema, closure: Closure) -> Forms:
    """The forms of the rules that were asked about."""
    forms = {
        id(rule): list(_forms(rule, schema, ask, closure))
        for rule, ask in closure.asks
        if len(closure.rows[_relation(ask)]) <= MOST_FORMS
    }
    forms, unfolded = unfold(program, forms, MOST_FORMS)
    kept = reduced([form for each in forms.values() for form in each])
    return Forms(
        {key: [form for form in each if id(form) in kept] for key, each in forms.items()}, unfolded
    )


def _relation(rule: Rule) -> str:
    return rule.heads[0].relation


def _look(relation: str, atom: Atom) -> Rule:
    """The rule that finds out which facts match an atom."""
    return Rule(relation, (Atom(relation, atom.arguments),), (atom,))


def _matching(relation: str, rule: Rule, schema: Schema) -> Rule:
    """The rule that finds out how the schema atoms of a rule match."""
    atoms = [atom for atom in rule.positives if schema.has(atom)]
    static = tuple(dict.fromkeys(variable for atom in atoms for variable in atom.variables()))
    tests = [guard for guard in rule.guards if is_test(guard) and variables(guard) <= set(static)]
    return Rule(relation, (Atom(relation, static),), (*atoms, *tests), rule.origin)


def _answers(looks: Iterable[Rule], rows: Rows) -> dict[Fact, None]:
    return {
        Fact(look.positives[0].relation, terms): None
        for look in looks
        for terms in rows[_relation(look)]
    }


def _static_heads(asks: Iterable[tuple[Rule, Rule]]) -> Iterator[Atom]:
    """The heads that speak of nothing but schema; what they conclude may be known already."""
    for rule, ask in asks:
        static = set(ask.heads[0].variables())
        yield from (head for head in rule.heads if static.issuperset(head.variables()))


def _forms(rule: Rule, schema: Schema, ask: Rule, closure: Closure) -> Iterator[Rule]:
    """The forms of a rule, one for each match and head, but those that say nothing new.

    What the schema atoms are tested for was tested by the question.
    """
    rest = [part for part in rule.body if part not in ask.body]
    about_schema = [schema.has(atom) for atom in rule.positives]
    static = tuple(ask.heads[0].variables())
    seen: set[tuple[Atom, tuple[BodyPart, ...]]] = set()
    for terms in closure.rows[_relation(ask)]:
        found: Substitution = dict(zip(static, terms, strict=True))
        body = tuple([substitute_part(part, found) for part in rest])
        premises = None
        for head in rule.heads:
            conclusion = substitute(head, found)
            if conclusion in body or (conclusion, body) in seen or _is(conclusion, closure.given):
                continue
            seen.add((conclusion, body))
            premises = premises or _premises(rule, about_schema, found)
            lineage = Lineage(rule, conclusion, premises)
            yield Rule(rule.name, (conclusion,), body, rule.origin, lineage)


def _is(atom: Atom, given: Container[Fact]) -> bool:
    return not any(atom.variables()) and to_fact(atom) in given


def _premises(
    rule: Rule, about_schema: Sequence[bool], found: Substitution
) -> tuple[int | Fact, ...]:
    """For each positive atom, the schema fact that it is, or its place among the other ones."""
    data = count()
    return tuple(
        [
            to_fact(substitute(atom, found)) if is_schema else next(data)
            for atom, is_schema in zip(rule.positives, about_schema, strict=True)
        ]
    )
