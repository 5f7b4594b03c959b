"""Algebra to the text of a SPARQL query: what was rewritten is handed to the parser again.

In: algebra as `_kernel.sparql_query` gives it, with nodes of our own that stand for what is
maintained:

    ("table", name, arity, [(variable, column, may be unbound), ...])

A table is a graph: row r has the term t in column c is (r, <urn:ebbtide:column:c>, t). Every other
node is written in braces of its own, so that filters and BIND have the scope that they had.
Blank nodes of patterns become variables, since SPARQL does not let a label be used in two groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, Final

from ebbtide.languages.sparql import names_in
from ebbtide.queries.algebra import counts_solutions, visible

_WORD: Final = re.compile(r"\W")
_INFIX: Final = frozenset(["||", "&&", "=", "<", "<=", ">", ">=", "+", "-", "*", "/"])


def column_iri(column: int) -> str:
    """The predicate that tells of a column."""
    return f"<urn:ebbtide:column:{column}>"


class Writer:
    """Writes one query."""

    def __init__(self) -> None:
        self._rows = count()
        self._taken: frozenset[str] = frozenset()

    def query(self, algebra: Sequence[Any]) -> str:
        """The text of a query; its dataset clauses are left out.

        >>> from ebbtide._kernel import sparql_query
        >>> text = "SELECT ?x { ?x <a:p> ?y OPTIONAL { ?y <a:q> ?z FILTER(?z > 3) } } LIMIT 2"
        >>> Writer().query(sparql_query(text))
        'SELECT ?x WHERE { { ?x <a:p> ?y . } OPTIONAL { { ?y <a:q> ?z . } FILTER((?z >
        "3"^^<http://www.w3.org/2001/XMLSchema#integer>)) } } LIMIT 2'
        """
        self._taken = frozenset(names_in(algebra))
        match algebra:
            case ("select", _, pattern):
                return self.select(pattern)
            case ("ask", _, pattern):
                return f"ASK {{ {self.group(pattern)} }}"
            case ("construct", _, pattern, template):
                triples = " ".join(f"{s} {p} {o} ." for s, p, o in template)
                return f"CONSTRUCT {{ {triples} }} WHERE {{ {self.group(pattern)} }}"
        raise ValueError(f"not a query that can be written: {algebra[0]}")

    # ---- patterns ----------------------------------------------------------------------------

    def select(self, pattern: Sequence[Any]) -> str:
        """A SELECT with its modifiers, which are outermost in this order."""
        ending, order, word = "", "", ""
        if pattern[0] == "slice":
            _, pattern, start, length = pattern
            ending = (f" OFFSET {start}" if start else "") + (
                "" if length is None else f" LIMIT {length}"
            )
        if pattern[0] in ("distinct", "reduced"):
            word, pattern = f"{pattern[0].upper()} ", pattern[1]
        names = "*"
        if pattern[0] == "project":
            _, pattern, variables = pattern
            names = " ".join(variables) or "*"
        if pattern[0] == "order_by":
            _, pattern, keys = pattern
            written = " ".join(f"{way.upper()}({self.expression(key)})" for way, key in keys)
            order = f" ORDER BY {written}"
        if pattern[0] == "group" and names == "*":
            return self._aggregated(pattern) + order + ending
        return f"SELECT {word}{names} WHERE {{ {self.group(pattern)} }}{order}{ending}"

    def _aggregated(self, pattern: Sequence[Any]) -> str:
        _, inner, variables, aggregates = pattern
        if inner[0] == "table" and counts_solutions(aggregates):
            # The row of a table is no part of a solution.
            inner = ("project", inner, visible(inner))
        shown = [*variables, *(f"({self._aggregate(how)} AS {name})" for name, how in aggregates)]
        by = f" GROUP BY {' '.join(variables)}" if variables else ""
        return f"SELECT {' '.join(shown)} WHERE {{ {self.group(inner)} }}{by}"

    def _aggregate(self, how: Sequence[Any]) -> str:
        name, distinct, expression, separator = how
        of = "*" if expression is None else self.expression(expression)
        ending = "" if separator is None else f"; SEPARATOR={_quoted(separator)}"
        return f"{name}({'DISTINCT ' if distinct else ''}{of}{ending})"

    def braced(self, pattern: Sequence[Any]) -> str:
        """A pattern in braces."""
        return f"{{ {self.group(pattern)} }}"

    def group(self, pattern: Sequence[Any]) -> str:
        """What stands between the braces of a group."""
        match pattern:
            case ("bgp", triples):
                return " ".join(f"{_node(s)} {_node(p)} {_node(o)} ." for s, p, o in triples)
            case ("path", subject, path, object_):
                return f"{_node(subject)} {self.path(path)} {_node(object_)} ."
            case ("join", *parts):
                return " ".join(map(self.braced, parts))
            case ("union", *parts):
                return " UNION ".join(map(self.braced, parts))
            case ("left_join", left, right, condition):
                held = "" if condition is None else f" FILTER({self.expression(condition)})"
                return f"{self.braced(left)} OPTIONAL {{ {self.braced(right)}{held} }}"
            case ("minus", left, right):
                return f"{self.braced(left)} MINUS {self.braced(right)}"
            case ("filter", inner, condition):
                return f"{self.braced(inner)} FILTER({self.expression(condition)})"
            case ("extend", inner, variable, value):
                return f"{self.braced(inner)} BIND({self.expression(value)} AS {variable})"
            case ("graph", inner, name):
                return f"GRAPH {_node(name)} {self.braced(inner)}"
            case ("service", inner, name, silent):
                word = "SILENT " if silent else ""
                return f"SERVICE {word}{_node(name)} {self.braced(inner)}"
            case ("values", names, rows):
                return f"VALUES ({' '.join(names)}) {{ {' '.join(map(_value_row, rows))} }}"
            case ("table", name, _, columns):
                return self._table(name, columns)
        return f"{{ {self.select(pattern)} }}"

    def _table(self, name: str, columns: Iterable[tuple[str, int, bool]]) -> str:
        row = next(each for number in self._rows if (each := f"?row_{number}") not in self._taken)
        cells = [
            (f"{row} {column_iri(column)} {variable} .", is_loose)
            for variable, column, is_loose in columns
        ]
        bound = " ".join(cell for cell, is_loose in cells if not is_loose)
        loose = " ".join(f"OPTIONAL {{ {cell} }}" for cell, is_loose in cells if is_loose)
        return f"GRAPH {name} {{ {bound} {loose} }}"

    def path(self, path: Any) -> str:
        """A property path."""
        match path:
            case str():
                return path
            case ("^", inner):
                return f"^({self.path(inner)})"
            case ("*" | "+" | "?" as mark, inner):
                return f"({self.path(inner)}){mark}"
            case ("!", *names):
                return f"!({'|'.join(names)})"
            case (mark, *parts):
                return f"({mark.join(map(self.path, parts))})"
        raise ValueError(f"not a path: {path!r}")

    # ---- expressions -------------------------------------------------------------------------

    def expression(self, expression: Any) -> str:
        """An expression."""
        match expression:
            case str():
                return expression
            case ("EXISTS", pattern):
                return f"EXISTS {self.braced(pattern)}"
            case ("!" | "+" | "-" as mark, inner):
                return f"({mark}{self.expression(inner)})"
            case ("IN", needle, *others):
                return f"({self.expression(needle)} IN ({self._list(others)}))"
            case (mark, *parts) if mark in _INFIX:
                return f"({f' {mark} '.join(map(self.expression, parts))})"
            case (name, *parts):
                return f"{name}({self._list(parts)})"
        raise ValueError(f"not an expression: {expression!r}")

    def _list(self, parts: Iterable[Any]) -> str:
        return ", ".join(map(self.expression, parts))


def _node(text: str) -> str:
    return f"?blank_{_WORD.sub('_', text[2:])}" if text.startswith("_:") else text


def _value_row(row: Iterable[str | None]) -> str:
    return f"({' '.join(text or 'UNDEF' for text in row)})"


def _quoted(text: str) -> str:
    from ebbtide.terms import Literal

    return Literal(text).text
