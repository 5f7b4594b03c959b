"""The relations that Ticker knows by name: `leq(18,V)` is 18 <= V, `plus(X,Y,Z)` is Z = X + Y.

In other programs these are names like any other. So one is a predicate where a rule, a fact, a
window or an @ is about it, where it has another number of arguments, and, always, in quotes:
`'leq'(X,Y)`. Elsewhere it is read as Ticker means it, and no stream may state it. Where nothing
binds what it would compare or compute with, it is refused, unless the caller knows that the input
has atoms of that name: nothing is left out silently, whichever was meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ebbtide.languages.lars.check import bound_by, resolved
from ebbtide.languages.lars.formula import (
    BodyPart,
    Collected,
    Denied,
    Extended,
    LarsProgram,
    Mode,
)
from ebbtide.languages.lars.names import ARITIES, COMPARES, COMPUTES, NEXT
from ebbtide.languages.lars.printing import show_argument
from ebbtide.program import Atom, Guard, Origin, ProgramError, Variable
from ebbtide.terms import to_term

_INSTEAD: Final = {
    "divide": "there is no division of whole numbers, but Z = X / Y, of decimals",
    "modulo": "there is no remainder",
    "power": "there is no power; X * X is a square",
}


class PerhapsPredicate(ProgramError):
    """What is wrong with an atom of Ticker's; nothing, if `name` is a predicate of the input."""

    def __init__(self, message: str, atom: Atom) -> None:
        super().__init__(
            f"{message}; in quotes, '{atom.relation}'(...) is a predicate", atom.origin
        )
        self.name = atom.relation


def with_builtins(program: LarsProgram, inputs: Collection[str] = ()) -> LarsProgram:
    """The program with what Ticker knows by name as comparisons and arithmetic.

    `inputs` are names that the input has atoms of, so that they are predicates.
    """
    written = [part for rule in program.rules for part in rule.atoms()]
    names = {part.atom.relation for part in written if part.atom.relation in ARITIES}
    names -= program.intensional
    names -= {fact.relation for fact in program.background}
    names -= {part.atom.relation for part in written if not _may_be_meant(part)}
    names.difference_update(inputs)
    if not names:
        return program
    rules = tuple(replace(rule, body=_read(rule.body, names)) for rule in program.rules)
    meant = {part.origin: part.atom for part in written if part.atom.relation in names}
    for rule in map(resolved, rules):
        for body in (rule.body, *(part.parts for part in rule.collected)):
            _check_bound(body, meant)
    return replace(program, rules=rules, builtins=frozenset(names))


def _may_be_meant(part: Extended) -> bool:
    """Whether an atom could be Ticker's by the way it is written."""
    is_plain = part.mode is Mode.NOW and not part.origin.text.startswith("'")
    return is_plain and ARITIES.get(part.atom.relation) == len(part.atom.arguments)


def _check_bound(body: Sequence[BodyPart], meant: Mapping[Origin, Atom]) -> None:
    """Refuse what takes a variable that the body does not bind, of the atoms that were meant."""
    bound = bound_by(body)
    for part in body:
        if isinstance(part, Guard) and part.origin in meant:
            atom = meant[part.origin]
            verb = "compared" if atom.relation in COMPARES else "computed with"
            for argument in part.inputs:
                if isinstance(argument, Variable) and argument not in bound:
                    name = show_argument(argument)
                    raise PerhapsPredicate(f"{name} is {verb}, but no positive atom binds it", atom)


def _read(body: Iterable[BodyPart], names: set[str]) -> tuple[BodyPart, ...]:
    """A body with guards in the place of the atoms of some names."""
    found: list[BodyPart] = []
    for part in body:
        match part:
            case Extended(atom) if atom.relation in names:
                if instead := _INSTEAD.get(atom.relation):
                    raise PerhapsPredicate(instead, atom)
                found += _guards(atom)
            case Denied(Extended(atom)) if atom.relation in names:
                raise PerhapsPredicate(
                    f"a comparison has an opposite, as X != 2, and {atom.origin.text} is read as "
                    "one",
                    atom,
                )
            case Collected():
                found.append(replace(part, parts=_read(part.parts, names)))  # type: ignore[arg-type]
            case _:
                found.append(part)
    return tuple(found)


def _guards(atom: Atom) -> list[Guard]:
    """What an atom means: comparisons of neighbours, or a function and its result."""
    name, arguments = atom.relation, atom.arguments
    if name == NEXT:
        return [Guard("sum", (arguments[0], to_term(1), arguments[1]), atom.origin)]
    if name in COMPARES:
        pairs = zip(COMPARES[name], arguments, arguments[1:], strict=False)
        return [Guard(sign, (left, right), atom.origin) for sign, left, right in pairs]
    function = COMPUTES[name]
    return [] if function is None else [Guard(function, arguments, atom.origin)]
