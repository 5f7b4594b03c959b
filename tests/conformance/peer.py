"""owlrl, an independent implementation of OWL 2 RL, as a peer.

In: triples. Out: the triples of owlrl's closure, in RDF (no literal as subject, no literal as
predicate), without axiomatic triples. Blank nodes keep their names.

Its RDFS is no peer: it takes "1"^^xsd:integer and "true"^^xsd:boolean for the same value, and
leaves out of rdfs:Resource what only occurs in its own conclusions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import owlrl
import rdflib
from tests.conformance.answers import OWL
from tests.conformance.data import Graph, Triple

from ebbtide.terms import IRI, BlankNode, Literal, Term
from ebbtide.terms.term import RDF, XSD

_DISJOINT: Final = IRI(OWL + "disjointWith")
_MORE_DATATYPES: Final = frozenset(
    IRI(name) for name in (RDF + "HTML", RDF + "langString", XSD + "date", XSD + "time")
)


def peer_closure(premise: Iterable[Triple]) -> Graph:
    """The closure under OWL 2 RL that owlrl computes."""
    graph = rdflib.Graph()
    for triple in premise:
        graph.add(tuple(map(_to_rdflib, triple)))
    semantics = owlrl.OWLRL_Semantics
    owlrl.DeductiveClosure(semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
    return frozenset(
        (_from_rdflib(s), _from_rdflib(p), _from_rdflib(o))
        for s, p, o in graph
        if not isinstance(s, rdflib.Literal) and isinstance(p, rdflib.URIRef)
    )


def more_than_asked(triple: Triple) -> bool:
    """Whether owlrl says more than the tables ask for: of its peculiarities these are all.

    It declares four datatypes that OWL 2 RL does not have, and it says which of the datatypes in
    use are disjoint; so owl:disjointWith occurs, and by eq-ref it is the same as itself.
    """
    subject, predicate, object_ = triple
    return (
        subject in _MORE_DATATYPES
        or (predicate == _DISJOINT and _is_datatype(subject) and _is_datatype(object_))
        or triple == (_DISJOINT, IRI(OWL + "sameAs"), _DISJOINT)
    )


def _is_datatype(term: Term) -> bool:
    return isinstance(term, IRI) and term.value.startswith(XSD)


def _to_rdflib(term: Term) -> Any:
    match term:
        case IRI():
            return rdflib.URIRef(term.value)
        case BlankNode():
            return rdflib.BNode(term.label)
        case Literal(language=""):
            return rdflib.Literal(term.lexical, datatype=term.datatype, normalize=False)
    return rdflib.Literal(term.lexical, lang=term.language)


def _from_rdflib(term: Any) -> Term:
    match term:
        case rdflib.URIRef():
            return IRI(str(term))
        case rdflib.BNode():
            return BlankNode(str(term))
    datatype = str(term.datatype or "http://www.w3.org/2001/XMLSchema#string")
    return Literal(str(term), datatype, term.language or "")
