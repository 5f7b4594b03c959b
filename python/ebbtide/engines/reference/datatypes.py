"""The data values of literals, and the value spaces of datatypes.

A data value is a pair (space, datum). Unlike the values that guards compare and compute with
(`values.py`), these are those of the standards: no bounds on digits, and identity instead of
numerical equality, because `"1"^^xsd:float` and `"1"^^xsd:integer` denote different things.

    decimal       Fraction: decimals, integers and the types derived from it
    float double  the bits: zero is not minus zero, and NaN is itself
    string        str: strings and the types derived from it
    language      (str, lower-case tag)
    boolean, dateTime and date (Moment, offset), anyURI, hexBinary and base64Binary (their digits)

Invariant: spaces are disjoint, so a value is in a datatype exactly if the datatype is of that space
and its own restriction allows the datum. Known are the datatypes of OWL 2 RL but rdf:XMLLiteral,
and xsd:date and rdf:langString. A lexical form that its datatype does not allow has no value.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from typing import Any, Final, TypeAlias

from ebbtide.engines.reference.values import DECIMAL, DOUBLE, Moment, offset, value
from ebbtide.terms import IRI, Literal, Term
from ebbtide.terms.term import LANG_STRING, RDF, XSD

DataValue: TypeAlias = tuple[str, Any]

PLAIN_LITERAL: Final = RDF + "PlainLiteral"
RDFS_LITERAL: Final = "http://www.w3.org/2000/01/rdf-schema#Literal"

_START: Final = (
    ":A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME_CHARACTER: Final = _START + "0-9.\u00b7\u0300-\u036f\u203f-\u2040-"
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_ZONE: Final = re.compile(r"(Z|[+-][0-9]{2}:[0-9]{2})$")
_HEX: Final = re.compile(r"([0-9A-Fa-f]{2})*")
# The last quartet's unused bits are zero, so that the text without spaces is one per value.
_BASE64: Final = re.compile(
    r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?"
)
_SPACED: Final = re.compile(r"([^ ]+( [^ ]+)*)?")


def _whole(low: int | None = None, high: int | None = None) -> Callable[[Fraction], bool]:
    def allows(number: Fraction) -> bool:
        above = low is None or low <= number
        return number.denominator == 1 and above and (high is None or number <= high)

    return allows


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _any(_datum: Any) -> bool:
    return True


#: Each known datatype: the space of its values, and which data of the space it allows.
DATATYPES: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    LANG_STRING: ("language", _any),
    **{
        XSD + name: (name, _any)
        for name in (
            *("decimal", "float", "double", "boolean", "string", "anyURI"),
            *("dateTime", "date", "hexBinary", "base64Binary"),
        )
    },
    XSD + "dateTimeStamp": ("dateTime", lambda datum: datum[0].zoned),
    **{
        XSD + name: ("decimal", allows)
        for name, allows in {
            "integer": _whole(),
            "nonNegativeInteger": _whole(low=0),
            "positiveInteger": _whole(low=1),
            "nonPositiveInteger": _whole(high=0),
            "negativeInteger": _whole(high=-1),
            "long": _whole(-(2**63), 2**63 - 1),
            "int": _whole(-(2**31), 2**31 - 1),
            "short": _whole(-(2**15), 2**15 - 1),
            "byte": _whole(-(2**7), 2**7 - 1),
            "unsignedLong": _whole(0, 2**64 - 1),
            "unsignedInt": _whole(0, 2**32 - 1),
            "unsignedShort": _whole(0, 2**16 - 1),
            "unsignedByte": _whole(0, 2**8 - 1),
        }.items()
    },
    **{
        XSD + name: ("string", _matches(pattern))
        for name, pattern in {
            "normalizedString": r"[^\t\n\r]*",
            "token": r"([^\t\n\r ]+( [^\t\n\r ]+)*)?",
            "language": _LANGUAGE.pattern,
            "NMTOKEN": f"[{_NAME_CHARACTER}]+",
            "Name": f"[{_START}][{_NAME_CHARACTER}]*",
            "NCName": f"[{_START[1:]}][{_NAME_CHARACTER[1:]}]*",
        }.items()
    },
}


def is_datatype(name: str) -> bool:
    """Whether the values of a datatype are known."""
    return name in DATATYPES or name in (PLAIN_LITERAL, RDFS_LITERAL)


def data_value(literal: Literal) -> DataValue | None:
    """What a literal denotes; None if its datatype is not known or does not allow it.

    >>> data_value(Literal("007", XSD + "int"))
    ('decimal', Fraction(7, 1))
    >>> data_value(Literal("256", XSD + "unsignedByte")) is None
    True
    """
    if literal.language:
        return "language", (literal.lexical, literal.language.lower())
    if literal.datatype == PLAIN_LITERAL:
        return _plain_literal(literal.lexical)
    if literal.datatype == LANG_STRING or literal.datatype not in DATATYPES:
        return None
    space, allows = DATATYPES[literal.datatype]
    if space == "decimal" and literal.datatype != XSD + "decimal" and "." in literal.lexical:
        return None  # A whole number, perhaps, but not written as an integer is.
    datum = _READERS[space](literal.lexical)
    return (space, datum) if datum is not None and allows(datum) else None


def has_type(term: Term, datatype: Term) -> bool | None:
    """Whether the value of a literal is in a datatype; None where that is not known."""
    if not isinstance(term, Literal) or not isinstance(datatype, IRI):
        return None
    if not is_datatype(term.datatype) or not is_datatype(datatype.value):
        return None
    found = data_value(term)
    if found is None:
        return False
    space, datum = found
    if datatype.value == RDFS_LITERAL:
        return True
    if datatype.value == PLAIN_LITERAL:
        return space in ("string", "language")
    of, allows = DATATYPES[datatype.value]
    return space == of and allows(datum)


def same_value(left: Term, right: Term) -> bool | None:
    """Whether two literals denote the same value; None where a value is not known."""
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return None
    first, second = data_value(left), data_value(right)
    return None if first is None or second is None else first == second


def value_text(term: Term) -> str | None:
    """The value of a literal as a text: two have the same exactly if they denote the same value.

    >>> value_text(Literal("007.50", XSD + "decimal"))
    'decimal 7.5'
    >>> value_text(Literal("2024-01-01T24:00:00+00:00", XSD + "dateTime"))
    'dateTime 2024 1 2 0 0 0 Z'
    """
    found = data_value(term) if isinstance(term, Literal) else None
    if found is None:
        return None
    space, datum = found
    return f"{space} {_WRITERS.get(space, str)(datum)}"


def _plain_literal(lexical: str) -> DataValue | None:
    text, at, tag = lexical.rpartition("@")
    if not at or (tag and not _LANGUAGE.fullmatch(tag)):
        return None
    return ("language", (text, tag.lower())) if tag else ("string", text)


def _decimal(lexical: str) -> Fraction | None:
    return Fraction(lexical) if DECIMAL.fullmatch(lexical) else None


def _double(lexical: str) -> bytes | None:
    return struct.pack(">d", float(lexical)) if DOUBLE.fullmatch(lexical) else None


def _float(lexical: str) -> bytes | None:
    """The bits of the nearest float; of two that are equally near, the even one."""
    if not DOUBLE.fullmatch(lexical):
        return None
    if (double := float(lexical)) in (0.0, math.inf, -math.inf) or math.isnan(double):
        # Nearer to a double's end than any float is.
        return struct.pack(">f", double)
    sign, exact = lexical.startswith("-"), abs(Fraction(lexical))
    # The bits of positive floats ascend with their values, up to infinity's.
    low, high = 0, 0x7F80_0000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _of_bits(middle) <= exact else (low, middle)
    below, above = exact - _of_bits(low), _of_bits(high) - exact
    bits = low if below < above or (below == above and low % 2 == 0) else high
    return struct.pack(">I", bits | sign << 31)


def _of_bits(bits: int) -> Fraction:
    """The value of a positive float; infinity counts as the next power of two."""
    if bits == 0x7F80_0000:
        return Fraction(2**128)
    return Fraction(struct.unpack(">f", struct.pack(">I", bits))[0])


def _boolean(lexical: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(lexical)


def _calendar(name: str) -> Callable[[str], tuple[Moment, int | None] | None]:
    def read(lexical: str) -> tuple[Moment, int | None] | None:
        found = value(Literal(lexical, XSD + name))
        if found is None:
            return None
        moment = found[1]
        assert isinstance(moment, Moment)
        return moment, offset(_ZONE.findall(lexical)[0]) if moment.zoned else None

    return read


def _hex(lexical: str) -> str | None:
    return lexical.upper() if _HEX.fullmatch(lexical) else None


def _base64(lexical: str) -> str | None:
    joined = lexical.replace(" ", "")
    return joined if _SPACED.fullmatch(lexical) and _BASE64.fullmatch(joined) else None


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "decimal": _decimal,
    "float": _float,
    "double": _double,
    "boolean": _boolean,
    "string": str,
    "anyURI": str,
    "dateTime": _calendar("dateTime"),
    "date": _calendar("date"),
    "hexBinary": _hex,
    "base64Binary": _base64,
}


def _digits(number: Fraction) -> str:
    """All digits, without zeros in front and behind."""
    places = 0
    while 10**places % number.denominator:
        places += 1
    whole, rest = divmod(abs(number.numerator) * 10**places // number.denominator, 10**places)
    sign = "-" if number < 0 else ""
    return f"{sign}{whole or ''}.{f'{rest:0{places}}' if places else ''}"


def _on_the_calendar(datum: tuple[Moment, int | None]) -> tuple[list[str], str]:
    """Year, month, day, hour, minute and second where it is, and the zone."""
    moment, minutes = datum[0], None if datum[1] is None else datum[1] // 60
    days, seconds = divmod(moment.seconds + (datum[1] or 0), 86_400)
    # As in `values.py`: the calendar repeats every 400 years.
    cycles, rest = divmod(days - _FIRST_DAY, 146_097)
    day = date.fromordinal(_FIRST_DAY + rest)
    whole, fraction = divmod(seconds, 1)
    second = f"{whole % 60}{_digits(fraction).rstrip('.')}"
    parts = (day.year - 400 + 400 * cycles, day.month, day.day, whole // 3600, whole // 60 % 60)
    if minutes is None:
        return [*map(str, parts), second], "-"
    hours, left = divmod(abs(minutes), 60)
    zone = f"{'-' if minutes < 0 else '+'}{hours:02}:{left:02}" if minutes else "Z"
    return [*map(str, parts), second], zone


def _date_time(datum: tuple[Moment, int | None]) -> str:
    parts, zone = _on_the_calendar(datum)
    return " ".join((*parts, zone))


def _date(datum: tuple[Moment, int | None]) -> str:
    parts, zone = _on_the_calendar(datum)
    return " ".join((*parts[:3], zone))


_FIRST_DAY: Final = date(400, 1, 1).toordinal()

_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "decimal": _digits,
    "float": bytes.hex,
    "double": bytes.hex,
    "boolean": lambda truth: str(truth).lower(),
    "language": lambda datum: f"{datum[1]} {datum[0]}",
    "dateTime": _date_time,
    "date": _date,
}
