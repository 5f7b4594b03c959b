"""Arithmetic as text, as it was written: `(X + 1) * 2`.

Reading made a variable of its own for every sign but the last (`terms.py`). Here such a variable
is again what it stands for. Invariant: read again, the text gives the same guards, the variables
that nobody named by other names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ebbtide.program import Argument, Guard, Variable

SIGNS: Final = {
    "equal": "=",
    "notEqual": "!=",
    "lessThan": "<",
    "greaterThan": ">",
    "le": "<=",
    "ge": ">=",
    "sum": "+",
    "difference": "-",
    "product": "*",
    "quotient": "/",
}
_TIGHTNESS: Final = {"+": 1, "-": 1, "*": 2, "/": 2}


@dataclass(frozen=True, slots=True)
class Expression:
    """What a variable stands for; `sign` is the last that was applied, if one was."""

    text: str
    sign: str = ""

    def within(self, sign: str, *, is_right: bool) -> str:
        """As an operand of a sign, in brackets if they are needed: signs apply from the left."""
        own, outer = _TIGHTNESS.get(self.sign, 3), _TIGHTNESS[sign]
        return f"({self.text})" if own < outer + is_right else self.text


NOTHING_MADE: Final[Mapping[Variable, Expression]] = {}


def is_made(argument: Argument | None) -> bool:
    """Whether an argument is a variable that nobody named."""
    return isinstance(argument, Variable) and argument.name[0].islower()


def applied(guard: Guard, shown: Callable[[Argument], Expression]) -> Expression:
    """The operands of a function and its sign between them."""
    sign = SIGNS[guard.builtin]
    left, right = map(shown, guard.inputs)
    text = f"{left.within(sign, is_right=False)} {sign} {right.within(sign, is_right=True)}"
    return Expression(text, sign)


def expressions(
    guards: Iterable[Guard], shown: Callable[[Argument], str]
) -> dict[Variable, Expression]:
    """What the results of functions stand for, each in the words of the others."""
    waiting = {guard.result: guard for guard in guards if guard.result is not None}
    found: dict[Variable, Expression] = {}

    def operand(argument: Argument) -> Expression:
        known = found.get(argument) if isinstance(argument, Variable) else None
        return known or Expression(shown(argument))

    for _ in range(len(waiting)):
        # Mostly they come in order: one pass tells them all.
        for result, guard in tuple(waiting.items()):
            if waiting.keys().isdisjoint(guard.inputs):
                found[result] = applied(waiting.pop(result), operand)
    return found
