"""Durations as people write them: from a text to milliseconds, and back.

10s  500 ms  1min  2h  1d        a number and a unit, in any case; m is a minute
PT10S  PT0.5S  P1DT12H           ISO 8601, without years and months, whose length varies
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from ebbtide.time.instant import LATEST

_SECOND: Final = 1_000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR

#: Milliseconds, by every name of a unit.
UNITS: Final = {
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), _SECOND),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), _MINUTE),
    **dict.fromkeys(("h", "hour", "hours"), _HOUR),
    **dict.fromkeys(("d", "day", "days"), _DAY),
}

_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
_WITH_UNIT: Final = re.compile(rf"({_NUMBER})\s*([A-Za-z]+)")
_ISO: Final = re.compile(
    rf"P(?:({_NUMBER})D)?(?:T(?=[0-9])(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?", re.I
)


class DurationError(ValueError):
    """A text that is not a duration."""


def parse_duration(text: str, least: int = 1) -> int:
    """The milliseconds of a duration, which must not be fewer than the least.

    >>> [parse_duration(text) for text in ("10s", "2 Min", "PT0.5S", "P1DT12H")]
    [10000, 120000, 500, 129600000]
    """
    if found := _WITH_UNIT.fullmatch(text):
        number, unit = found.groups()
        if unit.lower() not in UNITS:
            raise DurationError(f"the unit {unit} is not known; there are ms, s, m, h and d")
        length = Decimal(number) * UNITS[unit.lower()]
    elif (found := _ISO.fullmatch(text)) and any(found.groups()):
        parts = zip(found.groups(), (_DAY, _HOUR, _MINUTE, _SECOND), strict=True)
        length = sum((Decimal(number or 0) * unit for number, unit in parts), Decimal())
    else:
        raise DurationError("expected a duration, like 10s or PT10S")
    if length != int(length) or not least <= length <= LATEST:
        raise DurationError(f"a duration is a whole number of milliseconds, {least} or more")
    return int(length)


def show_duration(milliseconds: int) -> str:
    """A duration in the largest unit that it is a whole number of.

    >>> [show_duration(each) for each in (500, 3_000, 90_000, 600_000, 0)]
    ['500 ms', '3 s', '90 s', '10 min', '0 s']
    """
    units = (("d", _DAY), ("h", _HOUR), ("min", _MINUTE), ("s", _SECOND), ("ms", 1))
    name, length = next(
        (name, length)
        for name, length in units
        if milliseconds % length == 0 and (milliseconds or length == _SECOND)
    )
    return f"{milliseconds // length} {name}"
