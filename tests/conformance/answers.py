"""Answers of SPARQL queries over a closure, and whether they are the expected ones.

The closure becomes a store of pyoxigraph without what RDF cannot write and without invented blank
nodes, since neither may be an answer. Under OWL a variable in the place of a class stands for a
named one, so an answer that binds an anonymous class expression (or a list in it) is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import permutations
from pathlib import Path
from typing import Final, TypeAlias

import pyoxigraph as ox
from tests.conformance.data import Graph, Triple

from ebbtide.terms import IRI, BlankNode, Literal, Term, parse_term
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


def ask(closure: Iterable[Triple], query: str, *, hidden: Collection[Term] = ()) -> Answers:
    """The answers of a query over a closure; rows that bind a hidden term are left out."""
    return _answers(store(closure).query(query), hidden)


def store(closure: Iterable[Triple]) -> ox.Store:
    """What queries may see of a closure."""
    store = ox.Store()
    store.bulk_extend(ox.Quad(*map(_to_ox, triple)) for triple in closure if _is_answer(triple))
    return store


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


def _is_answer(triple: Triple) -> bool:
    return (
        not isinstance(triple[0], Literal)
        and isinstance(triple[1], IRI)
        and not any(isinstance(term, BlankNode) and term.invented for term in triple)
    )


def _answers(results: object, hidden: Collection[Term] = ()) -> Answers:
    if isinstance(results, ox.QueryBoolean):
        return bool(results)
    assert isinstance(results, ox.QuerySolutions)
    names = sorted(variable.value for variable in results.variables)
    rows = (tuple(_from_ox(solution[name]) for name in names) for solution in results)
    return Counter(row for row in rows if not any(term in hidden for term in row))


def _to_ox(term: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    match term:
        case IRI():
            return ox.NamedNode(term.value)
        case BlankNode():
            return ox.BlankNode(term.label)
        case Literal(language=""):
            return ox.Literal(term.lexical, datatype=ox.NamedNode(term.datatype))
    return ox.Literal(term.lexical, language=term.language)


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
