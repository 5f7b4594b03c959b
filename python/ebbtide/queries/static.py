"""Static graphs: the background, which has no name, and the graphs that FROM clauses name.

A graph is kept as tables of term texts, so that every materialisation that needs it takes it in
without a Python object a fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, TypeAlias

from ebbtide._kernel import Table
from ebbtide.engines.native import NativeEngine
from ebbtide.engines.planned import PlannedEngine
from ebbtide.program import TRIPLE, Fact
from ebbtide.reasoner.intake import FactLike, as_fact, is_columnar
from ebbtide.terms import IRI
from ebbtide.terms.formats import TERM_COLUMNS, read_tables

#: Paths of documents, tables with the columns s, p and o, and facts.
Data: TypeAlias = str | PathLike[str] | Iterable[FactLike]


class StaticGraph:
    """The facts of one static graph."""

    def __init__(self) -> None:
        self._tables: list[Table] = []
        self._facts: list[Fact] = []

    def add(self, data: Any) -> None:
        """Add a document, a table or facts."""
        if isinstance(data, str | PathLike):
            self._tables += read_tables(data)
        elif is_columnar(data):
            self._tables.append(Table(data))
        else:
            self._facts += map(as_fact, data)

    def add_to(self, engine: NativeEngine | PlannedEngine) -> None:
        """State everything to an engine."""
        for table in self._tables:
            engine.add_arrow(table, TRIPLE, TERM_COLUMNS)
        for fact in self._facts:
            engine.add(fact)


def static_graphs(background: Any, graphs: Mapping[str, Any]) -> dict[IRI | None, StaticGraph]:
    """The graphs by name; that of None is the background."""
    found: dict[IRI | None, StaticGraph] = {None: StaticGraph()}
    data: list[Any] = [background] if isinstance(background, str | PathLike) else list(background)
    pieces = [each for each in data if isinstance(each, str | PathLike) or is_columnar(each)]
    for piece in pieces:
        found[None].add(piece)
    found[None].add([each for each in data if each not in pieces])
    for name, content in graphs.items():
        found.setdefault(IRI(str(name).strip("<>")), StaticGraph()).add(content)
    return found
