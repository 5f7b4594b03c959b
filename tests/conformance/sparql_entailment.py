"""The SPARQL 1.1 entailment tests: a query over data under each regime that the test names.

Every test runs under the stock regimes of RDF, RDFS and D where it names them, and of OWL 2 RL
where it names an OWL regime; one regime per run. Where OWL 2 RL is not among the profiles a test is
made for, its rules are not meant to suffice, and `custom/TEST.rules` may add what the test needs.
All data are consistent, and must be found so.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from tests.conformance.answers import agree, ask, distinct, expected, expressions
from tests.conformance.case import Case
from tests.conformance.data import FOLDER, read_graph
from tests.conformance.entailment import close
from tests.conformance.expressions import asked_expressions

SUITE: Final = "sparql-entailment"
CUSTOM: Final = Path(__file__).parent / "custom"
RULES: Final[Mapping[str, str]] = {
    "RDF": "rdf,rdf-axioms,rdf-unsat",
    "RDFS": "rdfs-full,rdfs-axioms,rdf-unsat",
    "D": "rdfs-full,rdfs-axioms,datatypes,rdf-unsat",
}
OWL_RULES: Final = "owl2rl,owl2rl-unsat"

_FOLDER: Final = FOLDER / "w3c-sparql11-entailment"


def tests() -> list[dict[str, str]]:
    """The rows of the suite's table."""
    with open(_FOLDER / "tests.csv", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def cases() -> Iterator[Case]:
    """Every test under each of its regimes."""
    for row in tests():
        name, regimes = row["test"], row["regimes"].split()
        for regime in regimes:
            if regime in RULES:
                yield Case(SUITE, name, "stock", regime, partial(_check, row, RULES[regime]))
        if "RL" in row["profiles"].split():
            yield Case(SUITE, name, "stock", "OWL 2 RL", partial(_check, row, OWL_RULES))
        elif any(regime.startswith("OWL") for regime in regimes):
            yield _beyond(row)
        if "RIF" in regimes:
            yield Case(SUITE, name, "stock", "RIF", partial(_check, row, ""))


def _beyond(row: Mapping[str, str]) -> Case:
    """A test of OWL for which the rules of OWL 2 RL need not suffice."""
    name, custom = row["test"], CUSTOM / f"{row['test']}.rules"
    if not custom.exists():
        return Case(SUITE, name, "stock", "OWL", partial(_check, row, OWL_RULES))
    return Case(SUITE, name, "custom", "OWL", partial(_check_custom, row, str(custom)))


def _check_custom(row: Mapping[str, str], custom: str) -> None:
    assert not passes(row, OWL_RULES), f"passes without {custom}"
    _check(row, f"{OWL_RULES},{custom}")


def passes(row: Mapping[str, str], rules: str) -> bool:
    """Whether a test passes under some rules."""
    try:
        _check(row, rules)
    except AssertionError:
        return False
    return True


def _check(row: Mapping[str, str], rules: str) -> None:
    data = read_graph(_FOLDER / row["data"])
    query = (_FOLDER / row["query"]).read_text(encoding="utf-8")
    is_owl = "owl2rl" in rules.split(",")
    asked = asked_expressions(query) if is_owl else frozenset()
    closure = close(rules, data | asked)
    assert not closure.inconsistencies, "consistent data are found inconsistent"
    found = ask(closure, query, hidden=expressions(data | asked) if is_owl else frozenset())
    wanted = expected(_FOLDER / row["result"])
    if asked:
        # No variables, so an expression that stands in the data too must not count twice.
        found, wanted = distinct(found), distinct(wanted)
    assert agree(found, wanted), f"found {found}, expected {wanted}"
