"""The builtins of guards, as functions over terms.

A test gives True or False. A function gives the term it yields, or None where its arguments have no
meaning for it. `program/guard.py` says what each builtin is; this page is how it is worked out:

- `equal` holds of identical terms (NaN, too, as in Jena) and of values of one kind that are equal.
- Numbers, strings, booleans (false first), dates and instants have an order among their own kind;
  nothing else has one.
- Arithmetic yields an integer from two integers (but a quotient is a decimal), a double where one
  argument is a double, else a decimal. A quotient is cut after 18 fractional digits; any other
  result that does not fit is none.
- `min` and `max` yield one of the two terms as it is, the first when they are equal.
- Texts are the lexical form of a literal, whatever its datatype, and the value of an IRI.
- `skolem` labels a blank node by its depth (one more than that of its deepest input) and a digest
  of its inputs' texts, one a line; beyond `MAX_DEPTH` it yields nothing, so that invention ends.
- `sparqlFilter` and `sparqlBind` have the values that oxigraph gives to SPARQL's expressions.
- `regex` searches: it need not match the whole text. Patterns should keep to what Python's `re`
  and Rust's `regex` share; a pattern that cannot be read matches nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from ebbtide.engines.reference.datatypes import has_type, same_value, value_text
from ebbtide.engines.reference.values import Number, bounded, literal, order, truncated, value
from ebbtide.program import BUILTINS
from ebbtide.program.guard import MAX_DEPTH
from ebbtide.terms import IRI, BlankNode, Literal, Term, TermError, parse_term
from ebbtide.terms.term import FUNCTOR, LANG_STRING, XSD_STRING

_IRI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")


def equal(left: Term, right: Term) -> bool:
    """Whether two terms are identical, or equal in value."""
    return left == right or compare(left, right) == 0


def compare(left: Term, right: Term) -> int | None:
    """-1, 0 or 1 as the first comes before, with or after the second; None without an order."""
    first, second = value(left), value(right)
    if first is None or second is None or first[0] != second[0]:
        return None
    return order(first[1], second[1])


def text(term: Term) -> str | None:
    """The characters of a literal or an IRI; a blank node has none."""
    match term:
        case Literal():
            return term.lexical
        case IRI():
            return term.value
    return None


def _compares(*signs: int) -> Callable[[Term, Term], bool]:
    return lambda left, right: compare(left, right) in signs


def _on_texts(test: Callable[[str, str], bool]) -> Callable[[Term, Term], bool]:
    def holds(left: Term, right: Term) -> bool:
        first, second = text(left), text(right)
        return first is not None and second is not None and test(first, second)

    return holds


def _searches(characters: str, pattern: str) -> bool:
    try:
        return re.search(pattern, characters) is not None
    except re.error:
        return False


def _matches(characters: str, pattern: str) -> bool:
    try:
        return re.fullmatch(pattern, characters) is not None
    except re.error:
        return False


def _arithmetic(operation: Callable[[Number, Number], Number | None]) -> Callable[..., Term | None]:
    def compute(left: Term, right: Term) -> Term | None:
        match value(left), value(right):
            case ("number", int() | float() | Fraction() as a), (
                "number",
                int() | float() | Fraction() as b,
            ):
                if isinstance(a, float) or isinstance(b, float):
                    a, b = float(a), float(b)
                result = operation(a, b)
                within = None if result is None else bounded(result)
                return None if within is None else literal(within)
        return None

    return compute


def _quotient(left: Number, right: Number) -> Number | None:
    if right == 0:
        return None
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    return truncated(Fraction(left) / Fraction(right))


def _extreme(sign: int) -> Callable[[Term, Term], Term | None]:
    def choose(left: Term, right: Term) -> Term | None:
        found = compare(left, right)
        return None if found is None else right if found == sign else left

    return choose


def _concatenation(*terms: Term) -> Literal | None:
    texts = [text(term) for term in terms]
    return None if None in texts else Literal("".join(filter(None, texts)))


def _iri(*terms: Term) -> Term | None:
    joined = _concatenation(*terms)
    return IRI(joined.lexical) if joined and _IRI.fullmatch(joined.lexical) else None


def _group(term: Term, pattern: Term, number: Term) -> Term | None:
    characters, expression, group = text(term), text(pattern), _count(number)
    if characters is None or expression is None or group is None:
        return None
    try:
        match = re.fullmatch(expression, characters)
        return Literal(match[group] or "") if match else None
    except (re.error, IndexError):
        return None


def _count(term: Term) -> int | None:
    match value(term):
        case "number", int(number) if number >= 0:
            return number
    return None


def _length(term: Term) -> Term | None:
    characters = text(term)
    return None if characters is None else literal(len(characters))


def _datatype(term: Term) -> Term | None:
    return IRI(term.datatype) if isinstance(term, Literal) else None


def _data_value(term: Term) -> Term | None:
    text = value_text(term)
    return None if text is None else Literal(text)


def _skolem(*terms: Term) -> Term | None:
    depth = 1 + max((term.invented for term in terms), default=0)
    if depth > MAX_DEPTH:
        return None
    digest = hashlib.sha256("\n".join(term.text for term in terms).encode()).hexdigest()
    return BlankNode(f"invented-{depth}-{digest[:32]}")


def _functor(name: Term, *arguments: Term) -> Term | None:
    called = text(name)
    if called is None or any(argument.invented >= MAX_DEPTH for argument in arguments):
        return None
    lines = [f"{called}/{len(arguments)}", *(argument.text for argument in arguments)]
    return Literal("\n".join(lines), FUNCTOR)


def _functor_argument(term: Term, kind: Term, number: Term) -> Term | None:
    position = _count(number)
    if not _is_functor(term) or position is None:
        return None
    assert isinstance(term, Literal)
    name, *arguments = term.lexical.split("\n")
    if name != text(kind) or position >= len(arguments):
        return None
    try:
        return parse_term(arguments[position])
    except TermError:
        return None


def _is_functor(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype == FUNCTOR


def _sparql_filter(expression: Term, *terms: Term) -> bool:
    from ebbtide._kernel import sparql_holds

    return sparql_holds(text(expression) or "", [term.text for term in terms])


def _sparql_bind(expression: Term, *terms: Term) -> Term | None:
    from ebbtide._kernel import sparql_value

    found = sparql_value(text(expression) or "", [term.text for term in terms])
    return None if found is None else parse_term(found)


def _is_plain(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype in (XSD_STRING, LANG_STRING)


TESTS: Final[Mapping[str, Callable[..., bool]]] = MappingProxyType(
    {
        "equal": equal,
        "notEqual": lambda left, right: not equal(left, right),
        "sameTerm": lambda left, right: left == right,
        "notSameTerm": lambda left, right: left != right,
        "lessThan": _compares(-1),
        "greaterThan": _compares(1),
        "le": _compares(-1, 0),
        "ge": _compares(1, 0),
        "isLiteral": lambda term: isinstance(term, Literal),
        "notLiteral": lambda term: not isinstance(term, Literal),
        "isURI": lambda term: isinstance(term, IRI),
        "isBNode": lambda term: isinstance(term, BlankNode),
        "notBNode": lambda term: not isinstance(term, BlankNode),
        "isPLiteral": _is_plain,
        "isDLiteral": lambda term: isinstance(term, Literal) and not _is_plain(term),
        "isDType": lambda term, datatype: has_type(term, datatype) is True,
        "notDType": lambda term, datatype: has_type(term, datatype) is False,
        "sameValue": lambda left, right: same_value(left, right) is True,
        "differentValue": lambda left, right: same_value(left, right) is False,
        "strStarts": _on_texts(str.startswith),
        "strEnds": _on_texts(str.endswith),
        "strContains": _on_texts(str.__contains__),
        "regex": _on_texts(_searches),
        "matches": _on_texts(_matches),
        "sparqlFilter": _sparql_filter,
        "bound": lambda *terms: True,
        "isFunctor": _is_functor,
        "notFunctor": lambda term: not _is_functor(term),
        "notInvented": lambda term: not term.invented,
    }
)

FUNCTIONS: Final[Mapping[str, Callable[..., Term | None]]] = MappingProxyType(
    {
        "sum": _arithmetic(lambda left, right: left + right),
        "difference": _arithmetic(lambda left, right: left - right),
        "product": _arithmetic(lambda left, right: left * right),
        "quotient": _arithmetic(_quotient),
        "min": _extreme(1),
        "max": _extreme(-1),
        "strConcat": _concatenation,
        "strLength": _length,
        "datatype": _datatype,
        "dataValue": _data_value,
        "uriConcat": _iri,
        "matchGroup": _group,
        "sparqlBind": _sparql_bind,
        "skolem": _skolem,
        "functor": _functor,
        "functorArgument": _functor_argument,
    }
)

assert TESTS.keys() | FUNCTIONS.keys() == BUILTINS.keys()
