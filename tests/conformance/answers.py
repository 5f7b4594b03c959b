"""Answers of SPARQL queries over a closure, and whether they are the expected ones.

Neither what RDF cannot write nor an invented blank node may be an answer. Under OWL a variable in
the place of a class stands for a named one, so an answer that binds an anonymous class expression
(or a list in it) is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import permutations
from pathlib import Path
from typing import Final, TypeAlias

import pyoxigraph as ox
from tests.conformance.data import Graph
from tests.conformance.entailment import Closure

from ebbtide.terms import BlankNode, Term, parse_term
from ebbtide.terms.term import RDF

Row: TypeAlias = tuple[Term | None, ...]
Answers: TypeAlias = bool | Counter[Row]

OWL: Final = "http://www.w3.org/2002/07/owl#"
#: What only the anonymous parts of an expression say of themselves.
STRUCTURE: Final = frozenset(
    {RDF + "first", RDF + "rest"}
    | {
        OWL + name
        for name in (
            *("intersectionOf", "unionOf", "complementOf", "oneOf", "onProperty", "onClass"),
            *("someValuesFrom", "allValuesFrom", "hasValue", "hasSelf", "inverseOf"),
            *("cardinality", "minCardinality", "maxCardinality"),
            *("qualifiedCardinality", "minQualifiedCardinality", "maxQualifiedCardinality"),
        )
    }
)


def ask(closure: Closure, query: str, *, hidden: Collection[Term] = ()) -> Answers:
    """The answers of a query over a closure; rows that bind a hidden term are left out."""
    return _answers(closure.store.query(query), hidden)


def expected(path: Path) -> Answers:
    """The answers of a result file."""
    kind = ox.QueryResultsFormat.from_extension(path.suffix[1:])
    return _answers(ox.parse_query_results(path=path, format=kind))


def agree(left: Answers, right: Answers) -> bool:
    """Whether two answers are equal up to the names of blank nodes.

    >>> a, b = BlankNode("a"), BlankNode("b")
    >>> agree(Counter([(a, a), (b, None)]), Counter([(b, b), (a, None)]))
    True
    >>> agree(Counter([(a, a)]), Counter([(a, b)]))
    False
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    ours, theirs = _blank_nodes(left), _blank_nodes(right)
    if len(ours) != len(theirs):
        return False
    return any(
        _renamed(left, dict(zip(ours, names, strict=True))) == right
        for names in permutations(theirs)
    )


def distinct(answers: Answers) -> Answers:
    """Each answer once."""
    return answers if isinstance(answers, bool) else Counter(set(answers))


def expressions(graph: Graph) -> frozenset[Term]:
    """The anonymous parts of the expressions in a graph."""
    return frozenset(
        s for s, p, _ in graph if isinstance(s, BlankNode) and p.text[1:-1] in STRUCTURE
    )


def _answers(results: object, hidden: Collection[Term] = ()) -> Answers:
    if isinstance(results, ox.QueryBoolean):
        return bool(results)
    assert isinstance(results, ox.QuerySolutions)
    names = sorted(variable.value for variable in results.variables)
    rows = (tuple(_from_ox(solution[name]) for name in names) for solution in results)
    return Counter(row for row in rows if not any(term in hidden for term in row))


def _from_ox(term: object) -> Term | None:
    return None if term is None else parse_term(str(term))


def _blank_nodes(rows: Counter[Row]) -> list[Term]:
    return sorted(
        {term for row in rows for term in row if isinstance(term, BlankNode)}, key=lambda t: t.text
    )


def _renamed(rows: Counter[Row], names: dict[Term, Term]) -> Counter[Row]:
    renamed: Counter[Row] = Counter()
    for row, count in rows.items():
        renamed[tuple(names.get(t, t) if t is not None else None for t in row)] += count
    return renamed
