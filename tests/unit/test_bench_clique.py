"""The bench of cliques: planned and as written conclude the same, and a clique is what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("psutil")

from ebbtide.benches.regimes.clique import PROPERTIES, SHAPES, clique, measure_clique
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Results
from ebbtide.program import TRIPLE
from ebbtide.program.lists import SAME_AS


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("regime", ["owl2rl", "pdstar"])
def test_planned_and_as_written_conclude_the_same(regime: str, shape: str) -> None:
    closures = []
    for planned in (True, False):
        engine = clique(shape, 6, planned=planned, regime=regime)
        engine.evaluate(0)
        closures.append(engine.facts([TRIPLE]))
    assert closures[0] == closures[1]
    of_clique = ("/property/", "sameAs")
    facts = [
        fact
        for fact in closures[0]
        if "/term/" in fact.terms[0].text and any(p in fact.terms[1].text for p in of_clique)
    ]
    equalities = [fact for fact in facts if fact.terms[1] == SAME_AS]
    assert len(equalities) == 6 * 6
    assert len(facts) == 6 * 6 + PROPERTIES * 6 * 6


def test_what_is_measured(tmp_path: Path) -> None:
    # Without versions: the package need not be installed.
    results = Results("regimes", {}, versions={})
    said: list[str] = []
    settings = Settings(rounds=1, cliques=(30, 60), cliques_as_written=(5,))
    measure_clique(settings, results, tmp_path, said.append)
    found = [each.parameters for each in results.named("clique")]
    shown = ("regime", "rules", "terms", "equal by")
    assert [tuple(each[name] for name in shown) for each in found] == [
        (regime, how, terms, shape)
        for regime in ("owl2rl", "pdstar")
        for how, terms in (("planned", 30), ("planned", 60), ("as written", 5))
        for shape in SHAPES
    ]
    assert said[0] == "clique: 30 terms by a chain, owl2rl, planned"
    # As many as facts, and not n times as many.
    for smaller, larger in zip(found[:3] + found[9:12], found[3:6] + found[12:15], strict=True):
        assert int(larger["derivations"]) < 5 * int(smaller["derivations"])
