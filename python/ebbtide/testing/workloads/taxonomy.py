"""Trees of subclasses, and instances of their leaves.

    depth 2, fanout 2:       C0               C1 subClassOf C0, C2 subClassOf C0, ...
                           C1   C2
                         C3 C4 C5 C6          i0 a C4, i1 a C6, ...

With a fanout of 1 it is a chain. The classes are background; the instances are streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from ebbtide.program import TRIPLE, Fact
from ebbtide.terms import IRI
from ebbtide.terms.term import RDF
from ebbtide.testing.workloads.isin import edges_of_a_tree
from ebbtide.testing.workloads.workload import TimedFacts, Workload, WorkloadError, at_least, name
from ebbtide.time import Instant

SUB_CLASS_OF: Final = IRI("http://www.w3.org/2000/01/rdf-schema#subClassOf")
TYPE: Final = IRI(RDF + "type")


def taxonomy(
    *,
    depth: int = 5,
    fanout: int = 3,
    instances: int = 1_000,
    rate: float = 100.0,
    start: Instant = 0,
    seed: int = 0,
) -> Workload:
    """One tree, and `rate` instances a second from `start` on, each of a leaf drawn at random.

    >>> chain = taxonomy(depth=3, fanout=1, instances=1)
    >>> for fact in chain.background():
    ...     print(fact.terms[0], fact.terms[2])
    <http://example/C1> <http://example/C0>
    <http://example/C2> <http://example/C1>
    <http://example/C3> <http://example/C2>
    >>> [(str(fact.terms[0]), str(fact.terms[2])) for fact, at in chain.stream()]
    [('<http://example/i0>', '<http://example/C3>')]
    """
    at_least("instances", instances, 0)
    if rate <= 0:
        raise WorkloadError(f"rate must be positive, not {rate}")
    classes = edges_of_a_tree(depth, fanout) + 1
    first_leaf = classes - fanout**depth

    def background() -> Iterator[Fact]:
        for number in range(1, classes):
            parent = (number - 1) // fanout
            yield Fact(TRIPLE, (name(f"C{number}"), SUB_CLASS_OF, name(f"C{parent}")))

    def stream() -> TimedFacts:
        random = Random(seed)
        for number in range(instances):
            leaf = name(f"C{random.randrange(first_leaf, classes)}")
            yield Fact(TRIPLE, (name(f"i{number}"), TYPE, leaf)), start + int(number * 1000 / rate)

    return Workload(background, stream)
