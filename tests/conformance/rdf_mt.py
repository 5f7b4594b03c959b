"""The tests of RDF 1.1 Semantics: entailment under the simple, RDF and RDFS regimes.

A test recognises some datatypes; they are stated as facts of the relation that the regimes ask, so
that one regime serves all tests. The result `false` stands for an inconsistency.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from tests.conformance.case import Case
from tests.conformance.data import FOLDER, read_graph
from tests.conformance.entailment import close, matches

from ebbtide.program import Fact
from ebbtide.terms import IRI
from ebbtide.terms.term import RDF, XSD, XSD_STRING

SUITE: Final = "rdf-mt"
RULES: Final[Mapping[str, str]] = {
    "simple": "",
    "RDF": "rdf,rdf-axioms,rdf-unsat",
    "RDFS": "rdfs-full,rdfs-axioms,rdf-unsat",
}

_FOLDER: Final = FOLDER / "w3c-rdf-mt"
_RECOGNISED: Final = "_recognised"
# RDF recognises these, whatever else is recognised.
_ALWAYS: Final = frozenset({XSD_STRING, RDF + "langString"})


def cases() -> Iterator[Case]:
    """Every test of the manifest."""
    with open(_FOLDER / "tests.csv", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            kind = row["type"].removesuffix("EntailmentTest").lower()
            yield Case(SUITE, row["test"], kind, row["regime"], partial(_check, row))


def _check(row: Mapping[str, str]) -> None:
    recognised = {_expanded(name) for name in row["recognizedDatatypes"].split()}
    facts = [Fact(_RECOGNISED, (IRI(name),)) for name in recognised]
    closure = close(RULES[row["regime"]], read_graph(_FOLDER / row["action"]), facts)
    entailed = bool(closure.inconsistencies) or (
        row["result"] != "false"
        and matches(read_graph(_FOLDER / row["result"]), closure.triples, recognised | _ALWAYS)
    )
    assert entailed == row["type"].startswith("Positive"), sorted(map(str, closure.inconsistencies))


def _expanded(name: str) -> str:
    return XSD + name.removeprefix("xsd:") if name.startswith("xsd:") else name
