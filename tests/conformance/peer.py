"""owlrl, an independent implementation of RDFS and OWL 2 RL, as a peer.

In: triples. Out: the triples of owlrl's closure, in RDF (no literal as subject, no literal as
predicate), without axiomatic triples. Blank nodes keep their names.

Where owlrl departs from the standards, it does so in the ways that are written down here, each with
its reason; `docs/conformance.md` tells them. Everything else must be equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import owlrl
import rdflib
from tests.conformance.answers import OWL
from tests.conformance.data import Graph, Triple

from ebbtide.terms import IRI, BlankNode, Literal, Term
from ebbtide.terms.term import RDF, XSD, XSD_STRING

_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_TYPE: Final = IRI(RDF + "type")
_DATATYPE: Final = IRI(_RDFS + "Datatype")
_RESOURCE: Final = IRI(_RDFS + "Resource")
_DISJOINT: Final = IRI(OWL + "disjointWith")
_MORE_DATATYPES: Final = frozenset(
    IRI(name) for name in (RDF + "HTML", RDF + "langString", XSD + "date", XSD + "time")
)
# RDF 1.1 recognises these always; owlrl follows RDF of 2004, which does not.
_RECOGNISED: Final = (IRI(XSD_STRING), IRI(RDF + "langString"))


def owl2rl_closure(premise: Iterable[Triple]) -> Graph:
    """The closure under OWL 2 RL that owlrl computes."""
    return _closure(premise, owlrl.OWLRL_Semantics)


def rdfs_closure(premise: Iterable[Triple]) -> Graph:
    """The closure under RDFS that owlrl computes, if it is told what RDF 1.1 recognises."""
    told = ((datatype, _TYPE, _DATATYPE) for datatype in _RECOGNISED)
    return _closure([*premise, *told], owlrl.RDFS_Semantics)


def is_beyond_owl2rl(triple: Triple) -> bool:
    """Whether owlrl says more than the tables ask for.

    It declares four datatypes that OWL 2 RL does not have, and it says which of the datatypes in
    use are disjoint; so owl:disjointWith occurs, and by eq-ref it is the same as itself.
    """
    subject, predicate, object_ = triple
    return (
        subject in _MORE_DATATYPES
        or (predicate == _DISJOINT and _is_datatype(subject) and _is_datatype(object_))
        or triple == (_DISJOINT, IRI(OWL + "sameAs"), _DISJOINT)
    )


def is_beyond_rdfs(triple: Triple, ours: Graph) -> bool:
    """Whether owlrl takes a truth value of ours for a number, or a number for a truth value.

    For it "1"^^xsd:integer and "true"^^xsd:boolean are the same value, as they are in Python.
    """
    subject, predicate, object_ = triple
    return any((s, p) == (subject, predicate) and _are_confused(object_, o) for s, p, o in ours)


def is_missed_rdfs(triple: Triple) -> bool:
    """Whether owlrl misses a conclusion: rdfs4a of what only its own conclusions mention."""
    return triple[1:] == (_TYPE, _RESOURCE)


def _closure(premise: Iterable[Triple], semantics: Any) -> Graph:
    graph = rdflib.Graph()
    for triple in premise:
        graph.add(tuple(map(_to_rdflib, triple)))
    owlrl.DeductiveClosure(semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
    return frozenset(
        (_from_rdflib(s), _from_rdflib(p), _from_rdflib(o))
        for s, p, o in graph
        if not isinstance(s, rdflib.Literal) and isinstance(p, rdflib.URIRef)
    )


def _are_confused(one: Term, other: Term) -> bool:
    values = [_to_rdflib(each).value for each in (one, other) if isinstance(each, Literal)]
    kinds = [isinstance(value, bool) for value in values]
    return len(values) == 2 and kinds[0] != kinds[1] and values[0] == values[1]


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
    return Literal(str(term), str(term.datatype or XSD_STRING), term.language or "")
