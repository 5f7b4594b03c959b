"""Static graphs: the background, which has no name, and the graphs that FROM clauses name.

A graph is kept as tables of term texts, so that every materialisation that needs it takes it in
without a Python object a fact. What was taken back of it is kept beside it, with the instant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, TypeAlias

from ebbtide._kernel import Table
from ebbtide.engines.native import NativeEngine
from ebbtide.engines.planned import PlannedEngine
from ebbtide.program import TRIPLE, Fact, Program
from ebbtide.reasoner.intake import FactLike, as_fact, is_columnar, triple_batches
from ebbtide.terms import IRI
from ebbtide.terms.formats import TERM_COLUMNS, read_tables
from ebbtide.time import Instant

#: Paths of documents, tables with the columns s, p and o, and facts.
Data: TypeAlias = str | PathLike[str] | Iterable[FactLike]


class StaticGraph:
    """The facts of one static graph."""

    def __init__(self) -> None:
        self._tables: list[Table] = []
        self._facts: dict[Fact, None] = {}
        self._taken_back: dict[Fact, Instant] = {}
        #: What the tables hold, once somebody asked.
        self._held: NativeEngine | None = None

    def add(self, data: Any, after: Instant | None = None) -> None:
        """Add a document, a table or facts, after the tick that was over if there was one."""
        if isinstance(data, str | PathLike):
            self._tables += read_tables(data)
            self._held = None
        elif is_columnar(data):
            self._tables += map(Table, triple_batches(data, is_timed=False))
            self._held = None
        else:
            for fact in map(as_fact, data):
                self._facts[fact] = None
                taken_back = self._taken_back.get(fact)
                if taken_back is not None and after is not None and taken_back <= after:
                    del self._taken_back[fact]

    def retract(self, fact: Fact, at: Instant) -> None:
        """A fact holds no longer from an instant on, if it is in the graph."""
        if fact in self._facts or self._is_in_tables(fact):
            self._taken_back[fact] = min(at, self._taken_back.get(fact, at))

    def _is_in_tables(self, fact: Fact) -> bool:
        if not self._tables:
            return False
        if self._held is None:
            self._held = NativeEngine(Program((), {TRIPLE: 3}), {})
            for table in self._tables:
                self._held.add_arrow(table, TRIPLE, TERM_COLUMNS)
            self._held.evaluate(0)
        return self._held.until(fact) is not None

    def add_to(self, engine: NativeEngine | PlannedEngine) -> None:
        """State everything to an engine."""
        for table in self._tables:
            engine.add_arrow(table, TRIPLE, TERM_COLUMNS)
        for fact in self._facts:
            engine.add(fact)
        for fact, at in self._taken_back.items():
            engine.retract(fact, at)


def _is_piece(data: Any) -> bool:
    """Whether it is many facts by itself: a path or a table."""
    return isinstance(data, str | PathLike) or is_columnar(data)


def static_graphs(background: Any, graphs: Mapping[str, Any]) -> dict[IRI | None, StaticGraph]:
    """The graphs by name; that of None is the background."""
    found: dict[IRI | None, StaticGraph] = {None: StaticGraph()}
    data: list[Any] = [background] if _is_piece(background) else list(background)
    for piece in filter(_is_piece, data):
        found[None].add(piece)
    found[None].add([each for each in data if not _is_piece(each)])
    for name, content in graphs.items():
        found.setdefault(IRI(str(name).strip("<>")), StaticGraph()).add(content)
    return found
