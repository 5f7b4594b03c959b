"""Builtins that users write in Python, by the name that rules call them.

    @ebbtide.builtin
    def isWarm(celsius: float) -> bool: ...               a test: isWarm(?c)

    @ebbtide.builtin
    def celsius(fahrenheit: float) -> float | None: ...   a function: celsius(?f, ?c)

Arguments come as Python values (`to_python`) and a result goes as a term (`to_term`). An argument
that does not fit its annotation has no meaning for the builtin, so the guard does not hold; nor
does it if a function returns None. Whatever is raised stops the tick with a `BuiltinError`.

Invariant: a builtin is deterministic. Engines ask when and as often as they like, and keep what was
answered for as long as it is of use. Programs know builtins by name only, so that a program can be
sent to another process, where the module that defines them must be imported, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from inspect import Parameter, signature
from types import UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from ebbtide.program.guard import BUILTINS, Builtin, Guard, find_builtin, register
from ebbtide.program.origin import ProgramError
from ebbtide.program.reserved import RESERVED
from ebbtide.terms import IRI, BlankNode, Literal, Term, to_python, to_term

Function = TypeVar("Function", bound=Callable[..., Any])

_TERMS: Final = (IRI, BlankNode, Literal)
_VALUES: Final = (bool, int, float, Decimal, str, datetime, date)
_ANYTHING: Final = (Any, object, Parameter.empty)
_MISFIT: Final = object()


class BuiltinError(ProgramError):
    """A user's builtin raised an error; the message says which rule asked it, and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserBuiltin(Builtin):
    """A builtin and the Python function behind it."""

    function: Callable[..., Any]
    #: What each argument may be; of a variadic builtin the last one goes for all that follow.
    fits: tuple[tuple[Any, ...], ...]

    def ask(self, terms: Sequence[Term]) -> bool | Term | None:
        """Whether the test holds, or what the function yields; None where there is no meaning."""
        values = []
        for place, term in enumerate(terms):
            value = _fitted(term, self.fits[min(place, len(self.fits) - 1)])
            if value is _MISFIT:
                return None if self.is_function else False
            values.append(value)
        result = self.function(*values)
        if not self.is_function:
            return bool(result)
        return None if result is None else to_term(result)


def builtin(function: Function) -> Function:
    """Let rules call a Python function by its name. It must be deterministic.

    A function that is annotated to return bool is a test, any other one yields a term. A later
    function of the same name takes the place of an earlier one.

    >>> @builtin
    ... def isWarm(celsius: float) -> bool:
    ...     return celsius > 20
    >>> isWarm(21.5)
    True
    """
    name = function.__name__
    if name in BUILTINS or name in RESERVED or name == "not":
        raise ValueError(f"{name} has a meaning already; give the builtin another name")
    hints = get_type_hints(function)
    if "return" not in hints:
        raise TypeError(f"{name}: say what it returns; -> bool makes it a test")
    parameters = list(signature(function).parameters.values())
    for parameter in parameters:
        if parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD):
            raise TypeError(f"{name}: a rule cannot give {parameter.name} by name")
    is_variadic = any(one.kind is Parameter.VAR_POSITIONAL for one in parameters)
    is_function = hints["return"] is not bool
    register(
        UserBuiltin(
            name,
            len(parameters) - is_variadic + is_function,
            is_function,
            is_variadic,
            function=function,
            fits=tuple(
                _types(name, one.name, hints.get(one.name, Parameter.empty)) for one in parameters
            ),
        )
    )
    return function


def asking(rule: str, guard: Guard) -> Callable[[Sequence[Term]], bool | Term | None]:
    """Asks the user's builtin of a guard; what it raises says which rule asked, and where."""
    found = find_builtin(guard.builtin)
    assert isinstance(found, UserBuiltin), "only a user's builtin is asked like this"

    def ask(terms: Sequence[Term]) -> bool | Term | None:
        try:
            return found.ask(terms)
        except Exception as error:
            given = ", ".join(map(str, terms))
            raise BuiltinError(
                f"{found.name}({given}), asked by the rule {rule}, raised "
                f"{type(error).__name__}: {error}",
                guard.origin,
            ) from error

    return ask


def _types(name: str, parameter: str, hint: Any) -> tuple[Any, ...]:
    """The types that an annotation allows."""
    types = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for one in types:
        if one not in (*_TERMS, *_VALUES, *_ANYTHING):
            known = ", ".join(kind.__name__ for kind in (*_VALUES, *_TERMS))
            raise TypeError(f"{name}: {parameter} can be one of {known}, not {one}")
    return types


def _fitted(term: Term, types: tuple[Any, ...]) -> Any:
    """The term as the first type that it fits."""
    for one in types:
        value = term if one in _TERMS else to_python(term)
        if one in _ANYTHING or type(value) is one:
            return value
        if one in (float, Decimal) and type(value) in (int, Decimal):
            try:
                return one(value)
            except OverflowError:
                continue
    return _MISFIT
