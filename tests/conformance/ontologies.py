"""Small real ontologies: their closures equal those of an independent implementation, owlrl.

The peer's departures from the standards are written down in `peer.py`; anything else is a failure.
An ontology that is no contradiction must be found consistent.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from tests.conformance.case import Case
from tests.conformance.data import FOLDER, Graph, read_graph
from tests.conformance.entailment import close
from tests.conformance.peer import (
    is_beyond_owl2rl,
    is_beyond_rdfs,
    is_missed_rdfs,
    owl2rl_closure,
    rdfs_closure,
)

from ebbtide.terms import IRI, BlankNode, Literal

SUITE: Final = "ontologies"
SAME: Final = "closure as owlrl's"


def cases() -> Iterator[Case]:
    """Every ontology under RDFS and OWL 2 RL."""
    for path in sorted((FOLDER / "ontologies").glob("*.nt")):
        yield Case(SUITE, path.stem, SAME, "RDFS", partial(_check_rdfs, path))
        yield Case(SUITE, path.stem, SAME, "OWL 2 RL", partial(_check_owl2rl, path))
        yield Case(SUITE, path.stem, "consistency", "OWL 2 RL", partial(_check_consistent, path))


def _check_rdfs(path: Path) -> None:
    premise = read_graph(path)
    ours, theirs = _closed("rdfs-full", premise), rdfs_closure(premise)
    assert [triple for triple in ours - theirs if not is_missed_rdfs(triple)] == []
    assert [triple for triple in theirs - ours if not is_beyond_rdfs(triple, ours)] == []


def _check_owl2rl(path: Path) -> None:
    premise = read_graph(path)
    ours, theirs = _closed("owl2rl", premise), owl2rl_closure(premise)
    assert ours - theirs == frozenset()
    assert [triple for triple in theirs - ours if not is_beyond_owl2rl(triple)] == []


def _check_consistent(path: Path) -> None:
    found = close("owl2rl,owl2rl-unsat", read_graph(path), specialise=False).inconsistencies
    assert not found, sorted(map(str, found))


def _closed(rules: str, premise: Graph) -> Graph:
    """The triples of the closure that RDF can write and that speak of nothing invented."""
    # Nothing streams, so a plan for the schema, which is all there is, would not pay.
    closure = close(rules, premise, specialise=False)
    return frozenset(
        triple
        for triple in closure.triples
        if not isinstance(triple[0], Literal)
        and isinstance(triple[1], IRI)
        and not any(isinstance(term, BlankNode) and term.invented for term in triple)
    )
