"""Maintenance programs, run literally: what Tables 2 and 5 of the paper do at one tick.

An extension holds *copies*: a fact with the time it holds until. Delete and rederive knows no
times; all its copies have the same. The tables leave open, or get wrong, a few things; this is
how they are read here (docs/semantics/maintenance.md has the reasons and the counterexamples):

- `T1 = (now - 1)` is "T1 has passed": T1 <= now, since `until` is exclusive and ticks may skip.
- `not P[T1]` with a T1 that nothing else speaks of is "no copy of P that lasts as long": T1 >= T.
- A head's T that the body does not bind is T1.
- The rules for Ins, Old and New of Table 5 are run in descending order of T. By then every copy
  that could outlive one at T is known, so `not P^Old[T]` has a final answer.
- In Table 2 a fact that is still stated counts as rederived.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.engines.reference.closure import Binding, derivations, ground, guarded, match
from ebbtide.maintenance import Extension, MaintenanceProgram, MaintenanceRule
from ebbtide.maintenance.rule import Absent, Later, Least, Marked, Passed
from ebbtide.program import Fact, Guard, Program
from ebbtide.time import FOREVER, Instant

Copy: TypeAlias = tuple[Fact, Instant]
Times: TypeAlias = Mapping[str, Instant]
Copies: TypeAlias = defaultdict[Extension, set[Copy]]


@dataclass(frozen=True, slots=True)
class Maintained:
    """The net changes P+ and P-, and the materialisation with them applied."""

    plus: Set[Copy]
    minus: Set[Copy]
    facts: Set[Copy]


def run_expiry(
    program: MaintenanceProgram,
    current: Mapping[Fact, Instant],
    inserted: Mapping[Fact, Instant],
    now: Instant,
) -> Maintained:
    """Run a program of Table 5 on a materialisation and what entered the windows since."""
    copies: Copies = defaultdict(set)
    copies[Extension.CURRENT] = set(current.items())
    copies[Extension.INSERTED] = set(inserted.items()) | _axioms(program.source)
    in_order = [
        rule
        for extension in (Extension.INSERTED, Extension.OUTLIVED, Extension.NEW)
        for rule in program.concluding(extension)
    ]
    times = {time for _, time in copies[Extension.CURRENT] | copies[Extension.INSERTED]}
    for time in sorted(times, reverse=True):
        _to_fixpoint(in_order, copies, now, only_at=time)
    return _net(program, copies, now)


def run_dred(
    program: MaintenanceProgram,
    current: Set[Fact],
    inserted: Set[Fact],
    deleted: Set[Fact],
    stated: Set[Fact],
) -> Maintained:
    """Run a program of Table 2 on a materialisation and the changes of what is `stated` now."""
    axioms = _axioms(program.source)
    copies: Copies = defaultdict(set)
    copies[Extension.CURRENT] = _timeless(current)
    copies[Extension.INSERTED] = _timeless(inserted) | axioms
    copies[Extension.DELETED] = _timeless(deleted)
    _to_fixpoint(program.concluding(Extension.DELETED), copies, FOREVER)
    copies[Extension.REDERIVED] = copies[Extension.DELETED] & (_timeless(stated) | axioms)
    growing = (Extension.NEW, Extension.REDERIVED, Extension.INSERTED)
    _to_fixpoint(program.concluding(*growing), copies, FOREVER)
    return _net(program, copies, FOREVER)


def _timeless(facts: Set[Fact]) -> set[Copy]:
    return {(fact, FOREVER) for fact in facts}


def _axioms(program: Program) -> set[Copy]:
    """What the rules without atoms conclude; no insertion would ever set them off."""
    return {copy for rule in program.rules if not rule.positives for copy in derivations(rule, {})}


def _to_fixpoint(
    rules: list[MaintenanceRule], copies: Copies, now: Instant, only_at: Instant | None = None
) -> None:
    """Run the rules in order, again and again, until they conclude nothing more (at one time)."""
    changed = True
    while changed:
        changed = False
        for rule in rules:
            extension = copies[rule.head.extension]
            found = set(_conclusions(rule, copies, now)) - extension
            if only_at is not None:
                found = {copy for copy in found if copy[1] == only_at}
            extension |= found
            changed |= bool(found)


def _net(program: MaintenanceProgram, copies: Copies, now: Instant) -> Maintained:
    for extension in (Extension.NET_DELETED, Extension.CANDIDATE, Extension.NET_INSERTED):
        for rule in program.concluding(extension):
            copies[extension].update(_conclusions(rule, copies, now))
    plus, minus = copies[Extension.NET_INSERTED], copies[Extension.NET_DELETED]
    return Maintained(plus, minus, (copies[Extension.CURRENT] - minus) | plus)


def _conclusions(rule: MaintenanceRule, copies: Copies, now: Instant) -> Iterator[Copy]:
    marked = [part for part in rule.body if isinstance(part, Marked)]
    guards = tuple(part for part in rule.body if isinstance(part, Guard))
    for joined, matched_times in _join(marked, copies, {}, {}):
        binding = guarded(rule.function, guards, joined)
        times = _timed(rule, matched_times, now)
        if binding is None or times is None or _blocked(rule, copies, binding, times, now):
            continue
        time = times.get(rule.head.time, times.get("T1", FOREVER))
        yield ground(rule.head.atom, binding), time


def _join(
    marked: list[Marked], copies: Copies, binding: Binding, times: Times
) -> Iterator[tuple[Binding, Times]]:
    if not marked:
        yield binding, times
        return
    first, *rest = marked
    for fact, time in copies[first.extension]:
        if fact.relation != first.atom.relation:
            continue
        extended = match(first.atom, fact.terms, binding)
        if extended is not None and times.get(first.time, time) == time:
            yield from _join(rest, copies, extended, {**times, first.time: time})


def _timed(rule: MaintenanceRule, times: Times, now: Instant) -> Times | None:
    """The times with what the rule says of them, or None if that does not hold."""
    for part in rule.body:
        match part:
            case Least(time, of):
                times = {**times, time: min(times[other] for other in of)}
            case Later(time, than) if times[time] <= times[than]:
                return None
            case Passed(time) if time in times and times[time] > now:
                return None
    return times


def _blocked(
    rule: MaintenanceRule, copies: Copies, binding: Binding, times: Times, now: Instant
) -> bool:
    """Whether a copy is there that the rule wants absent."""
    for part in rule.body:
        if not isinstance(part, Absent):
            continue
        wanted = ground(part.marked.atom, binding)
        found = [time for fact, time in copies[part.marked.extension] if fact == wanted]
        name = part.marked.time
        if name in times:
            blocking = times[name] in found
        elif Passed(name) in rule.body:
            blocking = any(time <= now for time in found)
        else:
            blocking = any(time >= times["T"] for time in found)
        if blocking:
            return True
    return False
