"""Expressions of FILTER and BIND: from algebra to guards.

The guards `sparqlFilter` and `sparqlBind` carry an expression as a text over `?1`, `?2`, ..., which
are their other arguments, and have exactly SPARQL's value: an error does not hold, and neither does
its negation. A variable that a branch does not bind is `?0`, which nothing binds. Where a builtin
of the house means the same, it is used instead, because it is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from ebbtide.languages.sparql_rules.branch import BIND, FILTER
from ebbtide.program import Argument, Guard, Variable
from ebbtide.terms import IRI, Literal, parse_term
from ebbtide.terms.term import XSD

#: A term or variable as its text, or an operator or function with its operands.
Expression: TypeAlias = str | tuple[Any, ...]
Lookup: TypeAlias = Callable[[str], Argument | None]

#: The functions that are called by IRI: casts to the datatypes of XML Schema.
CASTS: Final = frozenset(
    f"<{XSD}{name}>"
    for name in (
        *("string", "boolean", "double", "float", "integer", "decimal", "date", "time"),
        *("dateTime", "duration", "yearMonthDuration", "dayTimeDuration"),
    )
)

_INFIX: Final = frozenset(["||", "&&", "=", "<", "<=", ">", ">=", "+", "-", "*", "/"])
_LENIENT: Final = frozenset(["||", "&&", "BOUND", "IF", "COALESCE", "IN", "EXISTS"])
_NO_VALUE: Final = "<urn:ebbtide:no-value>"
_KINDS: Final = {"isIRI": "isURI", "isBLANK": "isBNode", "isLITERAL": "isLiteral"}
_OTHER_KINDS: Final = {"isBLANK": "notBNode", "isLITERAL": "notLiteral"}
_TEXTS: Final = {"STRSTARTS": "strStarts", "STRENDS": "strEnds", "CONTAINS": "strContains"}


def variables(expression: Expression) -> Iterator[str]:
    """The variables of an expression, those of EXISTS aside, with repetitions.

    >>> list(variables(("<", "?x", ("+", "?y", "?x"))))
    ['x', 'y', 'x']
    """
    if isinstance(expression, str):
        if expression.startswith("?"):
            yield expression[1:]
    elif expression[0] != "EXISTS":
        for operand in expression[1:]:
            yield from variables(operand)


def has_exists(expression: Expression) -> bool:
    """Whether a pattern is asked for anywhere in an expression."""
    if isinstance(expression, str):
        return False
    return expression[0] == "EXISTS" or any(map(has_exists, expression[1:]))


def functions(expression: Expression) -> Iterator[str]:
    """The operators and functions of an expression, those of EXISTS aside."""
    if not isinstance(expression, str) and expression[0] != "EXISTS":
        yield expression[0]
        for operand in expression[1:]:
            yield from functions(operand)


def never_holds(expression: Expression, lookup: Lookup) -> bool:
    """Whether unbound variables, `!` and BOUND alone make it certain that it does not hold."""
    match expression:
        case ("&&", *operands):
            return any(never_holds(operand, lookup) for operand in operands)
        case ("||", *operands):
            return all(never_holds(operand, lookup) for operand in operands)
        case ("BOUND", variable):
            return lookup(variable[1:]) is None
        case ("!", ("BOUND", variable)):
            return lookup(variable[1:]) is not None
    return never_has_value(expression, lookup)


def never_has_value(expression: Expression, lookup: Lookup) -> bool:
    """Whether an unbound variable makes it certain that it is an error."""
    if isinstance(expression, str):
        return expression.startswith("?") and lookup(expression[1:]) is None
    if expression[0] in _LENIENT:
        return False
    return any(never_has_value(operand, lookup) for operand in expression[1:])


def filter_guard(expression: Expression, lookup: Lookup) -> Guard:
    """The guard that an expression without EXISTS holds."""
    return _native(expression, lookup) or Guard(FILTER, _written(expression, lookup))


def bind_guard(expression: Expression, lookup: Lookup, result: Variable) -> Guard:
    """The guard that an expression yields `result`."""
    return Guard(BIND, (*_written(expression, lookup), result))


def error_guard(expression: Expression, lookup: Lookup) -> Guard:
    """The guard that an expression yields nothing."""
    failed = ("sameTerm", ("COALESCE", expression, _NO_VALUE), _NO_VALUE)
    return Guard(FILTER, _written(failed, lookup))


def _native(expression: Expression, lookup: Lookup) -> Guard | None:
    """A builtin of the house that means exactly the same, given that its variables are bound."""

    def bound(text: Expression) -> Argument | None:
        return lookup(text[1:]) if isinstance(text, str) and text.startswith("?") else None

    match expression:
        case (str(kind), operand) if kind in _KINDS and (argument := bound(operand)):
            return Guard(_KINDS[kind], (argument,))
        case ("!", (str(kind), operand)) if kind in _OTHER_KINDS and (argument := bound(operand)):
            return Guard(_OTHER_KINDS[kind], (argument,))
        case ("!", ("=", operand, str(iri))) | ("!", ("=", str(iri), operand)) if iri.startswith(
            "<"
        ) and (argument := bound(operand)):
            return Guard("notEqual", (argument, parse_term(iri)))
        case (str(test), ("STR", operand), str(part)) if (
            test in _TEXTS and part.startswith('"') and (argument := bound(operand))
        ):
            term = parse_term(part)
            if term == Literal(term.lexical if isinstance(term, Literal) else ""):
                return Guard(_TEXTS[test], (argument, term))
    return None


def equated(expression: Expression) -> tuple[str, str] | None:
    """A variable and the term or variable that it must be identical to, if that is all it says."""
    match expression:
        case ("sameTerm", str(one), str(other)) if one.startswith("?"):
            return one[1:], other
        case ("sameTerm", str(other), str(one)) if one.startswith("?"):
            return one[1:], other
        case ("=", str(one), str(iri)) | ("=", str(iri), str(one)) if one.startswith(
            "?"
        ) and iri.startswith("<"):
            return one[1:], iri
    return None


def _written(expression: Expression, lookup: Lookup) -> tuple[Argument, ...]:
    """The expression's text over numbered inputs, and the inputs."""
    inputs: dict[Argument, str] = {}
    names: dict[str, str] = {}
    for name in variables(expression):
        argument = lookup(name)
        if argument is None:
            names[name] = "?0"
        else:
            names[name] = inputs.setdefault(argument, f"?{len(inputs) + 1}")
    return Literal(_text(expression, names)), *inputs


def _text(expression: Expression, names: Mapping[str, str]) -> str:
    if isinstance(expression, str):
        return names[expression[1:]] if expression.startswith("?") else expression
    name, *rest = expression
    operands = [_text(operand, names) for operand in rest]
    match name, operands:
        case "!" | "-" | "+", [operand]:
            return f"({name} {operand})"
        case "IN", [needle, *others]:
            return f"({needle} IN ({', '.join(others)}))"
    if name in _INFIX:
        return f"({f' {name} '.join(operands)})"
    return f"{name}({', '.join(operands)})"


def is_constant(expression: Expression) -> IRI | Literal | None:
    """The term that an expression is."""
    if isinstance(expression, str) and not expression.startswith("?"):
        term = parse_term(expression)
        assert isinstance(term, IRI | Literal)
        return term
    return None
