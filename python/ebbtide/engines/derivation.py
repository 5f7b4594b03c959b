"""Derivations as the kernel tells them, and how they become proofs.

A derivation is a list of nodes, the fact in question first: a fact, until when it holds, the rule
that concludes it and the positions of its premises, in the kernel's order of joining.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ebbtide.engines.proof import Proof
from ebbtide.engines.reference.closure import Binding, ground, guarded, match
from ebbtide.program import Fact, Rule, Variable
from ebbtide.terms import Term
from ebbtide.time import Instant


class Node(NamedTuple):
    """A fact of a derivation; without a rule it is stated."""

    fact: Fact
    until: Instant
    rule: Rule | None
    premises: Sequence[int]


def prove(nodes: Sequence[Node], make: Callable[[Node, Sequence[Proof]], Proof]) -> Proof:
    """The proof of the first node.

    `make` gets a node and the proofs of its premises, in the order of its rule's positive atoms.
    """
    proofs: dict[int, Proof] = {}
    waiting = [0]
    while waiting:
        node = nodes[waiting[-1]]
        missing = [premise for premise in node.premises if premise not in proofs]
        if missing:
            waiting += missing
            continue
        order, _ = applied(node, nodes)
        proofs[waiting.pop()] = make(node, [proofs[premise] for premise in order])
    return proofs[0]


def as_it_is(node: Node, premises: Sequence[Proof]) -> Proof:
    """The proof that a node is, by its own rule."""
    rule = node.rule
    if rule is None:
        return Proof(node.fact, node.until)
    absent = tuple(str(negation.atom) for negation in rule.negations)
    return Proof(node.fact, node.until, rule.name, rule.origin, tuple(premises), absent)


def applied(node: Node, nodes: Sequence[Node]) -> tuple[Sequence[int], Mapping[Variable, Term]]:
    """The premises in the order of the rule's positive atoms, and what its variables stand for.

    The kernel joins in its own order. Several orders may match the atoms; only one that yields the
    fact is a proof of it.
    """
    rule = node.rule
    if rule is None:
        return (), {}
    atoms = rule.positives

    def place(
        position: int, left: Sequence[int], binding: Binding
    ) -> tuple[tuple[int, ...], Binding] | None:
        if position == len(atoms):
            found = guarded(rule.name, rule.guards, binding)
            if found is None or node.fact not in [ground(head, found) for head in rule.heads]:
                return None
            return (), found
        for number, premise in enumerate(left):
            fact = nodes[premise].fact
            if fact.relation != atoms[position].relation:
                continue
            bound = match(atoms[position], fact.terms, binding)
            if bound is not None:
                others = (*left[:number], *left[number + 1 :])
                rest = place(position + 1, others, bound)
                if rest is not None:
                    return (premise, *rest[0]), rest[1]
        return None

    return place(0, node.premises, {}) or (node.premises, {})
