"""Durations in a pipeline file: 500 ms, 3 s, 10 min, 2 h, 1 d; a bare number is milliseconds."""

from __future__ import annotations

from typing import Final

from ebbtide.time import parse_duration

PATTERN: Final = r"^\s*\d+\s*(ms|s|min|h|d)\s*$"


def milliseconds(duration: int | str) -> int:
    """A duration in milliseconds.

    >>> milliseconds("3 s"), milliseconds("2h"), milliseconds(250)
    (3000, 7200000, 250)
    """
    return duration if isinstance(duration, int) else parse_duration(duration.strip(), least=0)
