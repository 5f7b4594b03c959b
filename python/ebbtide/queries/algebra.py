"""Questions about SPARQL algebra: which variables a pattern shows, what it contains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from ebbtide.languages.sparql import names_in
from ebbtide.languages.sparql_rules.expression import CASTS

_MADE_UP: Final = re.compile(r"\?[0-9a-f]{24,32}")
#: Functions whose value is not that of their arguments.
_UNSTEADY: Final = frozenset(["NOW", "RAND", "UUID", "STRUUID", "BNODE"])


def visible(pattern: Sequence[Any]) -> tuple[str, ...]:
    """The variables that a pattern may bind, each once, with their question marks.

    >>> from ebbtide._kernel import sparql_query
    >>> visible(sparql_query("SELECT ?x { ?x <a:p> [] OPTIONAL { ?x <a:q> ?z } }")[2][1])
    ('?x', '?z')
    """
    return tuple(dict.fromkeys(_visible(pattern)))


def _visible(pattern: Sequence[Any]) -> Iterator[str]:
    match pattern:
        case ("bgp", triples):
            yield from (text for triple in triples for text in triple if text.startswith("?"))
        case ("path", subject, _, object_):
            yield from (text for text in (subject, object_) if text.startswith("?"))
        case ("join" | "union", *parts):
            for part in parts:
                yield from _visible(part)
        case ("left_join", left, right, _):
            yield from _visible(left)
            yield from _visible(right)
        case ("extend", inner, variable, _):
            yield from _visible(inner)
            yield variable
        case ("graph", inner, name):
            yield from _visible(inner)
            if name.startswith("?"):
                yield name
        case ("values", names, _) | ("project", _, names):
            yield from names
        case ("table", _, _, columns):
            yield from (name for name, *_ in columns)
        case ("group", _, variables, aggregates):
            yield from variables
            yield from (name for name, _ in aggregates)
        case (_, inner, *_):
            yield from _visible(inner)


def is_steady(algebra: Any) -> bool:
    """Whether only the facts decide: no clock, no chance, and no function with an IRI but casts.

    >>> is_steady(("filter", ("bgp", []), ("<", "?x", "?y"))), is_steady(("NOW",))
    (True, False)
    """
    if not isinstance(algebra, tuple | list):
        return True
    match algebra:
        case ("bgp" | "path" | "values", *_):
            return True
        case (str(name), *_) if name in _UNSTEADY:
            return False
        case (str(name), *_) if name[:1] == "<" and name[-1:] == ">" and name not in CASTS:
            return False
    return all(map(is_steady, algebra))


def has_graphs(pattern: Any) -> bool:
    """Whether a pattern asks named graphs."""
    if not isinstance(pattern, tuple | list):
        return False
    return (len(pattern) == 3 and pattern[0] == "graph") or any(map(has_graphs, pattern))


def asks_servers(pattern: Any) -> bool:
    """Whether a pattern asks another server, and minds if that does not answer."""
    if not isinstance(pattern, tuple | list):
        return False
    match pattern:
        case ("service", _, _, is_silent):
            return not is_silent
    return any(map(asks_servers, pattern))


def with_branches(algebra: Any) -> Any:
    """The algebra with unions for paths that are alternatives.

    Between two bound ends oxigraph finds one path where SPARQL counts one a branch.

    >>> with_branches(("path", "?x", ("|", "<a:p>", ("^", "<a:q>")), "?y"))
    ('union', ('bgp', [('?x', '<a:p>', '?y')]), ('path', '?x', ('^', '<a:q>'), '?y'))
    """
    match algebra:
        case ("path", subject, ("|", *paths), object_):
            return "union", *(
                ("bgp", [(subject, path, object_)])
                if isinstance(path, str)
                else ("path", subject, path, object_)
                for path in paths
            )
        case tuple():
            return tuple(map(with_branches, algebra))
        case list():
            return list(map(with_branches, algebra))
    return algebra


def with_known_graphs(pattern: Any, graphs: Sequence[str]) -> Any:
    """The pattern with one part a graph of the dataset in place of GRAPH ?g.

    What EXISTS asks is left: there ?g may be known from outside.

    >>> from ebbtide._kernel import sparql_query
    >>> asked = sparql_query("SELECT * { GRAPH ?g { ?s <a:p> ?o } }")[2][1]
    >>> with_known_graphs(asked, ["<a:g>"])
    ('join', ('values', ['?g'], [['<a:g>']]), ('graph', ('bgp', [('?s', '<a:p>', '?o')]), '<a:g>'))
    """
    match pattern:
        case ("bgp" | "path" | "values" | "service", *_) | ("graph", ("bgp", []), _):
            return pattern
        case ("graph", inner, str(name)) if name.startswith("?") and graphs:
            asked = with_known_graphs(inner, graphs)
            parts = [
                ("join", ("values", [name], [[graph]]), ("graph", asked, graph)) for graph in graphs
            ]
            return parts[0] if len(parts) == 1 else ("union", *parts)
        case ("join" | "union" | "minus" as word, *parts):
            return word, *(with_known_graphs(part, graphs) for part in parts)
        case ("left_join", left, right, condition):
            sides = (with_known_graphs(side, graphs) for side in (left, right))
            return "left_join", *sides, condition
        case (word, inner, *rest):
            return word, with_known_graphs(inner, graphs), *rest
    return pattern


def is_ordered(algebra: Sequence[Any]) -> bool:
    """Whether a query says in which order its solutions come.

    >>> from ebbtide._kernel import sparql_query
    >>> is_ordered(sparql_query("SELECT * { ?s ?p ?o } ORDER BY ?s LIMIT 3"))
    True
    """
    pattern = algebra[2]
    while pattern[0] in ("slice", "distinct", "reduced", "project"):
        pattern = pattern[1]
    return bool(pattern[0] == "order_by")


def with_plain_names(algebra: Any) -> Any:
    """The algebra with ?value_1, ?value_2, ... for the variables that the parser made up.

    A blank node that several patterns share, as the steps of a path do, becomes a variable, too: it
    is the same node in each, whichever of them is kept by itself. Names that the query has are left
    out, and what COUNT(DISTINCT *) counts shows no other variables than those of the query.

    >>> from ebbtide._kernel import sparql_query
    >>> visible(with_plain_names(sparql_query("SELECT (COUNT(*) AS ?n) {}"))[2][1][1])
    ('?value_1',)
    >>> with_plain_names(sparql_query("SELECT ?value_1 { ?value_1 <a:p>/<a:q>+ ?y }"))[2][1]
    ('join', ('bgp', [('?value_1', '<a:p>', '?value_2')]), ('path', '?value_2', ('+', '<a:q>'), \
'?y'))
    """
    algebra = _counting_own(algebra)
    shared = Counter(name for leaf in _leaves(algebra) for name in _blanks(leaf))
    made_up = [name for name, uses in shared.items() if uses > 1]
    taken = set(names_in(algebra))
    made_up += [name for name in dict.fromkeys(names_in(algebra)) if _MADE_UP.fullmatch(name)]
    free = (name for number in count(1) if (name := f"?value_{number}") not in taken)
    return _renamed(algebra, dict(zip(made_up, free, strict=False)))


def counts_solutions(aggregates: Sequence[tuple[str, Sequence[Any]]]) -> bool:
    """Whether COUNT(DISTINCT *) is among the aggregates of a group."""
    return any(tuple(how[:3]) == ("COUNT", True, None) for _, how in aggregates)


def asks_for_solutions(algebra: Any) -> bool:
    """Whether COUNT(DISTINCT *) is anywhere in it."""
    match algebra:
        case ("group", _, _, aggregates) if counts_solutions(aggregates):
            return True
        case tuple() | list():
            return any(map(asks_for_solutions, algebra))
    return False


def _counting_own(algebra: Any) -> Any:
    """The algebra with a projection below COUNT(DISTINCT *)."""
    match algebra:
        case ("group", inner, _, aggregates) if counts_solutions(aggregates):
            return "group", ("project", _counting_own(inner), [*visible(inner)]), *algebra[2:]
        case tuple():
            return tuple(map(_counting_own, algebra))
        case list():
            return list(map(_counting_own, algebra))
    return algebra


def _renamed(algebra: Any, names: Mapping[str, str]) -> Any:
    match algebra:
        case str():
            return names.get(algebra, algebra)
        case ("construct", dataset, pattern, template):
            # Its blank nodes are new ones, whatever they are called.
            known = {name: other for name, other in names.items() if name.startswith("?")}
            return "construct", dataset, _renamed(pattern, names), _renamed(template, known)
        case tuple():
            return tuple(_renamed(part, names) for part in algebra)
        case list():
            return [_renamed(part, names) for part in algebra]
    return algebra


def _leaves(algebra: Any) -> Iterator[Sequence[Any]]:
    """The basic patterns and paths anywhere in it."""
    match algebra:
        case ("bgp" | "path", *_):
            yield algebra
        case tuple() | list():
            for part in algebra:
                yield from _leaves(part)


def _blanks(leaf: Sequence[Any]) -> set[str]:
    """The blank nodes of a basic pattern or of a path."""
    ends = [text for triple in leaf[1] for text in triple] if leaf[0] == "bgp" else leaf[1::2]
    return {text for text in ends if text.startswith("_:")}


def triple_count(pattern: Sequence[Any]) -> int:
    """How many triples a basic graph pattern has, in a graph or not; 2 for all others."""
    if pattern[0] == "graph":
        return triple_count(pattern[1])
    return len(pattern[1]) if pattern[0] == "bgp" else 2
