"""The kernel's Python face; see `ebbtide.engines.native` for what things mean."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

__all__ = [
    "MAX_LINE",
    "BadLine",
    "BareTable",
    "BudgetExceeded",
    "FormatError",
    "Kernel",
    "Reader",
    "SnapshotError",
    "SparqlQuery",
    "SparqlSyntaxError",
    "Table",
    "Timeline",
    "Writer",
    "parse_instant",
    "parse_lines",
    "sparql_holds",
    "sparql_query",
    "sparql_update",
    "sparql_value",
]

MAX_LINE: int

_Argument: TypeAlias = int | str
_Atom: TypeAlias = tuple[int, list[_Argument]]
_Asked: TypeAlias = Callable[..., bool | str | None]
_Guard: TypeAlias = tuple[str | tuple[str, bool, _Asked], list[_Argument]]
_Rule: TypeAlias = tuple[str, int, list[_Atom], list[_Atom], list[_Atom], list[_Guard]]
_Budget: TypeAlias = tuple[int | None, int | None, int | None, bool]

class BudgetExceeded(RuntimeError): ...
class SnapshotError(ValueError): ...

class FormatError(ValueError):
    def __init__(self, bad: BadLine) -> None: ...
    @property
    def bad(self) -> BadLine: ...

@final
class BadLine:
    @property
    def source(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def reason(self) -> str: ...
    @property
    def text(self) -> str: ...
    def after(self, lines: int) -> BadLine: ...

@final
class Reader:
    def __new__(
        cls,
        source: str | PathLike[str] | bytes,
        name: str,
        *,
        format: str | None = None,
        base: str | None = None,
        graph: str | None = None,
        scope: str | None = None,
        timed: bool = False,
        dated_by: str | None = None,
        graphs: bool = False,
        lenient: bool = False,
    ) -> Reader: ...
    def rows(self, limit: int) -> list[Any]: ...
    def table(self, limit: int) -> Table: ...
    def take_bad(self) -> list[BadLine]: ...
    @property
    def prefixes(self) -> dict[str, str]: ...
    @property
    def progress(self) -> tuple[int, int]: ...

@final
class Writer:
    def __new__(cls, format: str, prefixes: dict[str, str]) -> Writer: ...
    def write(self, table: Table, graph: str | None) -> bytes: ...
    def finish(self) -> bytes: ...

def parse_instant(text: str) -> int: ...
def parse_lines(data: Any, format: str = "tnt", scope: str | None = None) -> Table: ...

# SPARQL's algebra: tuples whose first item names the node. Terms are N-Triples texts, variables
# `?x`, blank nodes `_:b`.
#
#   query       ("select" | "ask" | "describe", dataset, pattern)
#               ("construct", dataset, pattern, [(s, p, o), ...])
#   operation   ("insert_data", [(s, p, o, graph | None), ...])
#               ("insert", dataset, pattern, [(s, p, o, graph | None), ...], deletes: bool)
#               ("delete_data" | "load" | "clear" | "create" | "drop",)
#   dataset     None | ([default graph, ...], [named graph, ...] | None)
#   pattern     ("bgp", [(s, p, o), ...])         ("path", s, path, o)
#               ("join", pattern, ...)            ("union", pattern, ...)
#               ("left_join", pattern, pattern, expression | None)
#               ("minus", pattern, pattern)       ("filter", pattern, expression)
#               ("extend", pattern, variable, expression)
#               ("graph", pattern, name)          ("values", [variable, ...], [[term | None, ...]])
#               ("project", pattern, [variable])  ("distinct" | "reduced", pattern)
#               ("order_by", pattern, [("asc" | "desc", expression)])
#               ("slice", pattern, start, length | None)
#               ("group", pattern, [variable], [(variable, aggregate)])
#               ("service", pattern, name, silent)
#   aggregate   (name, distinct, expression | None for *, separator | None)
#   path        an IRI | ("^" | "*" | "+" | "?", path) | ("/" | "|", path, ...) | ("!", IRI, ...)
#   expression  a term or variable | ("EXISTS", pattern) | (operator or function, expression, ...)
#               where operators are || && ! = < <= > >= + - * / and a function goes by its keyword
#               (BOUND, IF, COALESCE, IN, sameTerm, isIRI, STRLEN, ...) or by its IRI
_Algebra: TypeAlias = tuple[Any, ...]

class SparqlSyntaxError(ValueError):
    # message, (line, column) as far as the parser looked
    args: tuple[str, tuple[int, int] | None]

def sparql_query(text: str) -> _Algebra: ...
def sparql_update(text: str) -> list[_Algebra]: ...
def sparql_holds(text: str, terms: list[str]) -> bool: ...
def sparql_value(text: str, terms: list[str]) -> str | None: ...

# A relation of a kernel by its position, without the facts that have ended at an instant.
_View: TypeAlias = tuple[Kernel, int, int]

@final
class SparqlQuery:
    def __new__(cls, text: str) -> SparqlQuery: ...
    # Graphs by the texts of their names, None for the default graph. A table is a relation of any
    # arity as a graph: row r has t in column c is (r, <urn:ebbtide:column:c>, t). The answers are
    # (variables, rows), a truth, or triples.
    def answers(
        self,
        graphs: list[tuple[str | None, _View]],
        tables: list[tuple[str, _View]],
        now: str,
        dated: list[int | None] = ...,
    ) -> tuple[list[str], list[list[str | None]]] | bool | list[list[str]]: ...

@final
class Table:
    def __new__(cls, data: Any) -> Table: ...
    def rows(self, columns: list[str]) -> list[list[str]]: ...
    def rows_with(self, columns: list[str], column: int, texts: set[str]) -> list[list[str]]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Kernel:
    def __new__(
        cls,
        relations: list[tuple[str, int]],
        rules: list[_Rule],
        operators: list[tuple[Any, ...]],
        windows: list[tuple[Any, ...]],
        strategy: str,
        grid: tuple[int, int],
        budget: _Budget,
    ) -> Kernel: ...
    def add(self, relation: int, terms: list[str]) -> None: ...
    def push(self, stream: int, relation: int, terms: list[str], at: int) -> str | None: ...
    def retract(self, relation: int, terms: list[str], at: int) -> str | None: ...
    def push_arrow(
        self, stream: int, relation: int, data: Any, time: str, names: list[str]
    ) -> tuple[list[int], list[int]]: ...
    def add_arrow(self, relation: int, data: Any, names: list[str]) -> None: ...
    def add_read(self, relation: int, reader: Reader, limit: int) -> int: ...
    def advance(self, tick: int) -> None: ...
    @property
    def is_complete(self) -> bool: ...
    @property
    def quiet_until(self) -> int | None: ...
    @property
    def has_changes(self) -> bool: ...
    @property
    def tick(self) -> int | None: ...
    def __len__(self) -> int: ...
    def changes(self) -> list[tuple[int, list[str], int | None, int | None]]: ...
    def change_counts(self) -> tuple[int, int, int]: ...
    def changes_arrow(self, relation: int) -> Table: ...
    def facts(self, relation: int) -> list[tuple[list[str], int]]: ...
    def rows(
        self, relation: int, after: int, columns: list[int | None], unbound: str
    ) -> list[tuple[tuple[str | None, ...], int]]: ...
    def matching(self, relation: int, pattern: list[str | None]) -> list[list[str]]: ...
    def row_changes(
        self,
        relation: int,
        came: bool,
        columns: list[int | None],
        unbound: str,
        seen: tuple[int, int, int],
    ) -> list[tuple[tuple[str | None, ...], int]]: ...
    def facts_arrow(self, relation: int) -> Table: ...
    def triples_arrow(self, relation: int, part: str, invented: bool) -> tuple[Table, int]: ...
    def until(self, relation: int, terms: list[str]) -> int | None: ...
    def is_stated(self, relation: int, terms: list[str]) -> bool: ...
    def why(
        self, relation: int, terms: list[str]
    ) -> list[tuple[int, list[str], int, int | None, list[int]]]: ...
    def adopt(self, other: Kernel, span: int) -> None: ...
    def mirror(self, relation: int, other: Kernel, source: int, by: int, whole: bool) -> None: ...
    def snapshot(self, fingerprint: str) -> bytes: ...
    def restore(self, snapshot: bytes, fingerprint: str) -> None: ...
    def explain(self) -> str: ...
    def stats(self) -> dict[str, int]: ...

_Place: TypeAlias = int | str
_Route: TypeAlias = tuple[int, int, list[_Place]]

@final
class Timeline:
    def __new__(
        cls,
        start: int,
        step: int,
        clocks: list[tuple[int, int, str, int]],
        outputs: list[tuple[int, bool]],
        outside: int | None,
    ) -> Timeline: ...
    @property
    def next(self) -> int: ...
    def resume(self, next: int) -> None: ...
    def feed(
        self, kernel: Kernel, data: Any, time: str, names: Sequence[str], routes: list[_Route]
    ) -> tuple[list[int], int | None]: ...
    def tick(self, kernel: Kernel) -> int: ...
    def play(self, kernel: Kernel, to: int, full: bool) -> tuple[list[Table], list[int]]: ...

@final
class BareTable:
    def __new__(cls, kernel: Kernel, relation: int) -> BareTable: ...
    def __len__(self) -> int: ...
    def follow(self, kernel: Kernel) -> tuple[int, int]: ...
