"""Conclusions that deny something, decided by refutation: what they deny is inconsistent.

Rules state what holds, so the closure seldom holds `:a owl:differentFrom :b`. But the premise
entails it exactly if the premise with `:a owl:sameAs :b` is inconsistent, and the rules that
conclude `false` find that. So for each conclusion of this kind there are counterexamples, one for
each way in which it could fail, and every one must be inconsistent with the premise:

    :a owl:differentFrom :b                   :a owl:sameAs :b
    owl:AllDifferent of :a :b :c              the same for each pair
    :a a [ owl:complementOf :C ]              :a a :C
    :p a owl:TransitiveProperty               :p holds of x, y and of y, z, but not of x, z
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from tests.conformance.answers import OWL
from tests.conformance.data import Graph, Triple

from ebbtide.terms import IRI, BlankNode, Term
from ebbtide.terms.term import RDF

_TYPE: Final = IRI(RDF + "type")
_X, _Y, _Z, _DENIED = (BlankNode(f"counterexample-{name}") for name in ("x", "y", "z", "denied"))


@dataclass(frozen=True)
class Refutation:
    """The triples of a conclusion that are decided by refutation, and the counterexamples."""

    decides: Graph
    denied: tuple[Graph, ...]


def refutation(conclusion: Graph) -> Refutation:
    """How a conclusion is refuted, as far as it denies something."""
    denied = {triple: list(_denied(triple, conclusion)) for triple in conclusion}
    denied = {triple: graphs for triple, graphs in denied.items() if graphs}
    axioms = {s for s, p, _ in denied if p == _owl("members")}
    return Refutation(
        frozenset(t for t in conclusion if t in denied or t[0] in axioms),
        tuple(graph for graphs in denied.values() for graph in graphs),
    )


def _denied(triple: Triple, graph: Graph) -> Iterator[Graph]:
    subject, predicate, object_ = triple
    if predicate == _owl("differentFrom"):
        yield _same(subject, object_)
    elif predicate == _owl("members") and (subject, _TYPE, _owl("AllDifferent")) in graph:
        for one, other in combinations(_items(object_, graph), 2):
            yield _same(one, other)
    elif predicate == _TYPE and object_ == _owl("TransitiveProperty"):
        yield frozenset(
            {
                (_X, subject, _Y),
                (_Y, subject, _Z),
                (_DENIED, _owl("sourceIndividual"), _X),
                (_DENIED, _owl("assertionProperty"), subject),
                (_DENIED, _owl("targetIndividual"), _Z),
            }
        )
    elif predicate == _TYPE:
        for complement in _objects(object_, _owl("complementOf"), graph):
            yield frozenset({(subject, _TYPE, complement)})


def _same(one: Term, other: Term) -> Graph:
    return frozenset({(one, _owl("sameAs"), other)})


def _items(node: Term, graph: Graph) -> Iterator[Term]:
    while heads := _objects(node, IRI(RDF + "first"), graph):
        yield heads[0]
        (node,) = _objects(node, IRI(RDF + "rest"), graph)


def _objects(subject: Term, predicate: Term, graph: Graph) -> list[Term]:
    return [o for s, p, o in graph if (s, p) == (subject, predicate)]


def _owl(name: str) -> IRI:
    return IRI(OWL + name)
