"""Which triples a query asks of each graph, so that rules derive no others.

In: algebra, with tables for what is maintained. Out: for each graph the patterns of triples that it
matches anywhere, filters and EXISTS included. A graph of which everything may be asked (by a path
of length zero, a negated property, DESCRIBE or GRAPH ?g) is not among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ebbtide.program import TRIPLE, Argument, Atom, Variable
from ebbtide.terms import IRI, parse_term


class _Everything(Exception):
    """All triples of a graph may be asked for."""


def triples_asked(
    algebra: Sequence[Any], graphs: Sequence[IRI | None]
) -> dict[IRI | None, tuple[Atom, ...]]:
    """The patterns of triples, by graph.

    >>> from ebbtide._kernel import sparql_query
    >>> query = sparql_query("SELECT ?x { ?x <a:p> 7 FILTER EXISTS { ?x <a:q>+ ?y } }")
    >>> for atom in triples_asked(query, [None])[None]:
    ...     print(atom)
    triple(?x, <a:p>, "7"^^<http://www.w3.org/2001/XMLSchema#integer>)
    triple(?s, <a:q>, ?o)
    """
    found: dict[IRI | None, tuple[Atom, ...]] = {}
    if algebra[0] == "describe":
        return found
    for graph in graphs:
        try:
            found[graph] = tuple(dict.fromkeys(_asked(algebra[2], None, graph)))
        except _Everything:
            continue
    return found


def _asked(node: Any, within: IRI | None, graph: IRI | None) -> Iterator[Atom]:
    """What a part of the algebra, within a graph, asks of one graph."""
    match node:
        case ("bgp", triples):
            if within == graph:
                yield from (Atom(TRIPLE, tuple(map(_argument, each))) for each in triples)
        case ("path", subject, path, object_):
            if within == graph:
                yield from _steps(path, subject, object_)
        case ("graph", _, str(name)) if name.startswith("?"):
            raise _Everything
        case ("graph", inner, str(name)):
            yield from _asked(inner, IRI(name[1:-1]), graph)
        case ("table" | "values", *_):
            return
        case tuple() | list():
            for part in node:
                yield from _asked(part, within, graph)


def _steps(path: Any, subject: str, object_: str) -> Iterator[Atom]:
    match path:
        case str():
            ends = (_argument(subject), parse_term(path), _argument(object_))
            yield Atom(TRIPLE, ends)
        case ("^" | "+" | "/" | "|" as mark, *parts):
            whole = mark == "|"
            for part in parts:
                yield from _steps(part, subject if whole else "?s", object_ if whole else "?o")
        case _:
            raise _Everything


def _argument(text: str) -> Argument:
    if text.startswith("?"):
        return Variable(text[1:])
    return Variable(text) if text.startswith("_:") else parse_term(text)
