"""Why an atom of a LARS program holds: a tree of extended atoms with their times.

A node says an extended atom, until when it will hold if nothing happens, and for what reason: a
rule, the input at some time point, the background, or a run. Its premises say the same of what the
rule asked for. Relations of time points are left out: the time points themselves are said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.engines.derivation import Node
from ebbtide.languages.lars.formula import LarsProgram, LarsRule, Mode
from ebbtide.languages.lars.lowered import Lowered, Meaning
from ebbtide.languages.lars.printing import show_fact, show_term
from ebbtide.program import IN_PYTHON, Fact
from ebbtide.time import FOREVER, Instant, show_until


@dataclass(frozen=True)
class Explanation:
    """Why an extended atom holds."""

    text: str
    until: Instant
    reason: str
    premises: tuple[Explanation, ...] = ()
    absent: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> list[str]:
        until = "" if self.until == FOREVER else f" until {show_until(self.until)}"
        lines = [f"{'  ' * depth}{self.text}{until}: {self.reason}"]
        for premise in self.premises:
            lines += premise._lines(depth + 1)
        return lines + [f"{'  ' * (depth + 1)}{part}" for part in self.absent]


class Explainer:
    """Turns derivations of the lowered program into explanations of the program as written."""

    def __init__(self, program: LarsProgram, lowered: Lowered, step: int, now: Instant) -> None:
        self._program = program
        self._rules = {rule.name: rule for rule in program.rules}
        self._meanings = lowered.meanings
        self._copies = lowered.copies
        self._step = step
        self._now = now
        self._background = frozenset(program.background)

    def conclusion(self, fact: Fact, nodes: Sequence[Node]) -> Explanation:
        """The explanation of an atom, given the derivation of the fact that says it."""
        copied = self._copies.get(fact.relation)
        if copied is None:
            return self._explain(nodes, 0)
        said = Fact(copied.positives[0].atom.relation, fact.terms)
        premise = (
            self.conclusion(said, nodes)
            if copied.positives[0].mode is Mode.NOW
            else self._explain(nodes, 0)
        )
        reason = f"by {copied.name} ({copied.origin})"
        return Explanation(self._atom(fact), nodes[0].until, reason, (premise,))

    def present(self, fact: Fact, nodes: Sequence[Node]) -> Explanation:
        """The explanation of an atom, given the derivation of its conclusion for now."""
        until = min(nodes[0].until, self._now + self._step)
        return Explanation(self._atom(fact), until, "because", (self._explain(nodes, 0),))

    def _explain(self, nodes: Sequence[Node], position: int) -> Explanation:
        """The explanation of a node of a derivation."""
        node = nodes[position]
        text, stated = self._said(node)
        if node.rule is None:
            return Explanation(text, node.until, stated)
        premises = tuple(
            self._explain(nodes, premise)
            for premise in node.premises
            if self._meaning(nodes[premise].fact).kind != "clock"
        )
        if node.rule.origin == IN_PYTHON:
            return Explanation(text, node.until, "because", premises)
        rule = self._rules.get(node.rule.name)
        reason = f"by {node.rule.name} ({node.rule.origin})"
        return Explanation(text, node.until, reason, premises, _denied(rule))

    def _meaning(self, fact: Fact) -> Meaning:
        return self._meanings.get(fact.relation, Meaning("other", fact.relation))

    def _said(self, node: Node) -> tuple[str, str]:
        """The extended atom that a fact stands for, and why it holds if it is stated."""
        meaning = self._meaning(node.fact)
        terms = node.fact.terms
        window = f" in [{meaning.window}]" if meaning.window else ""
        match meaning.kind:
            case "at" | "tally at":
                terms = terms[1:] if meaning.kind == "tally at" else terms
                atom = Fact(meaning.predicate, terms[1 : meaning.arity + 1])
                return f"@{show_term(terms[0])} {self._atom(atom)}{window}", self._input(atom, "")
            case "tally":
                atom = Fact(meaning.predicate, terms[1 : meaning.arity + 1])
                return f"{self._atom(atom)}{window}", self._input(atom, "")
            case "always":
                atom = Fact(meaning.predicate, terms)
                return f"always {self._atom(atom)}{window}", "at every time point of the window"
            case "in":
                atom = Fact(meaning.predicate, terms)
                at = ""
                if meaning.window.isdecimal() and node.until != FOREVER:
                    at = f" at {node.until - (int(meaning.window) + 1) * self._step}"
                return f"{self._atom(atom)}{window}", self._input(atom, at)
            case "now":
                atom = Fact(meaning.predicate, terms)
                return self._atom(atom), self._input(atom, f" at {self._now}")
        return str(node.fact), "worked out from the atoms that hold"

    def _atom(self, fact: Fact) -> str:
        return show_fact(fact, self._program.prefixes)

    def _input(self, atom: Fact, at: str) -> str:
        return "background" if atom in self._background else f"input{at}"


def _denied(rule: LarsRule | None) -> tuple[str, ...]:
    return tuple(map(str, rule.denied)) if rule is not None else ()
