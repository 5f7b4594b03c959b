"""A plan: the program that an engine runs in the place of the one that was written.

In: a program, and the facts of its background that speak of the schema. Out: a program, and the
facts it must be told beside those of its source, which then concludes the same facts of the
relations of the written one, the hidden ones aside, until the same instants.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ebbtide.plan.assemble import assemble, settled, watched
from ebbtide.plan.schema import MOST_FACTS, Schema
from ebbtide.plan.specialise import Close, is_mixed, specialise
from ebbtide.program import Fact, Program


@dataclass(frozen=True)
class Plan:
    """What runs, what it is told, and what it takes for granted."""

    program: Program
    #: Facts to state for ever. When one of the known facts is retracted, these are to be retracted
    #: as well, and `schema:retracted` is to be stated.
    settled: tuple[Fact, ...] = ()
    known: frozenset[Fact] = frozenset()


def can_be_planned(program: Program) -> bool:
    """Whether some rule joins schema with data."""
    schema = Schema.of(program)
    return any(is_mixed(rule, schema) for rule in program.rules)


def make_plan(program: Program, known: Collection[Fact], close: Close) -> Plan:
    """The plan for a program and the schema that is known of its background."""
    schema = Schema.of(program)
    schema = schema.without_large(program, known, MOST_FACTS)
    known = [fact for fact in known if schema.has(fact)]
    mixed = [rule for rule in program.rules if is_mixed(rule, schema)]
    if not (mixed and known):
        return Plan(program)
    forms = specialise(program, schema, known, close, watched(mixed, schema))
    if forms is None:
        return Plan(program)
    return Plan(assemble(program, schema, forms), settled(forms), frozenset(known))
