"""The closure of a file under a program, once, in this process."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from os import PathLike
from typing import Final

import pyarrow as pa
import pyarrow.compute

from ebbtide.engines.planned import PlannedEngine
from ebbtide.program import TRIPLE, Atom, Program
from ebbtide.terms.formats import read_tables
from ebbtide.testing.workloads.lubm import Row
from ebbtide.time import Sliding

COLUMNS: Final = ("s", "p", "o")


def table_of(rows: Iterable[Row]) -> pa.Table:
    """Rows as columns of texts."""
    return pa.table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))


def read(path: str | PathLike[str]) -> pa.Table:
    """The triples of a document as columns of texts."""
    return pa.concat_tables([pa.table(table) for table in read_tables(path)])


def told(
    program: Program, table: pa.Table, wanted: Collection[Atom] | None = None
) -> PlannedEngine:
    """An engine that was told the triples, and has not evaluated them yet."""
    engine = PlannedEngine(program, {"default": Sliding(1)}, wanted=wanted)
    engine.add_arrow(table, TRIPLE, COLUMNS)
    return engine


def materialise(program: Program, table: pa.Table) -> PlannedEngine:
    """An engine that holds the triples and all that follows."""
    engine = told(program, table)
    engine.evaluate(0)
    return engine
