"""A plan: the program that an engine runs in the place of the one that was written.

It concludes the same facts of the relations of the written program, the hidden ones aside, until
the same instants; if something is wanted, that only. A verdict says what became of each rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ebbtide.program import Fact, Program, Rule


class Fate(StrEnum):
    """What becomes of a rule."""

    KEPT = "kept"
    #: It does nothing until schema comes that the plan was not made for.
    ASLEEP = "asleep"
    DROPPED = "dropped"


@dataclass(frozen=True)
class Verdict:
    """What became of a written rule, why, and the forms it has for the known schema.

    Without forms it runs, if it does, as it was written.
    """

    rule: Rule
    fate: Fate
    why: str
    forms: tuple[Rule, ...] | None = None


@dataclass(frozen=True)
class Plan:
    """What runs, what it is told, what it takes for granted, and how it came about."""

    program: Program
    #: Facts to state for ever. When one of the known facts is retracted, these are to be retracted
    #: as well, and `schema:retracted` is to be stated.
    settled: tuple[Fact, ...] = ()
    known: frozenset[Fact] = frozenset()
    verdicts: tuple[Verdict, ...] = ()


def as_written(program: Program, why: str) -> Plan:
    """The plan to run the rules as they are."""
    verdicts = (Verdict(rule, Fate.KEPT, f"as written: {why}") for rule in program.rules)
    return Plan(program, verdicts=tuple(verdicts))
