"""Durations as people write them: 500 ms, 3 s, 10 min, 2 h, 1 d; a bare number is milliseconds."""

from __future__ import annotations

import re
from typing import Final

UNITS: Final = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
PATTERN: Final = r"^\s*\d+\s*(ms|s|min|h|d)\s*$"


def milliseconds(duration: int | str) -> int:
    """A duration in milliseconds.

    >>> milliseconds("3 s"), milliseconds("2h"), milliseconds(250)
    (3000, 7200000, 250)
    """
    if isinstance(duration, int):
        return duration
    if re.match(PATTERN, duration) is None:
        raise ValueError(f"not a duration (such as 500 ms, 3 s, 10 min, 2 h): {duration!r}")
    number, unit = re.findall(r"\d+|[a-z]+", duration)
    return int(number) * UNITS[unit]
