"""What lowering has to know of a LARS program as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ebbtide.languages.lars.formula import (
    BodyPart,
    Collected,
    CountWindow,
    Extended,
    LarsProgram,
    LarsRule,
    Mode,
    TimeWindow,
    TumblingWindow,
    atoms_of,
    variables_of,
)
from ebbtide.program import TRIPLE, Argument, ProgramError, Variable

#: How many times a copy may be copied.
LONGEST_COPY: Final = 100


def heads(rules: Iterable[LarsRule]) -> dict[str, list[tuple[Argument, ...]]]:
    """The different heads of each predicate, variables named by order of appearance.

    A relation is carried over into another one head by head, so that triples of different
    predicates are told apart there, too: negation needs that for its strata.
    """
    found: dict[str, list[tuple[Argument, ...]]] = defaultdict(list)
    for rule in rules:
        names: dict[Argument, Variable] = {}
        arguments = tuple(
            names.setdefault(argument, Variable(f"x{len(names)}"))
            if isinstance(argument, Variable)
            else argument
            for argument in rule.head.arguments
        )
        if arguments not in found[rule.head.relation]:
            found[rule.head.relation].append(arguments)
    return found


def circular(program: LarsProgram) -> set[str]:
    """The predicates under `always` in rules whose conclusions they depend on.

    All triples are of one predicate here: a box that is denied or collected may be about some that
    the rule does not conclude.
    """
    direct: dict[str, set[str]] = defaultdict(set)
    for rule in program.rules:
        direct[rule.head.relation].update(part.atom.relation for part in rule.atoms())

    def needed(predicate: str) -> set[str]:
        found: set[str] = set()
        waiting = [predicate]
        while waiting:
            for one in direct.get(waiting.pop(), set()) - found:
                found.add(one)
                waiting.append(one)
        return found

    return {
        part.atom.relation
        for rule in program.rules
        for part in rule.atoms()
        if part.mode is Mode.ALWAYS and rule.head.relation in needed(part.atom.relation)
    }


def group_of(rule: LarsRule, part: Collected) -> tuple[Variable, ...]:
    """The variables that make the groups of an aggregate: they occur in its rule outside of braces.

    What stands in the braces of another aggregate is that one's own, by whatever name.
    """
    elsewhere = {*rule.head.variables(), rule.at}
    for other in rule.body:
        if not isinstance(other, Collected):
            elsewhere.update(variables_of(other))
        elif other is not part:
            elsewhere.add(other.result)
    return tuple(sorted(part.inner() & elsewhere, key=str))


def below_of(program: LarsProgram, part: BodyPart) -> LarsProgram:
    """The rules that a part of a body rests on, and the facts."""
    needed = {one.atom.relation for one in atoms_of(part)}
    rules: tuple[LarsRule, ...] = ()
    while True:
        found = tuple(rule for rule in program.rules if rule.head.relation in needed)
        if found == rules:
            return replace(program, rules=rules)
        rules = found
        needed.update(one.atom.relation for rule in rules for one in rule.atoms())


def refuse_own_result(program: LarsProgram) -> None:
    """Refuse an aggregate that rests on its own result, in a program that has no strata."""
    for rule in program.rules:
        for part in rule.collected:
            if rule in below_of(program, part).rules:
                raise ProgramError(
                    f"this {part.function} rests on its own result: what it collects depends on "
                    f"{rule.head.relation}, which it helps to conclude",
                    part.origin,
                )


def copies(program: LarsProgram) -> dict[str, LarsRule]:
    """The predicates whose only rule says an extended atom by another name, argument by argument.

    They need no relation of their own. A copy of itself, by whatever way round, is none, nor is one
    of a copy of a copy of ... that would be too long to follow.
    """
    rules: dict[str, list[LarsRule]] = defaultdict(list)
    for rule in program.rules:
        rules[rule.head.relation].append(rule)
    known = {fact.relation for fact in program.background}
    found = {
        predicate: rule
        for predicate, (rule, *others) in rules.items()
        if not others and predicate not in known and predicate != TRIPLE and _is_copy(rule)
    }
    length: dict[str, int] = {}
    for predicate in list(found):
        way: dict[str, None] = {}
        while predicate in found and predicate not in length and predicate not in way:
            way[predicate] = None
            predicate = found[predicate].positives[0].atom.relation
        if predicate in way:
            del found[predicate]
        so_far = length.get(predicate, 0)
        for one in reversed(way):
            so_far = so_far + 1 if one in found and so_far < LONGEST_COPY else 0
            if so_far == 0:
                found.pop(one, None)
            length[one] = so_far
    return found


def _is_copy(rule: LarsRule) -> bool:
    if rule.at is not None or len(rule.body) != 1 or not isinstance(rule.body[0], Extended):
        return False
    part = rule.body[0]
    is_tally = isinstance(part.window, CountWindow) and not part.window.of_predicate
    arguments = part.atom.arguments
    if part.mode is Mode.AT:
        assert part.at is not None
        arguments = (part.at, *arguments)
    are_variables = all(isinstance(argument, Variable) for argument in arguments)
    return (
        not is_tally
        and part.atom.relation != TRIPLE
        and are_variables
        and len(set(arguments)) == len(arguments)
        and arguments == rule.head.arguments
    )


def reach(program: LarsProgram, tick: int | None) -> dict[str, int | None]:
    """How many time points back conclusions by @ reach at most; None: any number.

    A rule `@T p :- @T q in [n], ...` concludes nothing for a T that is further back than n, nor
    than q reaches.
    """
    reach: dict[str, int | None] = {
        rule.head.relation: 0 for rule in program.rules if rule.at is not None
    }
    while True:
        before = dict(reach)
        for rule in program.rules:
            if rule.at is None or reach[rule.head.relation] is None:
                continue
            bounds = [
                bound
                for part in rule.positives
                if part.mode is Mode.AT and part.at == rule.at and isinstance(part.at, Variable)
                for bound in _bounds(part, reach, program, tick)
                if bound is not None
            ]
            known = reach[rule.head.relation]
            assert known is not None
            reach[rule.head.relation] = max(known, min(bounds)) if bounds else None
        if reach == before:
            return reach


def _bounds(
    part: Extended, reach: dict[str, int | None], program: LarsProgram, tick: int | None
) -> list[int | None]:
    """How far back an @ in a body can look."""
    bounds: list[int | None] = []
    match part.window:
        case TimeWindow(span):
            bounds.append(span.points(tick, part.origin))
        case TumblingWindow(span):
            bounds.append(span.points(tick, part.origin) - 1)
        case _:
            pass
    predicate = part.atom.relation
    is_concluded_only = predicate in reach and predicate != TRIPLE
    if is_concluded_only and all(fact.relation != predicate for fact in program.background):
        bounds.append(reach[predicate])
    return bounds
