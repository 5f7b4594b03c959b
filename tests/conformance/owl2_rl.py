"""The OWL 2 tests of the RDF-based suite and of the profile RL.

A premise is read with its imports, a conclusion without ontology headers. What a conclusion denies
is decided by refutation. The class expressions of some conclusions are balanced, as the RDF-Based
Semantics (section 7) has it: they are put to the premise, which says nothing about anything else.

Every premise that a test calls consistent must be found so, whatever else the test asks.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.conformance.answers import OWL, expressions
from tests.conformance.case import Case
from tests.conformance.data import FOLDER, Graph, read_graph
from tests.conformance.entailment import close, matches
from tests.conformance.refutation import refutation

from ebbtide.terms import IRI
from ebbtide.terms.term import RDF

SUITE: Final = "owl2-rl"
RULES: Final = "owl2rl,owl2rl-unsat"
REFUTED: Final = "positive, by refutation"
BALANCED: Final = "positive, balanced"

#: The tests whose conclusions have an expression that the premise need not have; all else that is
#: balanced is refuted.
_TO_BALANCE: Final = frozenset({"WebOnt-I5.26-010", "WebOnt-I5.5-005"})

_FOLDER: Final = FOLDER / "owl2-rl"
_TYPE: Final = IRI(RDF + "type")
_DECLARED: Final = (IRI(OWL + "Class"), IRI(OWL + "Restriction"), IRI(RDF + "List"))


def cases(rules: str = RULES) -> Iterator[Case]:
    """Every test of which the files are there, once for each of its kinds."""
    with open(_FOLDER / "tests.csv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        name = row["id"]
        if not (_FOLDER / f"{name}.premise.nt").exists():
            continue
        suite = "RDF-based" if row["rdfbased_suite"] == "yes" else "profile RL"
        for kind in row["types"].split():
            if check := _CHECKS.get(kind):
                yield Case(SUITE, name, _label(name, kind), suite, partial(check, name, rules))


def _label(name: str, kind: str) -> str:
    if kind == "PositiveEntailmentTest":
        if name in _TO_BALANCE:
            return BALANCED
        if refutation(_conclusion(name)).denied:
            return REFUTED
    return kind.removesuffix("Test").removesuffix("Entailment").lower()


def _check_positive(name: str, rules: str) -> None:
    premise, conclusion = _premise(name), _conclusion(name)
    by = refutation(conclusion)
    if by.denied or name in _TO_BALANCE:
        premise |= _expressions(conclusion)
    assert matches(conclusion - by.decides, close(rules, premise).triples), "the closure lacks it"
    for denied in by.denied:
        assert close(rules, premise | denied).inconsistencies, f"{denied} is consistent"


def _check_negative(name: str, rules: str) -> None:
    nonconclusion = _graph(f"{name}.nonconclusion.nt")
    # Balanced, so that nothing is missed for want of an expression.
    closure = close(rules, _premise(name) | _expressions(nonconclusion))
    assert not matches(nonconclusion, closure.triples), "the closure has it"


def _check_consistent(name: str, rules: str) -> None:
    found = close(rules, _premise(name)).inconsistencies
    assert not found, sorted(map(str, found))


def _check_inconsistent(name: str, rules: str) -> None:
    assert close(rules, _premise(name)).inconsistencies, "no rule concludes false"


_CHECKS: Final = {
    "PositiveEntailmentTest": _check_positive,
    "NegativeEntailmentTest": _check_negative,
    "ConsistencyTest": _check_consistent,
    "InconsistencyTest": _check_inconsistent,
}


def _premise(name: str) -> Graph:
    imports = sorted(_FOLDER.glob(f"{name}.import*.nt"))
    return read_graph(_FOLDER / f"{name}.premise.nt").union(*map(read_graph, imports))


def _conclusion(name: str) -> Graph:
    return _graph(f"{name}.conclusion.nt")


def _graph(file: str) -> Graph:
    """The triples of a file, without its ontology header."""
    graph = read_graph(_FOLDER / file)
    headers = {s for s, p, o in graph if p == _TYPE and o == IRI(OWL + "Ontology")}
    return frozenset(triple for triple in graph if triple[0] not in headers)


def _expressions(graph: Graph) -> Graph:
    """The triples that make up the class expressions and lists of a graph."""
    parts = expressions(graph)
    return frozenset(
        (s, p, o) for s, p, o in graph if s in parts and (p != _TYPE or o in _DECLARED)
    )
