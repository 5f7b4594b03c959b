"""owlrl, an independent implementation of RDFS and OWL 2 RL, as a peer.

In: triples. Out: the triples of owlrl's closure, in RDF (no literal as subject, no literal as
predicate), without axiomatic triples. Blank nodes keep their names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import owlrl
import rdflib

from ebbtide.terms import IRI, BlankNode, Literal, Term
from ebbtide.terms.term import RDF, XSD
from tests.conformance.answers import OWL
from tests.conformance.data import Graph, Triple

#: The rules that are compared, and what owlrl calls them.
SEMANTICS: Final = {"rdfs": owlrl.RDFS_Semantics, "owl2rl": owlrl.OWLRL_Semantics}

_MORE_DATATYPES: Final = frozenset(
    IRI(name) for name in (RDF + "HTML", RDF + "langString", XSD + "date", XSD + "time")
)


def peer_closure(regime: str, premise: Iterable[Triple]) -> Graph:
    """The closure that owlrl computes."""
    graph = rdflib.Graph()
    for triple in premise:
        graph.add(tuple(map(_to_rdflib, triple)))
    owlrl.DeductiveClosure(
        SEMANTICS[regime], axiomatic_triples=False, datatype_axioms=False
    ).expand(graph)
    return frozenset(
        (_from_rdflib(s), _from_rdflib(p), _from_rdflib(o))
        for s, p, o in graph
        if not isinstance(s, rdflib.Literal) and isinstance(p, rdflib.URIRef)
    )


def more_than_asked(triple: Triple) -> bool:
    """Whether owlrl says more than the tables ask for: of its peculiarities these are all.

    Two of them are about datatypes: it declares four that OWL 2 RL does not have, and says that the
    datatypes in use are disjoint where they are.
    """
    subject, predicate, object_ = triple
    return subject in _MORE_DATATYPES or (
        predicate == IRI(OWL + "disjointWith") and _is_datatype(subject) and _is_datatype(object_)
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
