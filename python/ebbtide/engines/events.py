"""Events: what a tick found that is no answer, from the tick on that saw it until it is over.

    Inconsistency    the body of a rule that concludes `false` holds
    MalformedList    a list that some rule reads is no list

Inside a program an event is a fact of a relation for which `program.is_event` holds, kept true like
any other; here it gets its words. Nothing stops: the stream goes on, and the event ends when its
cause expires or is retracted. A rule that is symmetric in two variables tells of both orders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.engines.proof import Proof
from ebbtide.engines.reference.closure import ground, match
from ebbtide.program import Fact, Origin, Program, Rule
from ebbtide.program.reserved import INCONSISTENCY
from ebbtide.terms import Literal, Term
from ebbtide.time import Instant


@dataclass(frozen=True)
class Inconsistency:
    """A rule that concludes `false`, the facts that its positive atoms matched, and a proof.

    `since` is the tick that saw it first. While it holds, `until` is what is known now; of one that
    has ended, `until` is when it did. Only the native engine gives proofs.
    """

    rule: str
    origin: Origin
    facts: tuple[Fact, ...]
    since: Instant
    until: Instant
    proof: Proof | None = None

    def __str__(self) -> str:
        facts = ", ".join(map(str, self.facts))
        return f"inconsistent by {self.rule} ({self.origin}): {facts}"


@dataclass(frozen=True)
class MalformedList:
    """A list that some rule reads, the cell where it is malformed, and what is wrong there."""

    list: Term
    cell: Term
    reason: str
    since: Instant
    until: Instant

    def __str__(self) -> str:
        return f"the list {self.list} is malformed at {self.cell}: {self.reason}"


Event: TypeAlias = Inconsistency | MalformedList


def malformed_list(fact: Fact, since: Instant, until: Instant) -> MalformedList:
    """The event that a fact of `list:malformed` stands for."""
    head, cell, reason = fact.terms
    assert isinstance(reason, Literal)
    return MalformedList(head, cell, reason.lexical, since, until)


def inconsistency(
    fact: Fact,
    since: Instant,
    until: Instant,
    program: Program,
    proof: Proof | None,
    facts: Collection[Fact],
) -> Inconsistency:
    """The event that a fact of `inconsistency:NAME` stands for.

    Several rules may have one name. A proof knows which of them it was; without one it is the first
    whose body is among the facts that hold.
    """
    matches = _matches(fact, program)
    if proof is not None:
        place = proof.rule, proof.origin
        rule, body = next(each for each in matches if (each[0].name, each[0].origin) == place)
    else:
        rule, body = next(each for each in matches if all(one in facts for one in each[1]))
    name = fact.relation.removeprefix(INCONSISTENCY)
    return Inconsistency(name, rule.origin, body, since, until, proof)


def _matches(fact: Fact, program: Program) -> Iterator[tuple[Rule, tuple[Fact, ...]]]:
    """The rules that may have concluded the fact, each with its positive body."""
    for rule in program.rules:
        for head in rule.heads:
            if head.relation == fact.relation:
                binding = match(head, fact.terms, {})
                if binding is not None:
                    yield rule, tuple(ground(atom, binding) for atom in rule.positives)
