"""Why an atom of a LARS program holds: a tree of extended atoms with their times.

A node says an extended atom, until when it will hold if nothing happens, and for what reason: a
rule, the input at some time point, the background, or a run. Its premises say the same of what the
rule asked for, and of what an aggregate collects. Relations of time points are left out: the time
points themselves are said.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeAlias, cast

from ebbtide.engines.derivation import Node, applied
from ebbtide.languages.lars.formula import (
    BodyPart,
    CountWindow,
    Denied,
    Extended,
    LarsProgram,
    Mode,
    TimeWindow,
    TumblingWindow,
    bound,
    show_part,
)
from ebbtide.languages.lars.groups import group_places
from ebbtide.languages.lars.lowered import (
    BODY,
    EVER,
    MEMBERS,
    PAD,
    Counted,
    Lowered,
    Meaning,
    Result,
)
from ebbtide.languages.lars.printing import show_argument, show_fact, show_term
from ebbtide.program import TRIPLE, Argument, Atom, Fact, Variable
from ebbtide.terms import Term, to_python, to_term
from ebbtide.time import FOREVER, Instant, show_until

BACKGROUND: Final = "background"
#: So many of the tuples that an aggregate collects are explained; the others are counted.
MOST_MEMBERS: Final = 20


@dataclass(frozen=True)
class Explanation:
    """Why an extended atom holds."""

    text: str
    until: Instant
    reason: str
    premises: tuple[Explanation, ...] = ()
    absent: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines: list[str] = []
        waiting: list[tuple[int, Explanation | str]] = [(0, self)]
        shown: set[int] = set()
        while waiting:
            depth, node = waiting.pop()
            if isinstance(node, str):
                lines.append(f"{'  ' * depth}{node}")
                continue
            again = bool(node.premises) and id(node) in shown
            lines.append(f"{'  ' * depth}{node._line()}{', as above' if again else ''}")
            if not again:
                shown.add(id(node))
                below: tuple[Explanation | str, ...] = (*node.premises, *node.absent)
                waiting.extend((depth + 1, each) for each in reversed(below))
        return "\n".join(lines)

    def _line(self) -> str:
        until = "" if self.until == FOREVER else f" until {show_until(self.until)}"
        return f"{self.text}{until}: {self.reason}"


@dataclass(frozen=True)
class Times:
    """Time points from `start` to `now`, and those of what count windows and panes hold."""

    start: Instant
    step: int
    tick: int | None
    now: Instant
    counted_at: Callable[[Fact], list[Instant]]
    #: None where that is too long ago, or a tick broke off since: then it is not known.
    entered_at: Callable[[Fact], Instant | None]

    def first(self, window: str) -> Instant | None:
        """The first time point of a time or tumbling window; None of a count window."""
        if window == EVER:
            return self.start
        word, _, size = window.rpartition(" ")
        if word == "tumbling":
            into = self.now % (int(size) * self.step)
            first = self.now - into // self.step * self.step
        elif window.isdecimal():
            first = self.now - int(window) * self.step
        else:
            return None
        return max(first, self.start)

    def has(self, point: Term, first: Instant | None) -> bool:
        """Whether a term is a time point from a first one, if it is known, up to now."""
        value = to_python(point)
        if type(value) is not int or to_term(value) != point:
            return False
        first = self.start if first is None else first
        return first <= value <= self.now and (value - self.start) % self.step == 0

    def stated(self, fact: Fact, window: str, until: Instant) -> str:
        """When a fact of a window was stated: last, or all times that it counts.

        In a pane, and of all time points, first; a range, if that is not known.
        """
        first = self.first(window)
        if first is None:
            return f" at {', '.join(map(str, self.counted_at(fact)))}"
        if until == FOREVER and window != EVER:
            return ""
        if window.isdecimal():
            return f" at {until - (int(window) + 1) * self.step}"
        entered = self.entered_at(fact)
        if entered is not None:
            return f" at {entered}"
        return f" at a time point from {first} to {self.now}"


class Derivations(Protocol):
    """What knows how facts of the lowered program were derived."""

    def derivation(self, fact: Fact) -> Sequence[Node]:
        """How a fact that holds was derived, the fact itself first."""

    def facts_of(self, relation: str) -> Iterable[Fact]:
        """The facts of a relation."""


#: An explanation on its way: it asks for those of its premises, so that no proof is too deep.
Step: TypeAlias = Generator["Step", Explanation, Explanation]


def _worked_out(step: Step) -> Explanation:
    """The explanation that a step comes to."""
    waiting = [step]
    found: Any = None
    while waiting:
        try:
            waiting.append(waiting[-1].send(found))
            found = None
        except StopIteration as end:
            waiting.pop()
            found = end.value
    return cast(Explanation, found)


class Explainer:
    """Turns a derivation of the lowered program into an explanation of the program as written."""

    def __init__(
        self,
        program: LarsProgram,
        lowered: Lowered,
        times: Times,
        derivations: Derivations,
        nodes: Sequence[Node],
    ) -> None:
        self._program = program
        self._arities = {TRIPLE: 3, **program.arities()}
        self._rules = {rule.name: rule for rule in program.rules}
        self._meanings = lowered.meanings
        self._copies = lowered.copies
        self._results = lowered.results
        self._boxes = lowered.boxes
        self._times = times
        self._background = frozenset(program.background)
        self._derivations = derivations
        self._nodes = nodes
        #: The explanations of results of aggregates, in whatever derivation they are.
        self._collections: dict[Fact, Explanation] = {}
        #: The explanations of nodes, as they are written: what is shared is worked out once.
        self._known: dict[tuple[int, Extended | None], Explanation] = {}

    def says(self, fact: Fact) -> str | None:
        """The extended atom or the result that a fact of the lowered program stands for, if any."""
        is_said = fact.relation in self._results or self._meaning(fact).kind not in (
            "clock",
            "other",
        )
        return self._said(Node(fact, FOREVER, None, ()), None)[0] if is_said else None

    def conclusion(self, fact: Fact) -> Explanation:
        """The explanation of an atom that holds now, given the derivation of what says it."""
        return _worked_out(self._conclusion(fact, 0))

    def present(self, fact: Fact) -> Explanation:
        """The explanation of an atom, given the derivation of its conclusion for now."""
        until = min(self._nodes[0].until, self._times.now + self._times.step)
        concluded = _worked_out(self._explain(0, None))
        return Explanation(self._atom(fact), until, "because", (concluded,))

    def _conclusion(self, fact: Fact, position: int) -> Step:
        """The explanation of an atom that holds now.

        A copy has no relation of its own: its node is that of the atom it copies.
        """
        copied = self._copies.get(fact.relation)
        if copied is None:
            return (yield self._explain(position, None))
        premise = yield self._premise(position, copied.positives[0])
        reason = f"by {copied.name} ({copied.origin})"
        return Explanation(self._atom(fact), self._nodes[position].until, reason, (premise,))

    def _explain(self, position: int, part: Extended | None) -> Step:
        """The explanation of a node of the derivation; `part` is how the atom is written."""
        if not self._meaning(self._nodes[position].fact).window:
            part = None
        known = self._known.get((position, part))
        if known is None:
            known = yield self._explain_anew(position, part)
            self._known[position, part] = known
        return known

    def _explain_anew(self, position: int, part: Extended | None) -> Step:
        node = self._nodes[position]
        text, stated = self._said(node, part)
        if node.rule is None:
            if node.fact.relation in self._results:
                return (yield self._collection(node, text, stated))
            return Explanation(text, node.until, stated)
        if node.fact.relation in self._boxes:
            # Its rules count; the time points say more.
            return Explanation(text, node.until, stated)
        name = node.rule.name.removesuffix(BODY)
        order, binding = self._applied(node, name)
        rule = self._rules.get(name)
        if rule is None:
            premises = yield from self._premises(order, [part] * len(order))
            if len(premises) == 1 and premises[0].text == text:
                # The same by another relation, which nobody wrote.
                return replace(premises[0], until=node.until)
            if len(premises) == 1 and premises[0].reason == BACKGROUND:
                return Explanation(text, node.until, BACKGROUND)
            return Explanation(text, node.until, "because", premises)
        premises = yield from self._premises(order, [*rule.positives, *(None,) * len(order)])
        reason = f"by {rule.name} ({rule.origin})"
        asked = zip(rule.denied, node.rule.negations, strict=False)
        absent = tuple(self._absent(part, of.atom.relation, binding) for part, of in asked)
        return Explanation(text, node.until, reason, premises, absent)

    def _applied(self, node: Node, name: str) -> tuple[Sequence[int], Mapping[Variable, Term]]:
        """The premises of a rule as it is written, and what its variables stand for."""
        order, binding = applied(node, self._nodes)
        first = self._nodes[order[0]] if order else None
        if first is not None and first.fact.relation == name + BODY:
            # The positive part of the body stands on its own: what a function yields is denied.
            order, more = applied(first, self._nodes)
            binding = {**more, **binding}
        return order, binding

    def _collection(self, node: Node, text: str, reason: str) -> Step:
        """The explanation of the result of an aggregate, by what it collects."""
        known = self._collections.get(node.fact)
        if known is None:
            members = self._members(node.fact)
            premises: dict[tuple[str, str], Explanation] = {}
            absent: dict[str, None] = {}
            for member in members[:MOST_MEMBERS]:
                of_member = copy(self)
                of_member._nodes = self._derivations.derivation(member)
                of_member._known = {}
                result = self._results[node.fact.relation]
                for premise in (yield from of_member._member(result, absent)):
                    premises[premise.text, premise.reason] = premise
            if len(members) > MOST_MEMBERS:
                absent[f"and {len(members) - MOST_MEMBERS:,} more like these"] = None
            found = tuple(premises.values())
            known = Explanation(text, node.until, reason, found, tuple(absent))
            self._collections[node.fact] = known
        return known

    def _members(self, result: Fact) -> list[Fact]:
        """What a result was worked out from; of min and max, what has that value."""
        *group, value = result.terms
        found = [
            fact
            for fact in self._derivations.facts_of(result.relation + MEMBERS)
            if fact.terms[: len(group)] == tuple(group)
        ]
        if self._results[result.relation].part.function in ("min", "max"):
            found = [fact for fact in found if fact.terms[len(group)] == value]
        return sorted(found, key=lambda fact: [term.text for term in fact.terms])

    def _member(
        self, result: Result, absent: dict[str, None]
    ) -> Generator[Step, Explanation, tuple[Explanation, ...]]:
        """The explanations of what must hold for a tuple, this derivation's, to be collected."""
        node = self._nodes[0]
        order, binding = self._applied(node, node.fact.relation)
        parts = result.part.parts
        positives = [part for part in parts if isinstance(part, Extended)]
        assert node.rule is not None, "a rule collects"
        denied = [part for part in parts if isinstance(part, Denied)]
        for part, of in zip(denied, node.rule.negations, strict=True):
            absent[self._absent(part, of.atom.relation, binding)] = None
        return (yield from self._premises(order, positives))

    def _absent(self, denied: Denied, relation: str, binding: Mapping[Variable, Term]) -> str:
        """What is denied, and at which time points there is none; the relation says the atom."""
        part = bound(denied.part, binding)
        assert isinstance(part, Extended), "what is bound stays what it is"
        now, first = self._times.now, self._first(denied.part, part.atom, relation)
        points = "of the window" if first is None else f"from {first} to {now}"
        is_there = True
        if part.at is not None and not isinstance(part.at, Variable):
            is_there = self._times.has(part.at, first)
            at = show_term(part.at)
            where = f"not at {at}" if is_there else f"{at} is no time point {points}"
        elif part.mode is Mode.NOW or first == now:
            where = f"not at {now}"
        elif part.mode is Mode.ALWAYS:
            where = f"not at every time point {points}"
        else:
            where = f"at no time point {points}"
        if isinstance(part.window, CountWindow) and is_there:
            # At its first time point there may be others, which it does not count any more.
            where += f" among the last {part.window.size}"
        return f"not {self._part(part)}: {where}"

    def _first(self, part: Extended, atom: Atom, relation: str) -> Instant | None:
        """The first time point of the window of an extended atom; None if that is not known.

        `atom` is that of the part with the terms of its variables.
        """
        match part.window:
            case TimeWindow(span):
                return self._times.first(str(span.points(self._times.tick)))
            case TumblingWindow(span):
                return self._times.first(f"tumbling {span.points(self._times.tick)}")
            case CountWindow(size) as window:
                counted = Counted(relation, group_places(part.atom, window), size)
                return self._first_counted(self._boxes.get(relation, counted), atom.arguments)
        return self._times.start

    def _first_counted(self, counted: Counted, arguments: Sequence[Argument]) -> Instant | None:
        """The first time point of the count window of an atom; None if its group is any."""
        group = [arguments[place] for place in counted.places]
        if any(isinstance(term, Variable) for term in group):
            return None
        # Where the time point of a fact is, if it has one.
        column = {"at": 0, "tally at": 1}.get(self._meanings[counted.relation].kind)
        shift = 0 if column is None else 1
        found: list[Instant] = []
        for fact in self._derivations.facts_of(counted.relation):
            if [fact.terms[place + shift] for place in counted.places] != group:
                continue
            if column is None:
                found += self._times.counted_at(fact)
            else:
                found.append(cast(Instant, to_python(fact.terms[column])))
        return self._times.start if len(found) < counted.size else min(found)

    def _premises(
        self, order: Sequence[int], parts: Sequence[Extended | None]
    ) -> Generator[Step, Explanation, tuple[Explanation, ...]]:
        """The explanations of premises; time points are left out, the premises say them."""
        found = []
        for position, part in zip(order, parts, strict=False):
            if self._meaning(self._nodes[position].fact).kind != "clock":
                found.append((yield self._premise(position, part)))
        return tuple(found)

    def _premise(self, position: int, part: Extended | None) -> Step:
        """The explanation of a premise, as it is written."""
        fact = self._nodes[position].fact
        if part is not None and part.atom.relation != self._meaning(fact).predicate:
            if part.atom.relation in self._copies:
                return (yield self._conclusion(Fact(part.atom.relation, fact.terms), position))
            part = None
        return (yield self._explain(position, part))

    def _meaning(self, fact: Fact) -> Meaning:
        return self._meanings.get(fact.relation, Meaning("other", fact.relation))

    def _said(self, node: Node, part: Extended | None) -> tuple[str, str]:
        """The extended atom that a fact stands for, and why it holds if it is stated."""
        meaning = self._meaning(node.fact)
        terms = node.fact.terms
        window = f" in [{meaning.window}]" if meaning.window else ""
        if part is not None and meaning.window:
            window = part.where(self._program.prefixes)
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
                box = self._boxes.get(node.fact.relation)
                if box is not None and atom in self._background:
                    return f"always {self._atom(atom)}{window}", BACKGROUND
                first = (
                    self._times.first(meaning.window)
                    if box is None
                    else self._first_counted(box, terms)
                )
                points = f"from {first} to {self._times.now}"
                return f"always {self._atom(atom)}{window}", f"at every time point {points}"
            case "in":
                atom = Fact(meaning.predicate, terms)
                at = self._times.stated(node.fact, meaning.window, node.until)
                return f"{self._atom(atom)}{window}", self._input(atom, at)
            case "now":
                atom = Fact(meaning.predicate, terms)
                return self._atom(atom), self._input(atom, f" at {self._times.now}")
            case "known":
                return self._atom(Fact(meaning.predicate, terms)), BACKGROUND
        result = self._results.get(node.fact.relation)
        text = str(node.fact) if result is None else self._collected(result, terms)
        return text, "worked out from the atoms that hold"

    def _counted(self, predicate: Term, padded: tuple[Term, ...]) -> Fact:
        """The atom that a tally of all predicates has as its predicate's name and padded terms."""
        name = str(to_python(predicate))
        arity = self._arities.get(name)
        if arity is None:
            # A predicate that the program does not know is counted all the same.
            arity = max((place for place, term in enumerate(padded, 1) if term != PAD), default=0)
        return Fact(name, padded[:arity])

    def _collected(self, result: Result, terms: tuple[Term, ...]) -> str:
        """An aggregate with the terms of its group and its result."""
        of_group = bound(result.part, dict(zip(result.group, terms[:-1], strict=True)))
        collected = self._part(of_group).removeprefix(show_argument(result.part.result))
        return f"{show_term(terms[-1])}{collected}"

    def _part(self, part: BodyPart) -> str:
        return show_part(part, self._program.prefixes)

    def _atom(self, fact: Fact) -> str:
        return show_fact(fact, self._program.prefixes)

    def _input(self, atom: Fact, at: str) -> str:
        return BACKGROUND if atom in self._background else f"input{at}"
