"""What a query answers at one tick.

    select       variables, and a row of terms a solution; None where it leaves a variable unbound
    ask          a truth
    construct    triples, also of describe

Terms are kept as their texts, and made into Python values when they are asked for. `op` is "+" or
"-" for what came or went since the last answers, and None for all there is.

`until` says of each row the first instant at which it will be gone, as known now; `FOREVER` if it
rests on background alone. It is None if the query, or a part of it, is asked at every tick,
and for what went.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ebbtide.program import Fact
from ebbtide.terms import IRI, BlankNode, Term, parse_term, to_python
from ebbtide.terms import Literal as LiteralTerm
from ebbtide.terms.term import LANG_STRING, XSD_STRING
from ebbtide.time import FOREVER, Instant

if TYPE_CHECKING:
    import pandas
    import pyarrow

Row: TypeAlias = tuple[str | None, ...]
#: A row, and the first instant at which it will be gone.
TimedRow: TypeAlias = tuple[Row, Instant]
Op: TypeAlias = Literal["+", "-"]
TRIPLE_VARIABLES = ("subject", "predicate", "object")


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a query at a tick.

    >>> seven = '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    >>> answers = Answers(10, "cars", "select", ("car", "speed"), (("<http://e/a>", seven),))
    >>> answers.bindings
    [{'car': IRI(value='http://e/a'), 'speed': 7}]
    >>> answers.json()["bindings"][0]["car"]
    {'type': 'uri', 'value': 'http://e/a'}
    """

    tick: Instant
    query: str
    form: str
    variables: tuple[str, ...]
    rows: tuple[Row, ...]
    op: Op | None = None
    until: tuple[Instant, ...] | None = None

    @property
    def truth(self) -> bool:
        """Whether there is an answer at all: what ASK asks."""
        return bool(self.rows)

    @property
    def bindings(self) -> list[dict[str, Any]]:
        """The solutions: variables to Python values, or to terms where Python has no such value."""
        return [
            {
                name: to_python(parse_term(text))
                for name, text in zip(self.variables, row, strict=True)
                if text is not None
            }
            for row in self.rows
        ]

    @property
    def triples(self) -> list[Fact]:
        """The triples that were constructed."""
        return [Fact.triple(*map(parse_term, filter(None, row))) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.bindings)

    def in_order(self) -> Answers:
        """The same answers in the order of their texts, for queries that do not say another.

        Rows that are equal come in the order of their ends.
        """
        ends = self.until or (FOREVER,) * len(self.rows)
        places = sorted(
            range(len(self.rows)),
            key=lambda at: (tuple(text or "" for text in self.rows[at]), ends[at]),
        )
        rows = tuple(self.rows[place] for place in places)
        until = None if self.until is None else tuple(self.until[place] for place in places)
        return replace(self, rows=rows, until=until)

    def json(self, until: bool = False) -> dict[str, Any]:
        """As a line of `ebbtide query`: bindings as in the SPARQL 1.1 JSON results.

        With `until`, the ends of the rows are told beside them, where they are known; what holds
        for ever has null.
        """
        line: dict[str, Any] = {"t": self.tick, "query": self.query}
        if self.op is not None:
            line["op"] = self.op
        match self.form:
            case "ask":
                line["boolean"] = self.truth
            case "select":
                line["vars"] = list(self.variables)
                line["bindings"] = [
                    {
                        name: _json_term(parse_term(text))
                        for name, text in zip(self.variables, row, strict=True)
                        if text is not None
                    }
                    for row in self.rows
                ]
            case _:
                line["triples"] = [" ".join(filter(None, row)) + " ." for row in self.rows]
        if until and self.until is not None:
            line["until"] = self._ends()
        return line

    def _ends(self) -> list[Instant | None]:
        assert self.until is not None
        return [None if end == FOREVER else end for end in self.until]

    def to_arrow(self, until: bool = False) -> pyarrow.Table:
        """A column a variable: numbers, dates and texts if all its values are of one kind.

        Columns of terms, and those of mixed kinds, hold N-Triples texts. With `until`, a last
        column of that name has the ends of the rows; null for what holds for ever, or if the ends
        are not known.

        >>> seven = '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
        >>> Answers(10, "cars", "select", ("speed",), ((seven,),)).to_arrow()["speed"].to_pylist()
        [7]
        """
        import pyarrow as pa

        columns = {
            name: _column([row[place] for row in self.rows])
            for place, name in enumerate(self.variables)
        }
        if until:
            ends = [None] * len(self.rows) if self.until is None else self._ends()
            columns["until"] = pa.array(ends, pa.int64())
        return pa.table(columns)

    def to_pandas(self, until: bool = False) -> pandas.DataFrame:
        """As `to_arrow`, as a frame of pandas."""
        return self.to_arrow(until).to_pandas()


def difference(after: Iterable[Row], before: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that are in `after` more often than in `before`, as often as that.

    >>> difference([("a",), ("a",), ("b",)], [("a",)])
    (('a',), ('b',))
    """
    return tuple((Counter(after) - Counter(before)).elements())


def timed_difference(after: Iterable[TimedRow], before: Iterable[TimedRow]) -> list[TimedRow]:
    """The same of rows with their ends, which do not make them others: the last to end are left.

    >>> timed_difference([(("a",), 9), (("a",), 7), (("b",), 8)], [(("a",), 5)])
    [(('b',), 8), (('a',), 9)]
    """
    known = Counter(row for row, _ in before)
    found = []
    for row, until in sorted(after, key=lambda each: each[1]):
        if known[row]:
            known[row] -= 1
        else:
            found.append((row, until))
    return found


def _column(texts: list[str | None]) -> Any:
    import pyarrow as pa

    values = [None if text is None else to_python(parse_term(text)) for text in texts]
    # Instants without a zone are not those of any zone.
    kinds = {
        (type(value), isinstance(value, datetime) and value.tzinfo is None)
        for value in values
        if value is not None
    }
    if len(kinds) == 1 and not {kind for kind, _ in kinds} & {IRI, BlankNode, LiteralTerm}:
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, OverflowError):
            pass
    return pa.array(texts, pa.string())


def _json_term(term: Term) -> dict[str, str]:
    match term:
        case IRI(value):
            return {"type": "uri", "value": value}
        case BlankNode(label):
            return {"type": "bnode", "value": label}
        case LiteralTerm(lexical, datatype, language):
            found = {"type": "literal", "value": lexical}
            if language:
                found["xml:lang"] = language
            elif datatype not in (XSD_STRING, LANG_STRING):
                found["datatype"] = datatype
            return found
