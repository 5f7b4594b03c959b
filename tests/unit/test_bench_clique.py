"""The bench of cliques: both programs conclude the same, and the numbers are those of a clique."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("psutil")

from ebbtide.benches.regimes.clique import (
    PROPERTIES,
    SAME_AS,
    SHAPES,
    STEP_BY_STEP,
    clique,
    measure_clique,
)
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Results
from ebbtide.languages.jena import parse_rules
from ebbtide.program import TRIPLE
from ebbtide.regimes import load


@pytest.mark.parametrize("shape", SHAPES)
def test_both_programs_conclude_the_same_of_the_terms(shape: str) -> None:
    closures = []
    for program in (load("owl2rl"), parse_rules(STEP_BY_STEP)):
        engine = clique(program, shape, terms=6)
        engine.evaluate(0)
        facts = {fact for fact in engine.facts([TRIPLE]) if "/term/" in fact.terms[0].text}
        closures.append(facts)
    by_table, by_steps = closures
    assert by_table == by_steps
    equalities = [fact for fact in by_steps if fact.terms[1] == SAME_AS]
    assert len(equalities) == 6 * 6
    assert len(by_steps) == 6 * 6 + PROPERTIES * 6 * 6


def test_what_is_measured(tmp_path: Path) -> None:
    # Without versions: the package need not be installed.
    results = Results("regimes", {}, versions={})
    said: list[str] = []
    settings = Settings(rounds=1, cliques_by_table=(5,), cliques_by_steps=(5, 9))
    measure_clique(settings, results, tmp_path, said.append)
    found = [each.parameters for each in results.named("clique")]
    assert [(each["rules"], each["terms"], each["stated as"]) for each in found] == [
        ("owl2rl", 5, "chain"),
        ("owl2rl", 5, "star"),
        ("step by step", 5, "chain"),
        ("step by step", 5, "star"),
        ("step by step", 9, "chain"),
        ("step by step", 9, "star"),
    ]
    assert said[0] == "clique: 5 terms as a chain, owl2rl"
    # Two steps on average: 2 (n - 1) neighbours for n terms.
    last = found[-1]
    assert int(last["derivations"]) < 3 * int(last["facts"])
