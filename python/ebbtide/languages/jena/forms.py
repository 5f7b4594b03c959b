"""Jena's builtins that are not builtins of the IR, written in terms of those that are.

In: a call in a body. Out: the parts of the body that mean the same.

    makeSkolem(?x, a, b...)   skolem(a, b..., ?x): one blank node for these arguments
    makeTemp(?x)              skolem(<the rule and what its atoms matched>, ?x)
    assignAnon(?l, ?x)        skolem(?l, ?x): the blank node allocated to ?l
    isDLiteral(?l, ?t)        isDLiteral(?l), datatype(?l, ?t)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from ebbtide.program import Argument, BodyPart, Guard, Origin, ProgramError, Variable
from ebbtide.terms import Literal


@dataclass(frozen=True, slots=True)
class Call:
    """A name applied to arguments in the body of a rule.

    `reason` tells one application of the rule from any other: the rule's name, and the variables of
    its positive atoms.
    """

    name: str
    arguments: tuple[Argument, ...]
    reason: tuple[Argument, ...]
    origin: Origin

    def guard(self, builtin: str, *arguments: Argument) -> Guard:
        """A builtin of the IR in place of the call."""
        return Guard(builtin, arguments, self.origin)

    def takes(self, least: int, most: int | None = None) -> None:
        """Refuse any other number of arguments."""
        given = len(self.arguments)
        if given < least or (most is not None and given > most):
            wanted = f"at least {least}" if most is None else f"{least}"
            wanted += f" or {most}" if most not in (None, least) else ""
            s = "" if wanted.endswith("1") else "s"
            raise ProgramError(f"{self.name} takes {wanted} argument{s}, not {given}", self.origin)

    def made(self, position: int) -> Variable:
        """The variable at a place that is for something new."""
        made = self.arguments[position]
        if not isinstance(made, Variable):
            raise ProgramError(f"{self.name} binds a variable, not {made}", self.origin)
        return made


Form: TypeAlias = Callable[[Call], Sequence[BodyPart]]


def _make_skolem(call: Call) -> Sequence[BodyPart]:
    call.takes(1)
    return [call.guard("skolem", *call.arguments[1:], call.made(0))]


def _make_temp(call: Call) -> Sequence[BodyPart]:
    call.takes(1, 1)
    made = call.made(0)
    # Two temporary nodes of one rule are two.
    return [call.guard("skolem", *call.reason, Literal(made.name), made)]


def _assign_anon(call: Call) -> Sequence[BodyPart]:
    call.takes(1, 2)
    if len(call.arguments) == 1:
        return _make_temp(call)
    return [call.guard("skolem", call.arguments[0], call.made(1))]


def _is_typed_literal(call: Call) -> Sequence[BodyPart]:
    call.takes(1, 2)
    literal, *datatype = call.arguments
    is_typed = call.guard("isDLiteral", literal)
    return [is_typed, call.guard("datatype", literal, *datatype)] if datatype else [is_typed]


FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        "makeSkolem": _make_skolem,
        "makeTemp": _make_temp,
        "assignAnon": _assign_anon,
        "isDLiteral": _is_typed_literal,
    }
)
