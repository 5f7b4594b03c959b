"""Solutions of a query in typed columns: one schema for all batches, whatever the answers hold.

    t  query  op  until       the tick, the query's name, + or - or null for all there is
    n  decimal, double, ...   a variable whose type is declared, or known from the query
    x  struct                 any other: value (an IRI, or a lexical form), datatype, language

Invariant: nothing is lost and nothing is guessed. A value that is not of the declared type is an
error that names it, as a cast of Spark's is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file.model import COLUMN_TYPE, NO_COLUMN_TYPE
from ebbtide.terms import IRI, BlankNode, Literal, parse_term
from ebbtide.terms.term import LANG_STRING, XSD_STRING
from ebbtide.time import FOREVER

if TYPE_CHECKING:
    from ebbtide.languages.rspql import ContinuousQuery
    from ebbtide.queries import Answers

TERM: Final = pa.struct([(name, pa.string()) for name in ("value", "datatype", "language")])
#: As many digits as SPARQL's decimals have.
DECIMAL: Final = "decimal(38,18)"
FRONT: Final = [
    ("t", pa.int64()),
    ("query", pa.string()),
    ("op", pa.string()),
    ("until", pa.int64()),
]

_TRIPLE: Final = ("subject", "predicate", "object")
_WHOLE: Final = frozenset(["COUNT", "STRLEN", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES"])
_TRUTHS: Final = frozenset(
    (
        *("=", "<", ">", "<=", ">=", "&&", "||", "!", "IN", "BOUND", "EXISTS", "sameTerm"),
        *("REGEX", "CONTAINS", "STRSTARTS", "STRENDS", "LANGMATCHES"),
        *("isIRI", "isBLANK", "isLITERAL", "isNUMERIC"),
    )
)
_CASTS: Final = {
    f"<http://www.w3.org/2001/XMLSchema#{name}>": kind
    for name, kind in (
        ("integer", "bigint"),
        ("double", "double"),
        ("decimal", DECIMAL),
        ("boolean", "boolean"),
        ("dateTime", "timestamp"),
        ("string", "string"),
    )
}


class Cell(NamedTuple):
    """A term taken apart. Literals alone have a datatype."""

    value: str
    datatype: str | None = None
    language: str | None = None

    @classmethod
    def of(cls, text: str | None) -> Cell | None:
        """Of an N-Triples text."""
        if text is None:
            return None
        match parse_term(text):
            case IRI(value):
                return cls(value)
            case BlankNode(label):
                return cls(f"_:{label}")
            case Literal(lexical, datatype, language):
                return cls(lexical, datatype, language or None)


class Solution(NamedTuple):
    """One solution, and the tick at which it is one, or begins or ceases to be.

    `until` is the tick at which it will be gone, as far as that is known; None is for ever, too.
    """

    t: int
    op: str | None
    until: int | None
    cells: Sequence[Cell | None]


@dataclass(frozen=True)
class Columns:
    """The columns of a query's solutions.

    >>> speed = Columns("cars", ("car", "speed"), {"speed": "bigint"})
    >>> row = Solution(1000, "+", 3000, (Cell("http://e/a"), Cell("7", "xsd:integer")))
    >>> speed.table([row]).select(["t", "speed"]).to_pylist()
    [{'t': 1000, 'speed': 7}]
    """

    query: str
    variables: tuple[str, ...]
    types: Mapping[str, str]

    @classmethod
    def of(cls, query: ContinuousQuery, declared: Mapping[str, str]) -> Columns:
        """Those of a query, with the types that are declared, or known from it."""
        variables, known = _shown(query)
        if strange := [name for name in declared if name not in variables]:
            there = ", ".join(variables)
            raise PipelineError(f"{query.name} has no variable {strange[0]}; it has {there}")
        for name, kind in declared.items():
            if re.match(COLUMN_TYPE, kind) is None:
                raise PipelineError(f"?{name}: {kind} is {NO_COLUMN_TYPE}")
        # Spark does not tell columns apart by case.
        of_all = {name for name, _ in FRONT}
        if taken := [name for name in variables if name.lower() in of_all]:
            raise PipelineError(
                f"{query.name}: ?{taken[0]} needs another name, SELECT (?{taken[0]} AS ?other): "
                f"every solution has a column {taken[0].lower()}"
            )
        return cls(query.name, variables, {**known, **declared})

    @property
    def schema(self) -> Any:
        """The Arrow schema."""
        typed = [(name, self._kind(name)) for name in self.variables]
        return pa.schema([*FRONT, *typed])

    @property
    def spark_schema(self) -> str:
        """The schema in Spark's words."""
        term = "struct<value: string, datatype: string, language: string>"
        front = "t long, query string, op string, until long"
        return ", ".join(
            (front, *(f"`{name}` {self.types.get(name, term)}" for name in self.variables))
        )

    def table(self, solutions: Iterable[Solution]) -> Any:
        """Solutions as a table."""
        rows = list(solutions)
        front = [
            [row.t for row in rows],
            [self.query] * len(rows),
            [row.op for row in rows],
            [row.until for row in rows],
        ]
        columns = [
            self._column(name, [(row.t, row.cells[place]) for row in rows])
            for place, name in enumerate(self.variables)
        ]
        return pa.table([*front, *columns], schema=self.schema)

    def of_answers(self, answers: Iterable[Answers]) -> Any:
        """The solutions of answers as a table."""
        return self.table(
            Solution(each.tick, each.op, None if end == FOREVER else end, self._cells(each, row))
            for each in answers
            for row, end in _rows(each)
        )

    def of_lines(self, lines: Iterable[Mapping[str, Any]]) -> Any:
        """The solutions of answers, in JSON as `Answers.json` makes it, as a table."""
        return self.table(
            Solution(line["t"], line.get("op"), end, cells)
            for line in lines
            for cells, end in zip(
                self._cells_of_line(line), chain(line.get("until", ()), repeat(None)), strict=False
            )
        )

    def _cells_of_line(self, line: Mapping[str, Any]) -> Iterable[Sequence[Cell | None]]:
        match line:
            case {"boolean": truth}:
                yield (Cell(str(truth).lower()),)
            case {"triples": triples}:
                for text in triples:
                    yield tuple(map(Cell, text.removesuffix(" .").split(" ", 2)))
            case {"bindings": bindings}:
                for binding in bindings:
                    yield tuple(_cell_of_json(binding.get(name)) for name in self.variables)

    def _cells(self, answers: Answers, row: Sequence[str | None]) -> Sequence[Cell | None]:
        match answers.form:
            case "ask":
                return (Cell(str(answers.truth).lower()),)
            case "select":
                return tuple(map(Cell.of, row))
        # Triples are N-Triples texts, as everywhere else.
        return tuple(None if text is None else Cell(text) for text in row)

    def _kind(self, name: str) -> Any:
        return _arrow(self.types[name]) if name in self.types else TERM

    def _column(self, name: str, cells: Sequence[tuple[int, Cell | None]]) -> Any:
        if name not in self.types:
            dicts = [None if cell is None else cell._asdict() for _, cell in cells]
            return pa.array(dicts, TERM)
        kind = self.types[name]
        read, arrow = _reader(kind), _arrow(kind)
        values = []
        for tick, cell in cells:
            try:
                value = None if cell is None else read(cell.value)
                # Each on its own, to know which one does not fit.
                values.append(pa.scalar(value, arrow).as_py() if value is not None else None)
            except (ValueError, ArithmeticError, KeyError, OverflowError, pa.ArrowInvalid):
                assert cell is not None
                raise PipelineError(
                    f"{self.query}: at {tick} ?{name} is {cell.value!r}, which is no {kind}"
                ) from None
        return pa.array(values, arrow)


def _rows(answers: Answers) -> Iterable[tuple[Sequence[str | None], int | None]]:
    """The rows of answers, each with its end. ASK has one."""
    if answers.form == "ask":
        return [((), None)]
    ends = answers.until or (None,) * len(answers.rows)
    return zip(answers.rows, ends, strict=True)


def _cell_of_json(term: Mapping[str, str] | None) -> Cell | None:
    if term is None:
        return None
    value = term["value"]
    match term["type"]:
        case "uri":
            return Cell(value)
        case "bnode":
            return Cell(f"_:{value}")
    language = term.get("xml:lang")
    plain = LANG_STRING if language else XSD_STRING
    return Cell(value, term.get("datatype", plain), language)


def known_types(algebra: Any) -> dict[str, str]:
    """The types of variables that a query computes, where it says them.

    >>> from ebbtide._kernel import sparql_query
    >>> known_types(sparql_query("SELECT ?s (COUNT(?x) AS ?n) { ?s <a:p> ?x } GROUP BY ?s"))["n"]
    'bigint'
    """
    found: dict[str, set[str | None]] = {}
    _collect(algebra, found)
    sure = {name[1:]: kinds for name, kinds in found.items() if len(kinds) == 1}
    return {name: kind for name, (kind,) in sure.items() if kind is not None}


def _collect(part: Any, found: dict[str, set[str | None]]) -> None:
    """What every binding of a variable says of its type; None where that is nothing."""
    match part:
        case ("bgp" | "path" | "values", *inner):
            for name in _variables(inner):
                found.setdefault(name, set()).add(None)
        case ("extend", inner, variable, expression):
            _collect(inner, found)
            found.setdefault(variable, set()).add(_type(expression, found))
        case ("group", inner, _, aggregates):
            _collect(inner, found)
            for variable, aggregate in aggregates:
                found.setdefault(variable, set()).add(_type(aggregate, found))
        case tuple() | list():
            for each in part:
                _collect(each, found)


def _variables(part: Any) -> Iterable[str]:
    if isinstance(part, str):
        return [part] if part.startswith("?") else []
    if isinstance(part, tuple | list):
        return [name for each in part for name in _variables(each)]
    return []


def _type(expression: Any, found: Mapping[str, set[str | None]]) -> str | None:
    match expression:
        case str() if len(found.get(expression, ())) == 1:
            (kind,) = found[expression]
            return kind
        case (str(name), *_) if name in _WHOLE:
            return "bigint"
        case (str(name), *_) if name in _TRUTHS:
            return "boolean"
        case ("NOW",):
            return "timestamp"
        case (str(name), _) if name in _CASTS:
            return _CASTS[name]
    return None


def _shown(query: ContinuousQuery) -> tuple[tuple[str, ...], dict[str, str]]:
    match query.form:
        case "ask":
            return ("answer",), {"answer": "boolean"}
        case "select":
            from ebbtide.queries.algebra import visible

            names = tuple(name[1:] for name in visible(query.algebra[2]))
            known = known_types(query.algebra)
            return names, {name: known[name] for name in names if name in known}
    return _TRIPLE, dict.fromkeys(_TRIPLE, "string")


def _arrow(kind: str) -> Any:
    if kind.startswith("decimal"):
        precision, scale = map(int, re.findall(r"\d+", kind))
        return pa.decimal128(precision, scale)
    plain = {
        "string": pa.string(),
        "boolean": pa.bool_(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "timestamp": pa.timestamp("us", "UTC"),
        "date": pa.date32(),
    }
    return plain[kind]


def _reader(kind: str) -> Callable[[str], Any]:
    if kind.startswith("decimal"):
        unit = Decimal(1).scaleb(-_arrow(kind).scale)
        return lambda text: Decimal(text).quantize(unit, ROUND_HALF_UP)
    readers: dict[str, Callable[[str], Any]] = {
        "string": str,
        "boolean": {"true": True, "1": True, "false": False, "0": False}.__getitem__,
        "bigint": _whole,
        "double": lambda text: float(text.replace("INF", "inf")),
        "timestamp": _instant,
        "date": date.fromisoformat,
    }
    return readers[kind]


def _whole(text: str) -> int:
    number = Decimal(text)
    if number != number.to_integral_value():
        raise ValueError(text)
    return int(number)


def _instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
