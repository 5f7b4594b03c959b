"""Typed RDF terms.

A term is an `IRI`, a `BlankNode` or a `Literal`. Its text is its N-Triples form, and the text is
its identity: two terms are equal exactly when their texts are, so a term can be handed to the
kernel, to Arrow or to a file as a string and come back unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, TypeAlias

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD_STRING: Final = XSD + "string"
LANG_STRING: Final = RDF + "langString"
FUNCTOR: Final = "urn:ebbtide:functor"


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

    @property
    def invented(self) -> int:
        """No rule invents an IRI."""
        return 0

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

    @property
    def invented(self) -> int:
        """How deep rules nested to invent it (labels `invented-<depth>-<digest>`); 0 if none did.

        >>> BlankNode("invented-1-e3b0c44298fc1c149afbf4c8996fb924").invented
        1
        """
        match = _INVENTED.fullmatch(self.label)
        return int(match[1]) if match else 0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Literal:
    """A value: a lexical form with a datatype, or with a language, whose tag is in lower case.

    >>> Literal("21.5", XSD + "decimal").text
    '"21.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    >>> Literal("hei", language="fi-FI").text
    '"hei"@fi-fi'
    """

    lexical: str
    datatype: str = XSD_STRING
    language: str = ""

    def __post_init__(self) -> None:
        if self.language:
            object.__setattr__(self, "datatype", LANG_STRING)
            # RDF compares tags without their case, and the text is the identity.
            object.__setattr__(self, "language", self.language.lower())

    @property
    def text(self) -> str:
        """The N-Triples form."""
        quoted = f'"{_escape(self.lexical)}"'
        if self.language:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == XSD_STRING else f"{quoted}^^<{self.datatype}>"

    @property
    def invented(self) -> int:
        """How deep rules nested to invent it; 0 unless it is a functor.

        The lexical form of a functor is its name and arity, and the text of each argument, a line
        each.

        >>> Literal("all/1\\n<http://example/p>", FUNCTOR).invented
        1
        """
        if self.datatype != FUNCTOR:
            return 0
        arguments = self.lexical.split("\n")[1:]
        return 1 + max((_depth(text) for text in arguments), default=0)

    def __str__(self) -> str:
        return self.text


Term: TypeAlias = IRI | BlankNode | Literal

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_UNESCAPES: Final = dict(zip("tbnrf\"'\\", "\t\b\n\r\f\"'\\", strict=True))
_NEEDS_ESCAPE: Final = re.compile(r'[\\"\n\r]')
_ESCAPED: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_INVENTED: Final = re.compile(r"invented-([0-9])-[0-9a-f]{32}")
_CODE: Final = r"u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}"
_IRI_CHARACTERS: Final = r"[^\x00-\x20<>\"{}|^`\\]*"
_STRING_CHARACTERS: Final = r"[^\"\\\n\r]*"
IRI_PATTERN: Final = rf"<{_IRI_CHARACTERS}(?:\\(?:{_CODE}){_IRI_CHARACTERS})*>"
# PN_CHARS_U of N-Triples with digits, and what PN_CHARS has beyond that.
_LABEL_START: Final = (
    r"A-Za-z0-9_:\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C-\u200D"
    r"\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_LABEL: Final = _LABEL_START + r"\-\u00B7\u0300-\u036F\u203F-\u2040"
BLANK_PATTERN: Final = rf"_:[{_LABEL_START}](?:[{_LABEL}.]*[{_LABEL}])?"
STRING_PATTERN: Final = (
    rf"\"{_STRING_CHARACTERS}(?:\\(?:[tbnrf\"'\\]|{_CODE}){_STRING_CHARACTERS})*\""
)
LANGUAGE_PATTERN: Final = r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"
_IRI: Final = re.compile(IRI_PATTERN)
_BLANK: Final = re.compile(BLANK_PATTERN)
_LITERAL: Final = re.compile(rf"({STRING_PATTERN})(?:({LANGUAGE_PATTERN})|\^\^({IRI_PATTERN}))?")


def _escape(lexical: str) -> str:
    return _NEEDS_ESCAPE.sub(lambda match: _ESCAPES[match[0]], lexical)


def unescape(text: str) -> str:
    r"""Replace the escapes of N-Triples by what they stand for.

    >>> unescape(r"caf\u00e9")
    'café'
    """

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if code in _UNESCAPES:
            return _UNESCAPES[code]
        if len(code) == 1:
            raise TermError(f"unknown escape: {match[0]}")
        point = int(code[1:], 16)
        if point > 0x10FFFF or 0xD800 <= point < 0xE000:
            raise TermError(f"not a Unicode character: {match[0]}")
        return chr(point)

    return _ESCAPED.sub(plain, text) if "\\" in text else text


def _parse_iri(text: str) -> str:
    if _IRI.fullmatch(text):
        value = unescape(text[1:-1])
        # An escape must not smuggle in a character that an IRI cannot have.
        if "\\" not in text or _IRI.fullmatch(f"<{value}>"):
            return value
    raise TermError(f"not an IRI: {text[:80]}")


def parse_term(text: str) -> Term:
    r"""Read a term from its N-Triples form.

    >>> parse_term("<http://example/a>")
    IRI(value='http://example/a')
    >>> parse_term('"7"^^<http://www.w3.org/2001/XMLSchema#integer>').lexical
    '7'
    """
    if text.startswith("<"):
        return IRI(_parse_iri(text))
    if _BLANK.fullmatch(text):
        return BlankNode(text[2:])
    if (match := _LITERAL.fullmatch(text)) is None:
        raise TermError(f"not an RDF term: {text[:80]}")
    string, language, datatype = match.groups()
    return Literal(
        unescape(string[1:-1]),
        _parse_iri(datatype) if datatype else XSD_STRING,
        language[1:] if language else "",
    )


def is_absolute(iri: str) -> bool:
    """Whether an IRI has a scheme, so that it means the same wherever it stands.

    >>> is_absolute("http://example/a"), is_absolute("a")
    (True, False)
    """
    return _SCHEME.match(iri) is not None


def absolute(term: Term) -> Term:
    """The term, whose IRIs, the datatype of a literal too, must be absolute, as RDF wants them.

    >>> absolute(IRI("a"))
    Traceback (most recent call last):
    ebbtide.terms.term.TermError: the IRI <a> is relative; a term is written with its whole IRI,
    such as <http://example/a>
    """
    match term:
        case IRI(value) | Literal(datatype=value) if not is_absolute(value):
            shown = value.lstrip("/#?")[:80]
            raise TermError(
                f"the IRI <{value[:80]}> is relative; a term is written with its whole IRI, "
                f"such as <http://example/{shown}>"
            )
    return term


def _depth(text: str) -> int:
    """How deep rules nested to invent the term of a text, if it is one."""
    try:
        return parse_term(text).invented
    except TermError:
        return 0


#: Doubles that Python and XML write differently.
_SPECIAL: Final = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}


def to_term(value: Any) -> Term:
    """Turn a Python value, a number of numpy or a term of rdflib into a term.

    >>> to_term(7).text
    '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    >>> to_term("<http://example/a>")
    IRI(value='http://example/a')
    >>> to_term("plain words")
    Literal(lexical='plain words', datatype='http://www.w3.org/2001/XMLSchema#string', language='')
    """
    if type(value) is str:
        looks_like_a_term = value.startswith(("<", "_:", '"'))
        return parse_term(value) if looks_like_a_term else Literal(value)
    match value:
        case IRI() | BlankNode() | Literal():
            return value
        case bool():
            return Literal("true" if value else "false", XSD + "boolean")
        case int():
            return Literal(str(int(value)), XSD + "integer")
        case float():
            # Not its own repr: a float of numpy says that it is one.
            text = repr(float(value))
            return Literal(_SPECIAL.get(text, text), XSD + "double")
        case Decimal() if value.is_finite():
            return Literal(f"{value:f}", XSD + "decimal")
        case datetime():
            return Literal(value.isoformat().replace("+00:00", "Z"), XSD + "dateTime")
        case date():
            return Literal(value.isoformat(), XSD + "date")
    if isinstance(value, str) and hasattr(value, "datatype") and hasattr(value, "language"):
        # A literal of rdflib; its n3() may be Turtle's long form, which is not N-Triples.
        return Literal(str(value), str(value.datatype or XSD_STRING), value.language or "")
    if callable(n3 := getattr(value, "n3", None)):
        return parse_term(n3())
    if isinstance(value, str):
        return to_term(str(value))
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return to_term(value.item())
    raise TermError(f"cannot make a term of {type(value).__name__}: {value!r}")


def to_rdflib(term: Term) -> Any:
    """The term as rdflib has it: a URIRef, a BNode or a Literal."""
    import rdflib

    match term:
        case IRI(value):
            return rdflib.URIRef(value)
        case BlankNode(label):
            return rdflib.BNode(label)
        case Literal(lexical, datatype, language):
            if language:
                return rdflib.Literal(lexical, lang=language)
            kind = None if datatype == XSD_STRING else rdflib.URIRef(datatype)
            # The lexical form is the term's identity: rdflib must not tidy it up.
            return rdflib.Literal(lexical, datatype=kind, normalize=False)


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


def _reader(form: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader of the texts that a datatype has; Python's own take more than these."""
    pattern = re.compile(form)

    def reader(text: str) -> Any:
        if pattern.fullmatch(text) is None:
            raise ValueError(text)
        return read(text)

    return reader


_DIGITS: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_INTEGERS: Final = (
    *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger"),
    *("nonPositiveInteger", "negativeInteger"),
    *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
)
_FLOAT: Final = _reader(rf"[+-]?(?:{_DIGITS}(?:[eE][+-]?[0-9]+)?|INF)|NaN", float)

_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    **dict.fromkeys((XSD + name for name in _INTEGERS), _reader(r"[+-]?[0-9]+", int)),
    XSD + "decimal": _reader(rf"[+-]?{_DIGITS}", Decimal),
    XSD + "double": _FLOAT,
    XSD + "float": _FLOAT,
    XSD + "boolean": {"true": True, "1": True, "false": False, "0": False}.__getitem__,
    # Python's instants have no more than microseconds.
    XSD + "dateTime": _reader(
        rf"{_DATE}T[0-9:]{{8}}(?:\.[0-9]{{1,6}}0*)?(?:Z|[+-][0-9:]{{5}})?", datetime.fromisoformat
    ),
    XSD + "date": _reader(_DATE, date.fromisoformat),
}
