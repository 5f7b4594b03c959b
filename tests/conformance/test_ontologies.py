"""The closure of small real ontologies equals that of an independent implementation."""

from pathlib import Path

import pytest

from ebbtide.terms import IRI, BlankNode, Literal
from tests.conformance.data import ABSENT, FOLDER, PRESENT, Graph, read_graph
from tests.conformance.entailment import close
from tests.conformance.peer import SEMANTICS, more_than_asked, peer_closure

ONTOLOGIES = sorted((FOLDER / "ontologies").glob("*.nt"))


@pytest.mark.skipif(not PRESENT, reason=ABSENT)
@pytest.mark.parametrize("regime", SEMANTICS)
@pytest.mark.parametrize("path", ONTOLOGIES, ids=lambda path: path.stem)
def test_closure_equals_the_peers(path: Path, regime: str) -> None:
    premise = read_graph(path)
    ours, theirs = in_rdf(close(regime, premise).triples), peer_closure(regime, premise)
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
