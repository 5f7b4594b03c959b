"""docs/conformance-by-regime.md: how far each stock regime gets on its own.

Here every test runs under every regime, whether it is meant for it or not; so the page is written
by a run, and no test holds it to anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tests.conformance import owl2_rl, sparql_entailment
from tests.conformance.data import ROOT

PAGE: Final = ROOT / "docs" / "conformance-by-regime.md"

_INTRODUCTION: Final = """\
<!-- Written by `make conformance`. -->
# Conformance, regime by regime

How far each regime gets on its own, on tests that are not all meant for it. What is meant for it is
in [conformance](conformance.md).

## SPARQL 1.1 entailment

Of the 66 tests that are complete; {without} of them need no rules.

| rules | pass |
|---|---|"""

_OWL: Final = """
## OWL 2 RL

A regime without unsatisfiability rules finds nothing inconsistent. A consistent premise that is
found inconsistent is a mistake: SWCLOS2's rules say more than OWL does.

| rules | positive | negative | inconsistency | consistency |
|---|---|---|---|---|"""

_SPARQL_RULES: Final = (
    *("rdf,rdf-axioms", "rdfs", "rdfs-full", "rdfs-full,rdfs-axioms", "rdfs-imars"),
    *("rdfs-sparkwave", "rhodf", "dstar", "p", "pdstar", "pdstarsv"),
    *("owl2rl", "owl2rl,swclos2"),
)
_OWL_RULES: Final = (
    *("rdfs-full,rdfs-axioms,rdf-unsat", "pdstar", "pdstarsv", "pdstar,swclos2,swclos2-unsat"),
    *("owl2rl,owl2rl-unsat", "owl2rl,owl2rl-unsat,swclos2,swclos2-unsat"),
)


def page() -> str:
    """The whole page; a minute's work."""
    return "\n".join([*_sparql(), _OWL, *_owl()]) + "\n"


def _sparql() -> Iterator[str]:
    tests = [row for row in sparql_entailment.tests() if "RIF" not in row["regimes"]]
    without = sum(sparql_entailment.passes(row, "") for row in tests)
    yield _INTRODUCTION.format(without=without)
    for rules in _SPARQL_RULES:
        passing = sum(sparql_entailment.passes(row, rules) for row in tests)
        yield f"| {_names(rules)} | {passing} |"


def _owl() -> Iterator[str]:
    for rules in _OWL_RULES:
        counts, passing = Counter[str](), Counter[str]()
        for case in owl2_rl.cases(rules):
            kind = case.kind.partition(",")[0]
            counts[kind] += 1
            passing[kind] += case.passes()
        kinds = ("positive", "negative", "inconsistency", "consistency")
        cells = (f"{passing[kind]} of {counts[kind]}" for kind in kinds)
        yield f"| {_names(rules)} | {' | '.join(cells)} |"


def _names(rules: str) -> str:
    return rules.replace(",", ", ")
