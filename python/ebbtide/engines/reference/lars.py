"""The answer stream of a LARS program, worked out to the letter of its definitions.

Nothing here is clever; it is what everything else that runs LARS is compared with. A stream is a
timeline and the atoms at each of its time points; a window is a smaller stream; an extended atom is
looked for in one. At a time point t the rules are applied to the input up to t until nothing new
follows, stratum by stratum. What follows for t, or by an @ for an earlier time point, is part of
the answer stream *at t* only: the next time point starts from the input again.

Readings of the paper (docs/semantics/lars.md): tuple windows select from the input; an atom of the
background holds at every time point; and if a head falls outside the timeline, nothing satisfies
it, so there is no answer stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ebbtide.engines.reference.closure import Binding, ground, guarded, match
from ebbtide.engines.reference.operators import aggregated
from ebbtide.languages.lars.analysis import group_of
from ebbtide.languages.lars.check import strata
from ebbtide.languages.lars.formula import (
    Collected,
    CountWindow,
    Denied,
    EverWindow,
    Extended,
    LarsProgram,
    LarsRule,
    Mode,
    TimeWindow,
    TumblingWindow,
)
from ebbtide.languages.lars.groups import group_places
from ebbtide.program import Aggregate, Atom, Fact, Guard, Variable
from ebbtide.terms import Term, to_python, to_term
from ebbtide.time import FOREVER, Instant

Atoms: TypeAlias = Mapping[Instant, Set[Fact]]
#: What a program concludes at a time point: for itself, and by @ for earlier ones.
Conclusions: TypeAlias = dict[Instant, set[Fact]]

_NOTHING: frozenset[Fact] = frozenset()


@dataclass(frozen=True)
class Stream:
    """Definition 1: the time points from `first` to `last`, `step` apart, and the atoms at each."""

    first: Instant
    last: Instant
    atoms: Atoms
    step: int = 1

    @property
    def timeline(self) -> range:
        """The time points."""
        return range(self.first, self.last + 1, self.step)

    def at(self, point: Instant) -> Set[Fact]:
        """The atoms at a time point."""
        return self.atoms.get(point, _NOTHING)

    def since(self, first: Instant) -> Stream:
        """The part from the first time point at or after an instant on."""
        later = max(0, first - self.first)
        first = self.first + -(-later // self.step) * self.step
        kept = {point: atoms for point, atoms in self.atoms.items() if first <= point <= self.last}
        return replace(self, first=first, atoms=kept)

    def up_to(self, last: Instant) -> Stream:
        """The part up to a time point."""
        kept = {point: atoms for point, atoms in self.atoms.items() if point <= last}
        return replace(self, last=last, atoms=kept)

    def of(self, relation: str) -> Stream:
        """The atoms of one predicate."""
        kept = {
            point: {fact for fact in atoms if fact.relation == relation}
            for point, atoms in self.atoms.items()
        }
        return replace(self, atoms=kept)

    def size(self) -> int:
        """The number of pairs of a time point and an atom at it."""
        return sum(len(self.at(point)) for point in self.timeline)


@dataclass(frozen=True)
class Structure:
    """An interpretation: the input, what is concluded beyond it, and the background."""

    input: Stream
    concluded: Conclusions
    background: Set[Fact] = frozenset()
    tick: int | None = None
    whole: Stream = field(init=False)

    def __post_init__(self) -> None:
        both = {
            point: self.input.at(point) | self.concluded.get(point, set())
            for point in self.input.timeline
        }
        object.__setattr__(self, "whole", replace(self.input, atoms=both))

    def window(self, part: Extended) -> Stream:
        """What the window of an extended atom shows."""
        match part.window:
            case None | EverWindow():
                return self.whole
            case TimeWindow(span):
                back = span.points(self.tick, part.origin) * self.whole.step
                return self.whole.since(self.whole.last - back)
            case TumblingWindow(span):
                width = span.points(self.tick, part.origin) * self.whole.step
                return self.whole.since(self.whole.last // width * width)
            case CountWindow(size, of_predicate):
                input = self.input.of(part.atom.relation) if of_predicate else self.input
                return last_tuples(input, size)

    def views(self, part: Extended) -> Iterator[Structure]:
        """This structure; under a partitioned window, its part for each group of atoms."""
        places: tuple[int, ...] = ()
        if isinstance(part.window, CountWindow):
            places = group_places(part.atom, part.window)
        if not places:
            yield self
            return
        relation = part.atom.relation
        groups: dict[tuple[Term, ...], set[Fact]] = {}
        for fact in set(self.background).union(*self.input.atoms.values()):
            if fact.relation == relation:
                key = tuple(fact.terms[place] for place in places)
                groups.setdefault(key, set()).add(fact)
        for facts in groups.values():
            own = {point: atoms & facts for point, atoms in self.input.atoms.items()}
            yield Structure(replace(self.input, atoms=own), {}, self.background & facts, self.tick)

    def hold(self, stream: Stream, point: Instant) -> Set[Fact]:
        """The atoms that hold at a time point of a stream."""
        return stream.at(point) | self.background


def last_tuples(stream: Stream, size: int) -> Stream:
    """Definition 4: the last `size` tuples.

    The atoms at one time point are ordered by predicate and terms, so that the window never depends
    on the order of arrival; of the oldest time point the last ones are kept.
    """
    begins = [point for point in stream.timeline if stream.since(point).size() >= size]
    window = stream.since(max(begins, default=stream.first))
    excess = window.size() - size
    if excess <= 0:
        return window
    oldest = sorted(window.at(window.first), key=in_order)
    return replace(window, atoms={**window.atoms, window.first: set(oldest[excess:])})


def in_order(fact: Fact) -> tuple[bytes, tuple[bytes, ...]]:
    """The order of atoms at one time point in count windows."""
    return fact.relation.encode(), tuple(term.text.encode() for term in fact.terms)


def solutions(part: Extended, structure: Structure, binding: Binding) -> Iterator[Binding]:
    """The bindings under which an extended atom holds at the last time point."""
    for view in structure.views(part):
        yield from _solutions(part, view, binding)


def _solutions(part: Extended, structure: Structure, binding: Binding) -> Iterator[Binding]:
    stream = structure.window(part)
    match part.mode:
        case Mode.NOW:
            facts: Iterable[Fact] = structure.hold(stream, stream.last)
        case Mode.SOME:
            facts = set().union(*(structure.hold(stream, u) for u in stream.timeline))
        case Mode.ALWAYS:
            facts = set.intersection(*(set(structure.hold(stream, u)) for u in stream.timeline))
        case Mode.AT:
            for point in stream.timeline:
                assert part.at is not None, "AT has a time point"
                timed = Atom("", (part.at, *part.atom.arguments))
                for fact in structure.hold(stream, point):
                    if fact.relation == part.atom.relation:
                        found = match(timed, (to_term(point), *fact.terms), binding)
                        if found is not None:
                            yield found
            return
    for fact in facts:
        if fact.relation == part.atom.relation:
            found = match(part.atom, fact.terms, binding)
            if found is not None:
                yield found


def _bindings(
    name: str,
    parts: Sequence[Extended | Denied | Guard],
    results: Sequence[tuple[Atom, Set[Fact]]],
    structure: Structure,
) -> Iterator[Binding]:
    """The bindings under which parts of a body hold; `results` are those of aggregates."""
    found: list[Binding] = [{}]
    for part in parts:
        if isinstance(part, Extended):
            found = [after for before in found for after in solutions(part, structure, before)]
    for atom, facts in results:
        found = [
            after
            for before in found
            for fact in facts
            if (after := match(atom, fact.terms, before)) is not None
        ]
    guards = tuple(part for part in parts if isinstance(part, Guard))
    for joined in found:
        binding = guarded(name, guards, joined)
        if binding is not None and not any(
            any(True for _ in solutions(part.part, structure, binding))
            for part in parts
            if isinstance(part, Denied)
        ):
            yield binding


def collected(rule: LarsRule, part: Collected, structure: Structure) -> tuple[Atom, Set[Fact]]:
    """The results of an aggregate: an atom with its group and result, and the facts it matches."""
    group = group_of(rule, part)
    columns = (*group, *part.values)
    members = {
        ground(Atom("member", columns), binding): FOREVER
        for binding in _bindings(rule.name, part.parts, (), structure)
    }
    value = None if part.function == "count" else len(group)
    operator = Aggregate(part.function, "member", "result", tuple(range(len(group))), value)
    return Atom("result", (*group, part.result)), {
        fact for fact, _ in aggregated(operator, members)
    }


def conclusions(rule: LarsRule, structure: Structure) -> Iterator[tuple[Instant | None, Fact]]:
    """What one rule concludes, and for when; None: a time point that is outside the timeline."""
    results = [collected(rule, part, structure) for part in rule.collected]
    parts = [part for part in rule.body if not isinstance(part, Collected)]
    for binding in _bindings(rule.name, parts, results, structure):
        fact = ground(rule.head, binding)
        if rule.at is None:
            yield structure.whole.last, fact
        else:
            term = binding[rule.at] if isinstance(rule.at, Variable) else rule.at
            point = to_python(term)
            # A time point is an integer as numbers are written: 01 is another term than 1.
            is_point = type(point) is int and term == to_term(point)
            inside = is_point and point in structure.whole.timeline
            yield (point if inside else None), fact


def answer_stream(
    program: LarsProgram, input: Stream, tick: int | None = None
) -> Conclusions | None:
    """Definition 5, for a stratified program: what holds beyond the input; None: no answer stream.

    The input is the stream up to the time point of evaluation.
    """
    found: Conclusions = {}
    background = frozenset(program.background)
    places = strata(program)
    for stratum in sorted(set(places)):
        rules = [
            rule for rule, place in zip(program.rules, places, strict=True) if place == stratum
        ]
        grows = True
        while grows:
            structure = Structure(input, found, background, tick)
            new = [each for rule in rules for each in conclusions(rule, structure)]
            grows = False
            for point, fact in new:
                if point is None:
                    return None
                if fact not in structure.hold(structure.whole, point):
                    found.setdefault(point, set()).add(fact)
                    grows = True
    return found


def output(program: LarsProgram, input: Stream, found: Conclusions) -> frozenset[Fact]:
    """Definition 6: the intensional atoms that hold at the time point of evaluation."""
    now = input.at(input.last) | found.get(input.last, set()) | set(program.background)
    return frozenset(filter(program.is_intensional, now))


def output_stream(
    program: LarsProgram, input: Stream, tick: int | None = None
) -> dict[Instant, frozenset[Fact] | None]:
    """The output at every time point, each over the input up to then."""
    outputs: dict[Instant, frozenset[Fact] | None] = {}
    for point in input.timeline:
        past = input.up_to(point)
        found = answer_stream(program, past, tick)
        outputs[point] = None if found is None else output(program, past, found)
    return outputs
