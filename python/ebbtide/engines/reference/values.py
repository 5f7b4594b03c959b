"""What literals denote: numbers, strings, booleans and instants of the calendar.

A value is a pair (kind, datum). Values compare only within a kind:

    number      int: 64-bit signed | Fraction: 18 fractional digits in 128 bits | float: a double
    string      str, ordered by code point
    boolean     bool, false before true
    dateTime    Moment
    date        Moment, the first of the day

Invariant: a datum is always within the bounds of its kind. A lexical form outside them, and one
that XML Schema does not allow, denotes nothing. `xsd:float` is read as a double; sums have it as a
`Single`. The types derived from `xsd:integer` are read as integers; their own bounds are not
checked.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from ebbtide.terms import Literal, Term
from ebbtide.terms.term import XSD, XSD_STRING


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds on the calendar: of UTC when `zoned`, else of an unknown zone."""

    seconds: Fraction
    zoned: bool


class Single(float):
    """A number of xsd:float: a double that has as few bits as one."""

    @classmethod
    def nearest(cls, number: float) -> Single:
        """The float next to a number.

        >>> Single.nearest(0.1) + 0
        0.10000000149011612
        """
        try:
            return cls(struct.unpack("f", struct.pack("f", number))[0])
        except OverflowError:
            return cls(math.copysign(math.inf, number))


Number: TypeAlias = int | Fraction | float
Datum: TypeAlias = Number | str | Moment
Value: TypeAlias = tuple[str, Datum]

_INTEGERS: Final = frozenset(
    XSD + name
    for name in (
        *("integer", "long", "int", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_DOUBLES: Final = frozenset({XSD + "double", XSD + "float"})
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
_ONE: Final = 10**18
#: When the first day of the year 1 begins, in seconds of a `Moment`.
_YEAR_1: Final = Fraction(date(401, 1, 1).toordinal() * 86_400)
#: By how many seconds a zone may be away from UTC.
_DOUBT: Final = 14 * 3600

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
DECIMAL: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
DOUBLE: Final = re.compile(DECIMAL.pattern + r"([eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_DATE: Final = r"(-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-([0-9]{2})-([0-9]{2})"
_TIME: Final = r"T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)"
_ZONE: Final = r"(Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
_CALENDAR: Final = {
    XSD + "dateTime": ("dateTime", re.compile(_DATE + _TIME + _ZONE)),
    XSD + "date": ("date", re.compile(_DATE + r"()()()" + _ZONE)),
}

_YEARS: Final = r"(?P<sign>-)?P(?:(?P<year>[0-9]+)Y)?(?:(?P<month>[0-9]+)M)?"
_DAYS: Final = (
    r"(?:(?P<day>[0-9]+)D)?"
    r"(?:T(?=[0-9])(?:(?P<hour>[0-9]+)H)?(?:(?P<minute>[0-9]+)M)?"
    r"(?:(?P<second>[0-9]+(?:\.[0-9]+)?)S)?)?"
)
_NONE: Final = "".join(f"(?P<{part}>(?!))?" for part in ("day", "hour", "minute", "second"))
_DURATIONS: Final = {
    XSD + "duration": re.compile(_YEARS + _DAYS),
    XSD + "yearMonthDuration": re.compile(_YEARS + _NONE),
    XSD + "dayTimeDuration": re.compile(r"(?P<sign>-)?P(?P<year>(?!))?(?P<month>(?!))?" + _DAYS),
}
_MONTH: Final = 2_629_746
_SECONDS: Final = {
    **{"year": 12 * _MONTH, "month": _MONTH},
    **{"day": 86_400, "hour": 3_600, "minute": 60, "second": 1},
}


def value(term: Term) -> Value | None:
    """What a literal denotes; None for other terms and for lexical forms without a meaning.

    >>> value(Literal("007", XSD + "int"))
    ('number', 7)
    >>> value(Literal("seven", XSD + "int")) is None
    True
    """
    if not isinstance(term, Literal):
        return None
    lexical, datatype = term.lexical, term.datatype
    if datatype == XSD_STRING:
        return "string", lexical
    if datatype == XSD + "boolean":
        return ("boolean", _BOOLEANS[lexical]) if lexical in _BOOLEANS else None
    if datatype in _CALENDAR:
        kind, form = _CALENDAR[datatype]
        moment = _moment(form.fullmatch(lexical))
        return (kind, moment) if moment is not None else None
    number: Number | None = None
    if datatype in _INTEGERS and _INTEGER.fullmatch(lexical):
        number = bounded(_exact(lexical).numerator)
    elif datatype == XSD + "decimal" and DECIMAL.fullmatch(lexical):
        number = bounded(_exact(lexical))
    elif datatype in _DOUBLES and DOUBLE.fullmatch(lexical):
        number = float(lexical)
    return ("number", number) if number is not None else None


def exactly(term: Term) -> Fraction | None:
    """The number of a whole number or a decimal, which may be out of bounds.

    >>> exactly(Literal("18446744073709551616", XSD + "integer"))
    Fraction(18446744073709551616, 1)
    """
    if not isinstance(term, Literal):
        return None
    is_whole = term.datatype in _INTEGERS and _INTEGER.fullmatch(term.lexical)
    is_decimal = term.datatype == XSD + "decimal" and DECIMAL.fullmatch(term.lexical)
    return _exact(term.lexical) if is_whole or is_decimal else None


def _exact(lexical: str) -> Fraction:
    """The number of some digits, of which there may be more than Python's `int` reads."""
    return Fraction(Decimal(lexical))


def duration(term: Term) -> Fraction | None:
    """How many seconds a duration lasts, if a month is a twelfth of the calendar's mean year.

    >>> duration(Literal("P1DT0.5S", XSD + "dayTimeDuration"))
    Fraction(172801, 2)
    """
    form = _DURATIONS.get(term.datatype) if isinstance(term, Literal) else None
    found = form.fullmatch(term.lexical) if form is not None and isinstance(term, Literal) else None
    if found is None or not any(parts := [found[part] for part in _SECONDS]):
        return None
    total = sum(
        Fraction(count or 0) * seconds
        for count, seconds in zip(parts, _SECONDS.values(), strict=True)
    )
    return Fraction(-total if found["sign"] else total)


def bounded(number: Number) -> Number | None:
    """The number, unless it is out of its bounds or has more fractional digits than are kept."""
    match number:
        case int():
            return number if -(2**63) <= number < 2**63 else None
        case Fraction():
            scaled = number * _ONE
            fits = scaled.denominator == 1 and -(2**127) <= scaled < 2**127
            return number if fits else None
    return number


def truncated(number: Fraction) -> Fraction:
    """The number cut towards zero after 18 fractional digits."""
    return Fraction(int(number * _ONE), _ONE)


def literal(number: Number) -> Literal:
    """The literal that denotes a number.

    Integers are plain; decimals and doubles have no exponent and no superfluous zero; a double has
    the fewest digits that read back as itself, and of two such forms that are equally near the
    even one.

    >>> [literal(number).lexical for number in (7, Fraction(5, 2), Fraction(3), 1e21, -0.5)]
    ['7', '2.5', '3', '1000000000000000000000', '-0.5']
    """
    match number:
        case int():
            return Literal(str(number), XSD + "integer")
        case Fraction():
            whole, part = divmod(abs(int(number * _ONE)), _ONE)
            return Literal(_plain(f"{'-' * (number < 0)}{whole}.{part:018}"), XSD + "decimal")
    datatype = XSD + ("float" if isinstance(number, Single) else "double")
    if math.isnan(number):
        return Literal("NaN", datatype)
    if math.isinf(number):
        return Literal("INF" if number > 0 else "-INF", datatype)
    if isinstance(number, Single):
        forms = (Decimal(f"{float(number):.{digits}g}") for digits in range(1, 10))
        form = next(each for each in forms if Single.nearest(float(each)) == number)
        return Literal(_plain(f"{form:f}"), datatype)
    return Literal(_plain(f"{shortest(number):f}"), datatype)


def shortest(number: float) -> Decimal:
    """The shortest decimal that reads back as the double; `repr` leaves open which one."""
    plain = Decimal(repr(number))
    digits = len(plain.as_tuple().digits)
    even = Context(prec=digits, rounding=ROUND_HALF_EVEN).create_decimal(Decimal(number))
    return even if float(even) == number else plain


def order(left: Datum, right: Datum) -> int | None:
    """-1, 0 or 1 for two data of one kind; None where neither comes first.

    Numbers meet as doubles when one of them is. A moment without a zone may lie up to fourteen
    hours to either side, so it compares with a zoned one only from beyond them, and only if both
    ends are in bounds.
    """
    if isinstance(left, Moment) and isinstance(right, Moment):
        unzoned = (right if left.zoned else left).seconds
        is_clear = left.zoned == right.zoned or (
            abs(left.seconds - right.seconds) > _DOUBT
            and _is_kept(unzoned - _DOUBT)
            and _is_kept(unzoned + _DOUBT)
        )
        return _sign(left.seconds, right.seconds) if is_clear else None
    if isinstance(left, float) and isinstance(right, int | Fraction):
        return _sign(left, float(right))
    if isinstance(left, int | Fraction) and isinstance(right, float):
        return _sign(float(left), right)
    return _sign(left, right)


def _sign(left: Any, right: Any) -> int | None:
    if left == right:
        return 0
    return -1 if left < right else 1 if left > right else None


def _plain(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _moment(match: re.Match[str] | None) -> Moment | None:
    if match is None:
        return None
    year, month, day = (int(part) for part in match.group(1, 2, 3))
    hour, minute = (int(part or 0) for part in match.group(4, 5))
    second = Fraction(match[6] or 0)
    if minute > 59 or second >= 60 or hour * 3600 + minute * 60 + second > 24 * 3600:
        return None
    try:
        # The calendar repeats every 400 years (146,097 days); Python's begins with the year 1.
        days = date(year % 400 + 400, month, day).toordinal() + year // 400 * 146_097
    except ValueError:
        return None
    seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset(match[7])
    if bounded(second) is None or not _is_kept(seconds):
        return None
    return Moment(seconds, zoned=bool(match[7]))


def _is_kept(seconds: Fraction) -> bool:
    """Whether an instant is in bounds: it is a decimal, from the year 1 on. 10^14 is no year."""
    return bounded(seconds - _YEAR_1) is not None


def offset(zone: str | None) -> int:
    """The seconds by which a zone is ahead of UTC."""
    if zone is None or zone == "Z":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
    return -seconds if zone[0] == "-" else seconds
