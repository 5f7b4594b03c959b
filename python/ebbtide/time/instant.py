"""Instants: signed 64-bit counts of milliseconds of event time (or of plain ticks).

`until` is always exclusive: a fact holds at t while t < until. `FOREVER` is the `until` of the
background; no event happens at or beyond it. Events happen between `EARLIEST` and `LATEST`, which
leaves room to add or subtract a window's range without leaving 64 bits.
"""

from __future__ import annotations

from operator import index
from typing import Final, SupportsIndex, TypeAlias

Instant: TypeAlias = int

FOREVER: Final[Instant] = 2**63 - 1
EARLIEST: Final[Instant] = -(2**62)
LATEST: Final[Instant] = 2**62


class InstantError(ValueError):
    """A text that is not an instant."""


def as_instant(value: SupportsIndex) -> Instant:
    """The instant of an event: any integer that is in range.

    >>> as_instant(1500)
    1500
    """
    try:
        instant = index(value)
    except TypeError:
        raise InstantError(f"not an instant (an integer): {value!r}") from None
    if not EARLIEST <= instant <= LATEST:
        raise InstantError(f"not an instant (beyond 2^62 milliseconds): {instant}")
    return instant


def parse_instant(text: str) -> Instant:
    """Read milliseconds, or ISO 8601 (without a zone: UTC).

    >>> parse_instant("1500"), parse_instant("1970-01-01T00:00:01.5Z")
    (1500, 1500)
    """
    from ebbtide._kernel import parse_instant as parse

    try:
        return parse(text)
    except ValueError as error:
        raise InstantError(str(error)) from None


def show_until(until: Instant) -> str:
    """An `until` for people: the number, or `forever`."""
    return "forever" if until == FOREVER else str(until)
