"""Facts in columns, from and to an engine, without a Python object a fact where it can be.

In: a record batch with the columns t, s, p and o. Out: what a tick changed among the triples, as
Arrow with the columns s, p, o, until and diff (+1 entered, 0 renewed, -1 left; as in a `Delta`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ebbtide.engines.abilities import TakesArrow
from ebbtide.engines.events import Event
from ebbtide.engines.protocol import Engine, LateFact
from ebbtide.program import TRIPLE, Fact
from ebbtide.reasoner.intake import TIME_COLUMN
from ebbtide.terms import parse_term
from ebbtide.terms.formats import TERM_COLUMNS
from ebbtide.time import Instant

if TYPE_CHECKING:
    from ebbtide._kernel import Table


class Changes(NamedTuple):
    """As a `Delta`, with the triples in Arrow: columns c0, c1, c2, until and diff."""

    tick: Instant
    triples: Table
    complete: bool
    began: tuple[Event, ...]
    ended: tuple[Event, ...]


def push_batch(engine: Engine, batch: Any, stream: str) -> list[int]:
    """State the facts of a record batch; the numbers of the rows that came late."""
    if isinstance(engine, TakesArrow):
        return engine.push_arrow(batch, stream, TRIPLE, TIME_COLUMN, TERM_COLUMNS)
    late = []
    for row in range(batch.num_rows):
        fact, at = timed_fact(batch, row)
        try:
            engine.push(fact, at, stream)
        except LateFact:
            late.append(row)
    return late


def timed_fact(batch: Any, row: int) -> tuple[Fact, Instant]:
    """The fact of a row, and its instant."""
    terms = tuple(parse_term(batch.column(name)[row].as_py()) for name in TERM_COLUMNS)
    return Fact(TRIPLE, terms), batch.column(TIME_COLUMN)[row].as_py()
