"""Constants that rules compare and compute with: they must have a value, or the rule never applies.

What is written in a program is refused here, with its place. What comes in data and has no value
makes a guard that does not hold (`program/guard.py`).
"""

from __future__ import annotations

from typing import Final

from ebbtide.languages.lars.printing import show_argument
from ebbtide.program import Guard, ProgramError
from ebbtide.terms import IRI, Literal
from ebbtide.terms.term import XSD, XSD_STRING

_INTEGERS: Final = frozenset(
    XSD + name
    for name in (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
#: The datatypes of numbers, and what is to be said of one that has no value.
_NUMBERS: Final = {
    **dict.fromkeys(
        _INTEGERS,
        "is no integer of 64 bits, so that it has no value to compare or to compute with; a "
        "double, as 1e30, has one",
    ),
    XSD + "decimal": "is no decimal of at most 20 digits before the point and 18 behind it, so "
    "that it has no value to compare or to compute with; a double, as 1e30, has one",
    XSD + "double": "is no double",
    XSD + "float": "is no float",
}
#: The same for all datatypes whose values are compared.
_COMPARED: Final = {
    **_NUMBERS,
    XSD_STRING: "",
    XSD + "boolean": "is neither true nor false",
    XSD + "date": "is no day of the calendar, written as 2024-02-29",
    XSD + "dateTime": "is no instant of the calendar, written as 2024-02-29T12:00:00Z",
}
_EQUALITY: Final = frozenset({"equal", "notEqual"})


def check_values(guard: Guard) -> None:
    """Refuse to compare or to compute with what has no value: it would never hold.

    Whether two terms are the same can be asked of all.
    """
    if guard.builtin in _EQUALITY:
        return
    is_arithmetic = guard.inputs != guard.arguments
    for argument in guard.arguments:
        shown = show_argument(argument)
        if isinstance(argument, IRI):
            raise ProgramError(
                f"{shown} is a constant without a value to compare or to compute with; a variable "
                "begins with a capital letter",
                guard.origin,
            )
        if not isinstance(argument, Literal):
            continue
        if is_arithmetic and argument.datatype not in _NUMBERS:
            raise ProgramError(f"{shown} is no number to compute with", guard.origin)
        if argument.language or argument.datatype not in _COMPARED:
            kind = "strings with a language" if argument.language else "literals of its datatype"
            raise ProgramError(
                f"{shown} has no value to compare: {kind} are only = or !=", guard.origin
            )
        if not _has_value(argument):
            raise ProgramError(f"{shown} {_COMPARED[argument.datatype]}", guard.origin)


def _has_value(literal: Literal) -> bool:
    """Whether a literal of a datatype whose values are compared has one."""
    from ebbtide._kernel import sparql_value

    datatype = XSD + "integer" if literal.datatype in _INTEGERS else literal.datatype
    return sparql_value(f"<{datatype}>(?1)", [Literal(literal.lexical).text]) is not None
