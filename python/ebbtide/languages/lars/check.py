"""What makes rules a LARS program: one arity a predicate, bound variables, count windows on input.

In: a program as it was read. Out: the same, X replaced by c where `X = c` alone says what X is.
The first thing that is wrong is a `ProgramError` at its place, with a hint. Whether negation is
stratified is asked by `strata`, since a solver can do without.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from ebbtide.languages.lars.constants import check_values
from ebbtide.languages.lars.formula import (
    BodyPart,
    Collected,
    CountWindow,
    Denied,
    Extended,
    LarsProgram,
    LarsRule,
    atoms_of,
    kind_places,
    rewritten,
    show_kind,
    variables_of,
)
from ebbtide.languages.lars.printing import RDF_TYPE, show_argument
from ebbtide.program import (
    TRIPLE,
    Argument,
    Atom,
    Guard,
    Negation,
    Origin,
    ProgramError,
    Rule,
    Variable,
)
from ebbtide.program.check import check_length
from ebbtide.program.strata import stratify
from ebbtide.program.wording import counted
from ebbtide.terms import IRI, Literal, to_python

#: What a comparison says if its sides change places.
_TURNED: Final = {"equal": "equal", "greaterThan": "lessThan", "ge": "le"}
# How a cycle prints what strata do not look at.
_ANYTHING: Final = re.compile(r"\?_[0-9]+")


def check(program: LarsProgram) -> LarsProgram:
    """The program, if it is one."""
    program = replace(program, rules=tuple(map(resolved, program.rules)))
    _check_arities(program)
    heads = [told_apart(rule.head) for rule in program.rules]
    for rule in program.rules:
        _check_length(rule)
        _check_variables(rule)
        for part in rule.atoms():
            _check_window(part, heads, program.prefixes)
    return program


def strata(program: LarsProgram) -> tuple[int, ...]:
    """The stratum of each rule; a `ProgramError` that prints the cycle if there are none."""
    try:
        return stratify([_as_dependency(rule) for rule in program.rules])
    except ProgramError as error:
        message = _ANYTHING.sub("_", error.message).replace("()", "")
        raise ProgramError(message, error.origin) from None


def _as_dependency(rule: LarsRule) -> Rule:
    """A rule of plain atoms that depends on what this one depends on, and as strictly."""
    body: list[Atom | Negation] = [told_apart(part.atom) for part in rule.positives]
    body += [Negation(told_apart(part.part.atom)) for part in rule.denied]
    for collected in rule.collected:
        body += [Negation(told_apart(part.atom)) for part in atoms_of(collected)]
    return Rule(rule.name, (told_apart(rule.head),), tuple(body), rule.origin)


def told_apart(atom: Atom) -> Atom:
    """The atom without what strata do not look at: all but its predicate, and that of a triple.

    Of a triple that says a class, the class counts.
    """
    anything = tuple(Variable(f"_{place}") for place in range(len(atom.arguments)))
    if atom.relation != TRIPLE:
        return replace(atom, arguments=anything)
    _, predicate, kind = atom.arguments
    return replace(
        atom, arguments=(anything[0], predicate, kind if predicate == RDF_TYPE else anything[2])
    )


def _check_arities(program: LarsProgram) -> None:
    met: dict[str, tuple[int, Origin | None]] = {TRIPLE: (3, None)}
    for fact in program.background:
        met.setdefault(fact.relation, (len(fact.terms), None))
        if met[fact.relation][0] != len(fact.terms):
            raise ProgramError(
                f"the predicate {fact.relation} has {met[fact.relation][0]} arguments, not as in "
                f"the fact {fact}"
            )
    for rule in program.rules:
        for atom in (rule.head, *(part.atom for part in rule.atoms())):
            given = len(atom.arguments)
            known, where = met.setdefault(atom.relation, (given, atom.origin))
            if known != given:
                place = "among the facts" if atom.relation != TRIPLE else "everywhere"
                raise ProgramError(
                    f"the predicate {atom.relation} has {counted(given, 'argument')} here and "
                    f"{known} {f'at {where}' if where else place}",
                    atom.origin,
                )


def _check_window(part: Extended, heads: Iterable[Atom], prefixes: Mapping[str, str]) -> None:
    if not isinstance(part.window, CountWindow):
        return
    atom = told_apart(part.atom)
    if any(_may_be_same(atom, head) for head in heads):
        name = show_kind(part.atom, kind_places(part.atom), prefixes)
        raise ProgramError(
            f"a count window counts the atoms of the input, and {name} is concluded by a rule; use "
            "a time window",
            part.origin,
        )


def _may_be_same(one: Atom, other: Atom) -> bool:
    """Whether no constants tell two atoms apart."""
    return one.relation == other.relation and all(
        isinstance(left, Variable) or isinstance(right, Variable) or left == right
        for left, right in zip(one.arguments, other.arguments, strict=True)
    )


def _check_length(rule: LarsRule) -> None:
    for body in (rule.body, *(part.parts for part in rule.collected)):
        guards = sum(isinstance(part, Guard) for part in body)
        check_length(len(body) - guards, guards, rule.origin)


def _check_variables(rule: LarsRule) -> None:
    bound = bound_by(rule.body)
    _check_parts(rule.body, bound)
    head = set(rule.head.variables())
    if isinstance(rule.at, Variable):
        head.add(rule.at)
    for variable in rule.head.variables():
        if variable not in bound:
            raise ProgramError(
                f"{show_argument(variable)} is in the head, but no positive atom of the body binds "
                "it",
                rule.head.origin,
            )
    if isinstance(rule.at, Variable) and rule.at not in bound:
        raise ProgramError(
            f"nothing in the body binds the time point {show_argument(rule.at)} of the head; "
            f"add an atom such as @{show_argument(rule.at)} p",
            rule.origin,
        )
    outer = head.union(*(variables_of(part) for part in rule.body if not _is_collected(part)))
    for part in rule.collected:
        inner = bound_by(part.parts)
        _check_parts(part.parts, inner, " within the braces")
        for variable in (*part.values, *sorted(part.inner() & outer, key=str)):
            if variable not in inner:
                raise ProgramError(
                    f"{show_argument(variable)} is not bound by a positive atom within the "
                    "aggregate",
                    part.origin,
                )
        if part.result in part.inner():
            raise ProgramError("the result of an aggregate cannot be part of it", part.origin)
        if part.function == "count":
            _check_count(part, rule.guards)


def _check_count(count: Collected, guards: Iterable[Guard]) -> None:
    """Refuse to ask for a count below 1, as other languages may: the rule would never apply."""
    for guard in guards:
        left, right = guard.arguments[0], guard.arguments[-1]
        sign = guard.builtin if left == count.result else _TURNED.get(guard.builtin)
        other = right if left == count.result else left
        limit = to_python(other) if isinstance(other, Literal) else None
        if count.result not in (left, right) or not isinstance(limit, int | Decimal):
            continue
        is_below = sign in ("equal", "le") and limit < 1
        if is_below or (sign == "lessThan" and limit <= 1):
            raise ProgramError(
                "a group of nothing has no count, so that one is never below 1; where there is "
                "none, `not` holds, as in not p(X,_) in [3]",
                guard.origin,
            )


def _is_collected(part: BodyPart) -> bool:
    return isinstance(part, Collected)


def _check_parts(parts: Iterable[BodyPart], bound: set[Variable], where: str = "") -> None:
    """Refuse variables that nothing binds; `where` tells the place of the parts in messages."""
    parts = tuple(parts)
    points = {part.at for part in parts if isinstance(part, Extended)}
    for part in parts:
        match part:
            case Denied():
                for variable in part.variables():
                    if variable not in bound and variable.name[0].isupper():
                        raise ProgramError(
                            f"{variable.name} occurs under `not` only; bind it in a positive atom, "
                            "or write _ for `any`",
                            part.origin,
                        )
            case Guard():
                check_values(part)
                _check_point(part, points)
                for argument in part.inputs:
                    if isinstance(argument, Variable) and argument not in bound:
                        raise ProgramError(
                            f"{show_argument(argument)} is compared or computed with, but no "
                            f"positive atom{where} binds it",
                            part.origin,
                        )
            case _:
                pass


def _check_point(guard: Guard, points: Collection[Argument | None]) -> None:
    """Refuse to ask whether a time point is a constant that is no number, such as `now`."""
    for point, other in (guard.arguments[:2], guard.arguments[1::-1]):
        if guard.builtin == "equal" and point in points and isinstance(other, IRI):
            raise ProgramError(
                f"{show_argument(point)} is a time point, a number, and never "
                f"{show_argument(other)}; of this time point is what `in [0]` shows, as in @T p "
                "in [0]",
                guard.origin,
            )


def bound_by(parts: Iterable[BodyPart]) -> set[Variable]:
    """The variables that positive atoms, aggregates and chains of functions bind."""
    parts = tuple(parts)
    bound: set[Variable] = set()
    for part in parts:
        if isinstance(part, Extended):
            bound.update(part.variables())
        elif isinstance(part, Collected):
            bound.add(part.result)
            bound.update(part.inner() & bound_by(part.parts))
    waiting = [part for part in parts if isinstance(part, Guard) and part.result is not None]
    while True:
        # A long sum is a chain of functions, in order: one pass binds all of them.
        unready = []
        for guard in waiting:
            if all(not isinstance(each, Variable) or each in bound for each in guard.inputs):
                assert guard.result is not None
                bound.add(guard.result)
            else:
                unready.append(guard)
        if len(unready) == len(waiting):
            return bound
        waiting = unready


def resolved(rule: LarsRule) -> LarsRule:
    """The rule with X replaced by c where `X = c` is all that says what X is."""
    while True:
        bound = bound_by(rule.body)
        for part in rule.body:
            if isinstance(part, Guard) and part.builtin == "equal":
                left, right = part.arguments
                for name, other in ((left, right), (right, left)):
                    if isinstance(name, Variable) and name not in bound and name != other:
                        rule = _replaced(rule, part, name, other)
                        break
                else:
                    continue
                break
        else:
            return rule


def _replaced(rule: LarsRule, guard: Guard, name: Variable, other: Argument) -> LarsRule:
    def change(argument: Argument) -> Argument:
        return other if argument == name else argument

    return replace(
        rule,
        head=replace(rule.head, arguments=tuple(map(change, rule.head.arguments))),
        at=None if rule.at is None else change(rule.at),
        body=tuple(rewritten(part, change) for part in rule.body if part is not guard),
    )
