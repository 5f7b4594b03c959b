"""Proofs: why a fact holds, and until when.

A proof is a tree. A leaf is a stated fact; any other node is a conclusion of a rule, and its
premises prove the facts that matched the rule's positive atoms, in the order of the rule's text.
`absent` names the atoms under `not` that nothing matched. Printed, a fact about a list rests on the
triples of cells, without the rules that lists are lowered to.

Invariant: a conclusion holds until the minimum of its premises (`FOREVER` if it has none), and
the node follows from its premises by its rule alone. `check` replays this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ebbtide.engines.reference.closure import Binding, ground, guarded, match
from ebbtide.program import Fact, Origin, Program, Rule
from ebbtide.program.lists import MADE_FOR_LISTS
from ebbtide.time import FOREVER, Instant, show_until


class ProofError(ValueError):
    """A proof that does not prove what it says."""


@dataclass(frozen=True)
class Proof:
    """Why one fact holds.

    >>> print(Proof(Fact.of("isIn", "<http://e/a>", "<http://e/b>"), until=11))
    isIn(<http://e/a>, <http://e/b>) until 11: stated
    """

    fact: Fact
    until: Instant
    rule: str | None = None
    origin: Origin | None = None
    premises: tuple[Proof, ...] = ()
    absent: tuple[str, ...] = ()

    def walk(self) -> Iterator[tuple[int, Proof]]:
        """Every node with its depth, a conclusion before its premises."""
        waiting = [(0, self)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            waiting.extend((depth + 1, premise) for premise in reversed(node.premises))

    def check(self, program: Program, facts: Collection[Fact] | None = None) -> None:
        """Replay the proof; `ProofError` names the first node that does not follow.

        With the facts of the materialisation at hand, every fact of the proof must be among them
        and every atom under `not` must match none.
        """
        checked: set[int] = set()
        for _, node in self.walk():
            if id(node) not in checked:
                checked.add(id(node))
                _check_node(node, program, facts)

    def __str__(self) -> str:
        lines: list[str] = []
        waiting: list[tuple[int, Proof | str]] = [(0, self)]
        shown: set[Fact] = set()
        while waiting:
            depth, node = waiting.pop()
            if isinstance(node, str):
                lines.append(f"{'  ' * depth}{node}")
                continue
            again = node.rule is not None and node.fact in shown
            lines.append(f"{'  ' * depth}{node._line()}{', as above' if again else ''}")
            if not again:
                shown.add(node.fact)
                waiting.extend((depth + 1, f"not {atom}") for atom in reversed(node.absent))
                waiting.extend((depth + 1, premise) for premise in reversed(node._shown()))
        return "\n".join(lines)

    def _shown(self) -> Sequence[Proof]:
        """What is shown below it: the premises; of a fact about a list, the triples of its cells.

        How the cells of lists are walked along is nothing that anybody wrote.
        """
        if not self._is_about_a_list:
            return self.premises
        found: list[Proof] = []
        met: set[Fact] = set()
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.fact in met:
                continue
            met.add(node.fact)
            if node._is_about_a_list:
                waiting.extend(reversed(node.premises))
            else:
                found.append(node)
        return found

    @property
    def _is_about_a_list(self) -> bool:
        return self.rule is not None and self.rule.startswith(MADE_FOR_LISTS)

    def _line(self) -> str:
        if self._is_about_a_list:
            return f"{self.fact} until {show_until(self.until)}: by the cells of a list"
        by = "stated" if self.rule is None else f"by {self.rule}"
        place = f" ({self.origin})" if self.origin is not None else ""
        return f"{self.fact} until {show_until(self.until)}: {by}{place}"


def _check_node(node: Proof, program: Program, facts: Collection[Fact] | None) -> None:
    if facts is not None and node.fact not in facts:
        raise ProofError(f"{node.fact} does not hold")
    if node.rule is None:
        if node.premises or node.absent:
            raise ProofError(f"{node.fact} is said to be stated, but it has premises")
        return
    until = min((premise.until for premise in node.premises), default=FOREVER)
    if node.until != until:
        raise ProofError(
            f"{node.fact} is said to hold until {show_until(node.until)}, "
            f"but its premises hold until {show_until(until)}"
        )
    rules = [
        rule
        for rule in program.rules
        if rule.name == node.rule and node.origin in (None, rule.origin)
    ]
    if not any(_follows(node, rule, facts) for rule in rules):
        why = f"the rule {node.rule} does not yield it" if rules else f"no rule is {node.rule}"
        raise ProofError(f"{node.fact} does not follow from its premises: {why}")


def _follows(node: Proof, rule: Rule, facts: Collection[Fact] | None) -> bool:
    """Whether the rule yields the node's fact from the facts of its premises."""
    if len(node.premises) != len(rule.positives) or len(node.absent) != len(rule.negations):
        return False
    binding: Binding | None = {}
    for atom, premise in zip(rule.positives, node.premises, strict=True):
        if binding is None or atom.relation != premise.fact.relation:
            return False
        binding = match(atom, premise.fact.terms, binding)
    binding = None if binding is None else guarded(rule.name, rule.guards, binding)
    if binding is None or node.fact not in [ground(head, binding) for head in rule.heads]:
        return False
    return not any(
        fact.relation == negation.atom.relation
        and match(negation.atom, fact.terms, binding) is not None
        for negation in rule.negations
        for fact in facts or ()
    )
