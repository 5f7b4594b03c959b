"""Deltas as tables with time and diff: one row for each fact that a tick changed.

    tick  diff  until    fact
    2     +1    11       isIn(A, B)       it entered, and holds until 11
    4     ~     14       isIn(A, B)       it was renewed, and now holds until 14
    14    -1    14       isIn(A, B)       it left; it had been told to hold until 14

Rows are sorted by tick, then by the text of the fact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ebbtide.engines.protocol import Delta
from ebbtide.program import Fact
from ebbtide.testing.notation import Reader, show
from ebbtide.time import Instant, show_until

_HEADER: Final = ("tick", "diff", "until", "fact")


class Row(NamedTuple):
    """A change of one fact at one tick."""

    tick: Instant
    diff: str
    until: Instant
    fact: Fact


def rows(deltas: Iterable[Delta]) -> list[Row]:
    """The rows of what an engine answered."""
    return _sorted(
        Row(delta.tick, diff, until, fact)
        for delta in deltas
        for diff, changes in (("+1", delta.entered), ("~", delta.renewed), ("-1", delta.left))
        for fact, until in changes.items()
    )


def table(text: str, source: str = "<text>", first_line: int = 1) -> list[Row]:
    """Read a table; its header may be left out.

    >>> len(table("tick diff until fact  2 +1 11 isIn(A, B)  11 -1 11 isIn(A, B)"))
    2
    """
    reader = Reader(text, source, first_line)
    if reader.here.text == _HEADER[0]:
        for word in _HEADER:
            reader.expect(word)
    found: list[Row] = []
    while not reader.at_end():
        tick, diff = reader.integer(), reader.take().text
        if diff not in ("+1", "~", "-1"):
            raise reader.error("expected +1, ~ or -1 before this")
        found.append(Row(tick, diff, reader.until(), reader.fact()))
    return _sorted(found)


def show_rows(found: Iterable[Row]) -> str:
    """A table as text."""
    cells = [_HEADER, *((str(r.tick), r.diff, show_until(r.until), show(r.fact)) for r in found)]
    return "\n".join(f"{tick:<5} {diff:<5} {until:<8} {fact}" for tick, diff, until, fact in cells)


def _sorted(found: Iterable[Row]) -> list[Row]:
    return sorted(found, key=lambda row: (row.tick, show(row.fact), row.diff))
