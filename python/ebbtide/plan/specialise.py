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

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ebbtide.plan.pattern import Pattern, is_test, variables
from ebbtide.plan.redundancy import reduced
from ebbtide.plan.schema import Schema
from ebbtide.plan.unfold import unfold
from ebbtide.plan.unify import Substitution, substitute, substitute_part, to_fact
from ebbtide.program import Atom, Fact, Lineage, Program, Rule
from ebbtide.terms import Term

#: Answers, for the closure of facts under rules, with the terms of the facts of some relations; or
#: with None, if the closure is too large.
Close: TypeAlias = Callable[
    [Sequence[Rule], Iterable[Fact], Sequence[str]],
    Mapping[str, Sequence[tuple[Term, ...]]] | None,
]

#: A rule with more forms than this stays as it is.
MOST_FORMS: Final = 1_000


@dataclass(frozen=True)
class Forms:
    """What the rules of a program become for a known schema."""

    #: The forms of each specialised rule, by the rule's id; helpers that were unfolded have none.
    of: Mapping[int, Sequence[Rule]]
    #: The ids of the specialised rules whose helpers were unfolded.
    unfolded: frozenset[int]
    #: What follows from the known schema, as far as it matches the patterns that were asked for.
    settled: tuple[Fact, ...]


def is_mixed(rule: Rule, schema: Schema) -> bool:
    """Whether a rule joins schema with data."""
    return len({schema.has(atom) for atom in rule.positives}) == 2


def specialise(
    program: Program,
    schema: Schema,
    known: Iterable[Fact],
    close: Close,
    watched: Iterable[Pattern],
    most: int = MOST_FORMS,
) -> Forms | None:
    """The forms of the mixed rules, and what is settled of the watched patterns.

    None if too much follows from the known schema.
    """
    mixed = [rule for rule in program.rules if is_mixed(rule, schema)]
    asks = [_matching(f"plan:match{i}", rule, schema) for i, rule in enumerate(mixed)]
    looks = [
        Rule("plan:settled", (Atom(f"plan:settled{i}", each.atom.arguments),), (each.atom,))
        for i, each in enumerate(watched)
    ]
    given = [
        Rule("plan:given", (Atom(f"plan:given{i}", head.arguments),), (head,))
        for i, head in enumerate(_static_heads(mixed, asks))
    ]
    positive = [rule for rule in program.rules if not rule.negations]
    questions = [*asks, *looks, *given]
    rows = close([*positive, *questions], known, [_relation(rule) for rule in questions])
    if rows is None:
        return None

    def answers(looks: Iterable[Rule]) -> dict[Fact, None]:
        return {
            Fact(look.positives[0].relation, terms): None
            for look in looks
            for terms in rows[_relation(look)]
        }

    is_given = answers(given)
    forms = {
        id(rule): list(_forms(rule, schema, ask, rows[_relation(ask)], is_given))
        for rule, ask in zip(mixed, asks, strict=True)
        if len(rows[_relation(ask)]) <= most
    }
    forms, unfolded = unfold(program, forms, most)
    kept = reduced([form for each in forms.values() for form in each])
    return Forms(
        {key: [form for form in each if id(form) in kept] for key, each in forms.items()},
        unfolded,
        tuple(answers(looks)),
    )


def _relation(rule: Rule) -> str:
    return rule.heads[0].relation


def _matching(relation: str, rule: Rule, schema: Schema) -> Rule:
    """The rule that finds out how the schema atoms of a rule match."""
    atoms = [atom for atom in rule.positives if schema.has(atom)]
    static = tuple(dict.fromkeys(variable for atom in atoms for variable in atom.variables()))
    tests = [guard for guard in rule.guards if is_test(guard) and variables(guard) <= set(static)]
    return Rule("plan:match", (Atom(relation, static),), (*atoms, *tests), rule.origin)


def _static_heads(mixed: Iterable[Rule], asks: Iterable[Rule]) -> Iterator[Atom]:
    """The heads that speak of nothing but schema; what they conclude may be known already."""
    for rule, ask in zip(mixed, asks, strict=True):
        static = set(ask.heads[0].variables())
        yield from (head for head in rule.heads if static.issuperset(head.variables()))


def _forms(
    rule: Rule,
    schema: Schema,
    ask: Rule,
    rows: Iterable[tuple[Term, ...]],
    given: Container[Fact],
) -> Iterator[Rule]:
    """The forms of a rule, one for each match and head, but those that say nothing new.

    What the schema atoms are tested for was tested by the question.
    """
    rest = [part for part in rule.body if part not in ask.body]
    seen: set[tuple[Atom, tuple[object, ...]]] = set()
    for terms in rows:
        found: Substitution = dict(zip(ask.heads[0].variables(), terms, strict=True))
        body = tuple(substitute_part(part, found) for part in rest)
        premises = _premises(rule, schema, found)
        for head in rule.heads:
            conclusion = substitute(head, found)
            if conclusion in body or (conclusion, body) in seen or _is(conclusion, given):
                continue
            seen.add((conclusion, body))
            lineage = Lineage(rule, conclusion, premises)
            yield Rule(rule.name, (conclusion,), body, rule.origin, lineage)


def _is(atom: Atom, given: Container[Fact]) -> bool:
    return not any(atom.variables()) and to_fact(atom) in given


def _premises(rule: Rule, schema: Schema, found: Substitution) -> tuple[int | Fact, ...]:
    """For each positive atom, the schema fact that it is, or its place among the other ones."""
    premises: list[int | Fact] = []
    data = 0
    for atom in rule.positives:
        if schema.has(atom):
            premises.append(to_fact(substitute(atom, found)))
        else:
            premises.append(data)
            data += 1
    return tuple(premises)
