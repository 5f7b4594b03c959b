"""LUBM(1) under OWL 2 RL: the fourteen queries, and what they do not notice.

The queries alone do not show that the closure is complete: without the rule scm-svf1 they answer
the same, but 547 people are no employees.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache, partial
from typing import Final

import pyoxigraph as ox
from tests.conformance.case import Case
from tests.conformance.data import FOLDER
from tests.conformance.entailment import program

from ebbtide import Reasoner
from ebbtide.program import Program
from ebbtide.terms.term import RDF

SUITE: Final = "lubm"
RULES: Final = "owl2rl"
NEEDS_SVF1: Final = 547

_FOLDER: Final = FOLDER / "lubm"
_TYPE: Final = ox.NamedNode(RDF + "type")
_EMPLOYEE: Final = ox.NamedNode("http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#Employee")


def cases() -> Iterator[Case]:
    """The queries, and the employees."""
    for number in range(1, 15):
        yield Case(SUITE, f"q{number}", "query", "OWL 2 RL", partial(_check_query, f"q{number}"))
    yield Case(SUITE, "employees", "completeness", "OWL 2 RL", _check_employees)


def _check_query(name: str) -> None:
    query = (_FOLDER / "queries" / f"{name}.rq").read_text(encoding="utf-8")
    results = _store().query(query)
    assert isinstance(results, ox.QuerySolutions)
    names = [variable.value for variable in results.variables]
    found = sorted(tuple(solution[name].value for name in names) for solution in results)
    with open(_FOLDER / "answers-lubm1" / f"{name}.csv", encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    assert header == names
    assert found == sorted(map(tuple, rows))


def _check_employees() -> None:
    employees, fewer = _employees(_store()), _employees(_store(without="scm-svf1"))
    assert fewer < employees
    assert len(employees - fewer) == NEEDS_SVF1


def _employees(store: ox.Store) -> set[object]:
    return {quad.subject for quad in store.quads_for_pattern(None, _TYPE, _EMPLOYEE)}


@cache
def _store(without: str = "") -> ox.Store:
    """LUBM(1) and its ontology, closed under the regime less a rule."""
    regime = program(RULES)
    rules = (rule for rule in regime.rules if rule.name != without)
    less = Program(rules, regime.relations)
    data = (_FOLDER / "lubm1.nt.gz", _FOLDER / "univ-bench.nt")
    return Reasoner.materialize(less, *data, specialise=False).to_pyoxigraph()
