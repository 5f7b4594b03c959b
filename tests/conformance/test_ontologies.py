"""The closure of small real ontologies equals that of an independent implementation."""

from pathlib import Path

import pytest
from tests.conformance.data import ABSENT, FOLDER, PRESENT, Graph, read_graph
from tests.conformance.entailment import close
from tests.conformance.peer import more_than_asked, peer_closure

from ebbtide.terms import IRI, BlankNode, Literal

ONTOLOGIES = sorted((FOLDER / "ontologies").glob("*.nt"))


@pytest.mark.skipif(not PRESENT, reason=ABSENT)
@pytest.mark.parametrize("path", ONTOLOGIES, ids=lambda path: path.stem)
def test_closure_equals_the_peers(path: Path) -> None:
    premise = read_graph(path)
    # Nothing streams, so a plan for the schema, which is all there is, would not pay.
    ours = in_rdf(close("owl2rl", premise, specialise=False).triples)
    theirs = peer_closure(premise)
    assert ours - theirs == frozenset()
    assert {triple for triple in theirs - ours if not more_than_asked(triple)} == set()


def in_rdf(graph: Graph) -> Graph:
    """The triples that RDF can write and that speak of nothing invented."""
    return frozenset(
        triple
        for triple in graph
        if not isinstance(triple[0], Literal)
        and isinstance(triple[1], IRI)
        and not any(isinstance(term, BlankNode) and term.invented for term in triple)
    )
