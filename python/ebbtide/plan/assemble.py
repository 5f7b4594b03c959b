"""Assembly: the program that runs, from the forms for the known schema and the rules as written.

    cax-sco: triple(?x, a, Person) :- triple(?x, a, Student), not schema:retracted().

    cax-sco: triple(?x, a, ?d) :- novel:triple(?c, subClassOf, ?d), triple(?x, a, ?c).
    novel:triple(?c, subClassOf, ?d) :- triple(?c, subClassOf, ?d),
                                        not settled:triple(?c, subClassOf, ?d).

`settled` is stated for what follows from the known schema. When a fact of the known schema is
retracted, `settled` is taken back and `schema:retracted` stated: then all schema is novel, and the
rules are as they were written. As long as nothing is novel, the rules that ask for it cost nothing.

Some rules sleep as they are written until something novel holds: those whose helpers were unfolded,
and those of which only some forms, or none, are needed for what is wanted.

    cls-int1: triple(?y, a, ?c) :- ..., _in(?y, ?l, ?i), schema:open().
    schema:open() :- novel:triple(?c, intersectionOf, ?l).

Why this is exact: a join of a written rule either meets nothing but settled schema, and then a form
makes it, or some of its schema facts are novel. `schema:open` holds at least as long as any novel
fact of the rules that sleep, so that a derivation with a novel fact in it ends no sooner than as
written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from ebbtide.plan.pattern import DIFFER, Pattern, tests
from ebbtide.plan.schema import Schema
from ebbtide.plan.specialise import Forms
from ebbtide.program import Atom, BodyPart, Fact, Guard, Lineage, Negation, Program, Rule

NOVEL: Final = "novel:"
SETTLED: Final = "settled:"
#: To be stated when a fact of the known schema is retracted.
RETRACTED: Final = Fact("schema:retracted", ())
#: Holds while some novel fact concerns the rules that sleep.
OPEN: Final = Atom("schema:open", ())


def is_novel(fact: Fact) -> bool:
    """Whether a fact only says that another one is novel."""
    return fact.relation.startswith(NOVEL)


def watched(rules: Iterable[Rule], schema: Schema) -> dict[Pattern, None]:
    """What the rules ask about the schema, each pattern once."""
    return {
        Pattern.of(atom, tests(rule)): None
        for rule in rules
        for atom in rule.positives
        if schema.has(atom)
    }


def assemble(
    program: Program,
    schema: Schema,
    forms: Forms,
    asleep: frozenset[int] = frozenset(),
    watching: Collection[Pattern] = (),
) -> Program:
    """The program that concludes what the given one does, once it is told what is settled.

    The rules with the ids in `asleep` are only needed while something novel holds, or not all of
    their forms are needed before. `watching` is what all the rules ask about the schema.
    """
    specialised = [rule for rule in program.rules if id(rule) in forms.of]
    sleeping = asleep | forms.unfolded
    unless = Negation(Atom(RETRACTED.relation, ()))
    rules: list[Rule] = []
    for rule in program.rules:
        rules += (
            Rule(form.name, form.heads, (*form.body, unless), form.origin, form.lineage)
            for form in forms.of.get(id(rule), ())
        )
        if id(rule) in sleeping:
            rules.append(_as_written(rule, (*rule.body, OPEN)))
        elif id(rule) in forms.of:
            rules += _novel_forms(rule, schema)
        else:
            rules.append(rule)
    others: dict[Pattern, None] = {}
    if asleep:
        opening = dict.fromkeys(watching)
    else:
        opening = watched((rule for rule in specialised if id(rule) in sleeping), schema)
        others = watched((rule for rule in specialised if id(rule) not in sleeping), schema)
    for pattern in opening | others:
        for guards in _lowered(pattern):
            novel, settled = _in(NOVEL, pattern.atom), _in(SETTLED, pattern.atom)
            body: tuple[BodyPart, ...] = (pattern.atom, *guards, Negation(settled))
            rules.append(Rule("schema:novel", (novel,), body))
            if pattern in opening:
                rules.append(Rule("schema:open", (OPEN,), (novel, *guards)))
    return program.rewritten(rules)


def _lowered(pattern: Pattern) -> list[list[Guard]]:
    """The tests of a pattern as an engine can ask them, one way or another.

    Things differ if they are not equal; values may be equal and differ.
    """
    written = sorted((test for test in pattern.tests if test.builtin != DIFFER), key=str)
    differ = sorted((test for test in pattern.tests if test.builtin == DIFFER), key=str)
    if not differ:
        return [written]
    pair = differ[0].arguments
    return [[*written, Guard("notEqual", pair)], [*written, Guard("isLiteral", pair[:1])]]


def settled_facts(assembled: Program, facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """What an assembled program must be told about the facts that are settled.

    It may not ask for all of them: rules with too many forms stay as they were written.
    """
    settled = (Fact(SETTLED + fact.relation, fact.terms) for fact in facts)
    return tuple(fact for fact in settled if fact.relation in assembled.relations)


def _novel_forms(rule: Rule, schema: Schema) -> Iterator[Rule]:
    """The rule, once for each of its schema atoms, which asks for what is novel."""
    for novel in rule.positives:
        if schema.has(novel):
            yield _as_written(
                rule, tuple(_in(NOVEL, novel) if part is novel else part for part in rule.body)
            )


def _as_written(rule: Rule, body: tuple[BodyPart, ...]) -> Rule:
    lineage = Lineage(rule, rule.heads[0], tuple(range(len(rule.positives))))
    return replace(rule, body=body, lineage=lineage)


def _in(prefix: str, atom: Atom) -> Atom:
    return replace(atom, relation=prefix + atom.relation)
