"""Why an atom of a LARS program holds: a tree of extended atoms with their times.

A node says an extended atom, until when it will hold if nothing happens, and for what reason: a
rule, the input at some time point, the background, or a run. Its premises say the same of what the
rule asked for. Relations of time points are left out: the time points themselves are said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ebbtide.engines.derivation import Node, applied
from ebbtide.languages.lars.formula import Extended, LarsProgram, Mode, bound
from ebbtide.languages.lars.lowered import BODY, Lowered, Meaning, Result
from ebbtide.languages.lars.printing import show_argument, show_fact, show_term
from ebbtide.program import Fact
from ebbtide.terms import Term, to_python
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


@dataclass(frozen=True)
class Times:
    """Time points from `start` to `now`, and those of what count windows and panes hold."""

    start: Instant
    step: int
    now: Instant
    counted_at: Callable[[Fact], list[Instant]]
    #: None where a tick broke off: then it is not known.
    entered_at: Callable[[Fact], Instant | None]

    def first(self, window: str) -> Instant | None:
        """The first time point of a time or tumbling window; None of a count window."""
        word, _, size = window.rpartition(" ")
        if word == "tumbling":
            first = self.now - self.now % (int(size) * self.step)
        elif window.isdecimal():
            first = self.now - int(window) * self.step
        else:
            return None
        return max(first, self.start)

    def stated(self, fact: Fact, window: str, until: Instant) -> str:
        """When a fact of a window was stated: last, or in a pane first; or all times it counts."""
        first = self.first(window)
        if first is None:
            return f" at {', '.join(map(str, self.counted_at(fact)))}"
        if until == FOREVER:
            return ""
        if window.isdecimal():
            return f" at {until - (int(window) + 1) * self.step}"
        entered = self.entered_at(fact)
        return f" at {first} or later" if entered is None else f" at {entered}"


class Explainer:
    """Turns derivations of the lowered program into explanations of the program as written."""

    def __init__(self, program: LarsProgram, lowered: Lowered, times: Times) -> None:
        self._program = program
        self._arities = program.arities()
        self._rules = {rule.name: rule for rule in program.rules}
        self._meanings = lowered.meanings
        self._copies = lowered.copies
        self._results = lowered.results
        self._times = times
        self._background = frozenset(program.background)

    def conclusion(
        self, fact: Fact, nodes: Sequence[Node], position: int = 0, part: Extended | None = None
    ) -> Explanation:
        """The explanation of an atom that holds now, given the derivation of what says it.

        A copy has no relation of its own: its node is that of the atom it copies.
        """
        copied = self._copies.get(fact.relation)
        if copied is None:
            return self._explain(nodes, position, part)
        (said,) = copied.positives
        premise = (
            self.conclusion(Fact(said.atom.relation, fact.terms), nodes, position, said)
            if said.mode is Mode.NOW
            else self._explain(nodes, position, said)
        )
        reason = f"by {copied.name} ({copied.origin})"
        return Explanation(self._atom(fact), nodes[position].until, reason, (premise,))

    def present(self, fact: Fact, nodes: Sequence[Node]) -> Explanation:
        """The explanation of an atom, given the derivation of its conclusion for now."""
        until = min(nodes[0].until, self._times.now + self._times.step)
        return Explanation(self._atom(fact), until, "because", (self._explain(nodes, 0),))

    def _explain(
        self, nodes: Sequence[Node], position: int, part: Extended | None = None
    ) -> Explanation:
        """The explanation of a node of a derivation; `part` is how the atom is written."""
        node = nodes[position]
        text, stated = self._said(node, part)
        if node.rule is None:
            return Explanation(text, node.until, stated)
        order, binding = applied(node, nodes)
        rule = self._rules.get(node.rule.name.removesuffix(BODY))
        if rule is None:
            found = (self._premise(nodes, premise, part) for premise in order)
            premises = tuple(filter(None, found))
            if len(premises) == 1 and premises[0].text == text:
                # The same by another relation, which nobody wrote.
                return replace(premises[0], until=node.until)
            return Explanation(text, node.until, "because", premises)
        first = nodes[order[0]] if order else None
        if first is not None and first.fact.relation == rule.name + BODY:
            # The positive part of the body stands on its own: what a function yields is denied.
            order, more = applied(first, nodes)
            binding = {**more, **binding}
        written = [*rule.positives, *(None,) * len(order)]
        found = (
            self._premise(nodes, premise, part)
            for premise, part in zip(order, written, strict=False)
        )
        premises = tuple(filter(None, found))
        reason = f"by {rule.name} ({rule.origin})"
        absent = tuple(str(bound(part, binding)) for part in rule.denied)
        return Explanation(text, node.until, reason, premises, absent)

    def _premise(
        self, nodes: Sequence[Node], position: int, part: Extended | None
    ) -> Explanation | None:
        """The explanation of a premise; None for time points, which the premises say themselves."""
        fact = nodes[position].fact
        meaning = self._meaning(fact)
        if meaning.kind == "clock":
            return None
        if part is not None and part.atom.relation != meaning.predicate:
            if part.atom.relation in self._copies:
                return self.conclusion(Fact(part.atom.relation, fact.terms), nodes, position)
            part = None
        return self._explain(nodes, position, part)

    def _meaning(self, fact: Fact) -> Meaning:
        return self._meanings.get(fact.relation, Meaning("other", fact.relation))

    def _said(self, node: Node, part: Extended | None) -> tuple[str, str]:
        """The extended atom that a fact stands for, and why it holds if it is stated."""
        meaning = self._meaning(node.fact)
        terms = node.fact.terms
        window = f" in [{meaning.window}]" if meaning.window else ""
        if part is not None and meaning.window:
            window = part.where
        match meaning.kind:
            case "at":
                atom = Fact(meaning.predicate, terms[1:])
                return f"@{show_term(terms[0])} {self._atom(atom)}{window}", self._input(atom, "")
            case "tally at":
                atom = self._counted(terms[0], terms[2:])
                return f"@{show_term(terms[1])} {self._atom(atom)}{window}", self._input(atom, "")
            case "tally":
                atom = self._counted(terms[0], terms[1:])
                at = self._times.stated(node.fact, meaning.window, node.until)
                return f"{self._atom(atom)}{window}", self._input(atom, at)
            case "always":
                atom = Fact(meaning.predicate, terms)
                first = self._times.first(meaning.window)
                points = "of the window" if first is None else f"from {first} to {self._times.now}"
                return f"always {self._atom(atom)}{window}", f"at every time point {points}"
            case "in":
                atom = Fact(meaning.predicate, terms)
                at = self._times.stated(node.fact, meaning.window, node.until)
                return f"{self._atom(atom)}{window}", self._input(atom, at)
            case "now":
                atom = Fact(meaning.predicate, terms)
                return self._atom(atom), self._input(atom, f" at {self._times.now}")
        result = self._results.get(node.fact.relation)
        text = str(node.fact) if result is None else _collected(result, terms)
        return text, "worked out from the atoms that hold"

    def _counted(self, predicate: Term, padded: tuple[Term, ...]) -> Fact:
        """The atom that a tally of all predicates has as its predicate's name and padded terms."""
        name = str(to_python(predicate))
        return Fact(name, padded[: self._arities[name]])

    def _atom(self, fact: Fact) -> str:
        return show_fact(fact, self._program.prefixes)

    def _input(self, atom: Fact, at: str) -> str:
        return "background" if atom in self._background else f"input{at}"


def _collected(result: Result, terms: tuple[Term, ...]) -> str:
    """An aggregate with the terms of its group and its result."""
    of_group = bound(result.part, dict(zip(result.group, terms[:-1], strict=True)))
    return f"{show_term(terms[-1])}{str(of_group).removeprefix(show_argument(result.part.result))}"
