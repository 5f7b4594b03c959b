"""The class expressions that a query asks about.

`?x a [ owl:intersectionOf ( :A :B ) ]` asks for the instances of a class that the data need not
name. Under OWL's direct semantics such blank nodes are no variables: they are part of the question.
So they are put to the reasoner along with the data, which says nothing new about anything else, and
its rules find their instances and subclasses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rdflib import BNode, Variable
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from tests.conformance.answers import OWL, STRUCTURE
from tests.conformance.data import Graph

from ebbtide.terms import to_term
from ebbtide.terms.term import RDF

_TYPES: Final = frozenset(OWL + name for name in ("Class", "Restriction", "DataRange"))


def asked_expressions(query: str) -> Graph:
    """The triples of the class expressions in a query."""
    triples = list(_triples(translateQuery(parseQuery(query)).algebra))
    parts = {s for s, p, _ in triples if isinstance(s, BNode) and str(p) in STRUCTURE}
    return frozenset(
        (to_term(s), to_term(p), to_term(o))
        for s, p, o in triples
        if s in parts
        and not isinstance(o, Variable)
        and (str(p) in STRUCTURE or (str(p) == RDF + "type" and str(o) in _TYPES))
    )


def _triples(node: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The triple patterns of an algebra tree, wherever they are."""
    if isinstance(node, dict):
        for name, child in node.items():
            if name == "triples":
                yield from child
            else:
                yield from _triples(child)
