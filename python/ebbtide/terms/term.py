"""Typed RDF terms.

A term is an `IRI`, a `BlankNode` or a `Literal`. Its text is its N-Triples form, and the text is
its identity: two terms are equal exactly when their texts are, so a term can be handed to the
kernel, to Arrow or to a file as a string and come back unchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, TypeAlias

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD_STRING: Final = XSD + "string"
LANG_STRING: Final = RDF + "langString"


class TermError(ValueError):
    """A text or a value that is not a term."""


@dataclass(frozen=True, slots=True)
class IRI:
    """A resource with a global name.

    >>> IRI("http://example/isIn").text
    '<http://example/isIn>'
    """

    value: str

    @property
    def text(self) -> str:
        """The N-Triples form."""
        return f"<{self.value}>"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A resource without a global name.

    >>> BlankNode("b0").text
    '_:b0'
    """

    label: str

    @property
    def text(self) -> str:
        """The N-Triples form."""
        return f"_:{self.label}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Literal:
    """A value: a lexical form with a datatype, or with a language.

    >>> Literal("21.5", XSD + "decimal").text
    '"21.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    >>> Literal("hei", language="fi").text
    '"hei"@fi'
    """

    lexical: str
    datatype: str = XSD_STRING
    language: str = ""

    def __post_init__(self) -> None:
        if self.language:
            object.__setattr__(self, "datatype", LANG_STRING)

    @property
    def text(self) -> str:
        """The N-Triples form."""
        quoted = f'"{_escape(self.lexical)}"'
        if self.language:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == XSD_STRING else f"{quoted}^^<{self.datatype}>"

    def __str__(self) -> str:
        return self.text


Term: TypeAlias = IRI | BlankNode | Literal

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_UNESCAPES: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_NEEDS_ESCAPE: Final = re.compile(r'[\\"\n\r]')
_ESCAPED: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_LITERAL: Final = re.compile(
    r'"((?:[^"\\\n\r]|\\.)*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^<([^<>]*)>)?', re.DOTALL
)


def _escape(lexical: str) -> str:
    return _NEEDS_ESCAPE.sub(lambda match: _ESCAPES[match[0]], lexical)


def _unescape(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "uU" and len(code) > 1:
            return chr(int(code[1:], 16))
        return _UNESCAPES.get(code, code)

    return _ESCAPED.sub(plain, text) if "\\" in text else text


def parse_term(text: str) -> Term:
    r"""Read a term from its N-Triples form.

    >>> parse_term("<http://example/a>")
    IRI(value='http://example/a')
    >>> parse_term('"7"^^<http://www.w3.org/2001/XMLSchema#integer>').lexical
    '7'
    """
    if text.startswith("<") and text.endswith(">"):
        return IRI(_unescape(text[1:-1]))
    if text.startswith("_:") and len(text) > 2:
        return BlankNode(text[2:])
    match = _LITERAL.fullmatch(text)
    if match is None:
        raise TermError(f"not an RDF term: {text[:80]}")
    return Literal(_unescape(match[1]), match[3] or XSD_STRING, match[2] or "")


def to_term(value: Any) -> Term:
    """Turn a Python value, or a term of rdflib, into a term.

    >>> to_term(7).text
    '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    >>> to_term("<http://example/a>")
    IRI(value='http://example/a')
    >>> to_term("plain words")
    Literal(lexical='plain words', datatype='http://www.w3.org/2001/XMLSchema#string', language='')
    """
    match value:
        case IRI() | BlankNode() | Literal():
            return value
        case bool():
            return Literal("true" if value else "false", XSD + "boolean")
        case int():
            return Literal(str(value), XSD + "integer")
        case float():
            return Literal(repr(value), XSD + "double")
        case Decimal():
            return Literal(f"{value:f}", XSD + "decimal")
        case datetime():
            return Literal(value.isoformat().replace("+00:00", "Z"), XSD + "dateTime")
        case date():
            return Literal(value.isoformat(), XSD + "date")
    if callable(n3 := getattr(value, "n3", None)):
        return parse_term(n3())
    if isinstance(value, str):
        looks_like_a_term = value.startswith(("<", "_:", '"'))
        return parse_term(value) if looks_like_a_term else Literal(value)
    raise TermError(f"cannot make a term of {type(value).__name__}: {value!r}")


def to_python(term: Term) -> Any:
    """Turn a literal into the Python value it denotes; other terms stay as they are.

    >>> to_python(Literal("7", XSD + "integer"))
    7
    >>> to_python(Literal("seven", XSD + "integer"))
    Literal(lexical='seven', datatype='http://www.w3.org/2001/XMLSchema#integer', language='')
    """
    if not isinstance(term, Literal):
        return term
    if term.datatype == XSD_STRING:
        return term.lexical
    reader = _READERS.get(term.datatype)
    if reader is None:
        return term
    try:
        return reader(term.lexical)
    except (ValueError, ArithmeticError, KeyError):
        return term


_READERS: Final = {
    XSD + "integer": int,
    XSD + "int": int,
    XSD + "long": int,
    XSD + "decimal": Decimal,
    XSD + "double": float,
    XSD + "float": float,
    XSD + "boolean": {"true": True, "1": True, "false": False, "0": False}.__getitem__,
    XSD + "dateTime": datetime.fromisoformat,
    XSD + "date": date.fromisoformat,
}
