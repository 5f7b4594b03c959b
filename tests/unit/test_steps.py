"""Equality step by step: what the kernel leaves out is looked at again when it is needed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import pytest

from ebbtide.engines.planned import PlannedEngine
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.program import Fact, Program
from ebbtide.program.lists import SAME_AS
from ebbtide.program.reserved import STEP
from ebbtide.regimes import load
from ebbtide.terms import IRI
from ebbtide.time import FOREVER, Sliding

RULES = Program(rule for rule in load("owl2rl").written if rule.name.startswith("eq-"))
WINDOWS = {"default": Sliding(10)}


def term(name: object) -> IRI:
    return IRI(f"http://example/{name}")


def same(one: object, other: object) -> Fact:
    return Fact.triple(term(one), SAME_AS, term(other))


def engine_with(facts: Iterable[Fact]) -> PlannedEngine:
    engine = PlannedEngine(RULES, WINDOWS)
    # An engine plans for what is known at first; steps are those of the kernel itself.
    engine.evaluate(0)
    for fact in facts:
        engine.add(fact)
    engine.evaluate(1)
    return engine


def steps(engine: PlannedEngine) -> int:
    return engine.native.count([STEP])


def test_a_clique_has_a_forest_of_steps() -> None:
    engine = engine_with(same(*pair) for pair in permutations(range(8), 2))
    assert steps(engine) == 2 * 7


@pytest.mark.parametrize("retracted", [("a", "b"), ("b", "c"), ("a", "c")])
def test_what_was_left_out_takes_the_place_of_what_is_retracted(
    retracted: tuple[str, str],
) -> None:
    engine = engine_with([same("a", "b"), same("b", "c"), same("a", "c")])
    assert steps(engine) == 4
    engine.retract(same(*retracted), at=2)
    delta = engine.advance(2)
    assert not delta.left
    assert steps(engine) == 4


def test_a_clique_falls_into_parts_and_the_parts_stay() -> None:
    engine = engine_with([same("a", "b"), same("b", "c"), same("c", "d")])
    engine.retract(same("b", "c"), at=2)
    engine.advance(2)
    assert engine.until(same("a", "b")) == engine.until(same("d", "c")) == FOREVER
    assert engine.until(same("a", "c")) is None


def test_to_retract_one_of_many_costs_what_is_lost() -> None:
    lookups = []
    for terms in (40, 160):
        engine = engine_with(same(0, number) for number in range(1, terms))
        before = engine.native.stats()["lookups"]
        engine.retract(same(0, terms - 1), at=2)
        assert len(engine.advance(2).left) == 2 * (terms - 1) + 1
        lookups.append(engine.native.stats()["lookups"] - before)
    # Four times as many equalities are lost, of sixteen times as many.
    assert lookups[1] < 6 * lookups[0]


def test_a_longer_way_is_taken_when_it_comes() -> None:
    engine, oracle = PlannedEngine(RULES, WINDOWS), ReferenceEngine(RULES, WINDOWS)
    for at, pair in enumerate(["ab", "bc", "cd", "da", "ac", "bd", "ab"], start=1):
        for each in (engine, oracle):
            each.push(same(*pair), at=at)
            each.advance(at)
        assert engine.facts(RULES.visible) == oracle.facts(RULES.visible)
    for tick in range(8, 18):
        for each in (engine, oracle):
            each.advance(tick)
        assert engine.facts(RULES.visible) == oracle.facts(RULES.visible)
    assert steps(engine) == 0


@pytest.mark.parametrize("pairs", list(permutations(["ab", "ac", "bc"])))
def test_proofs_from_known_equalities_are_by_the_written_rules(pairs: tuple[str, ...]) -> None:
    engine = PlannedEngine(RULES, WINDOWS)
    for pair in pairs:
        engine.add(same(*pair))
    engine.push(Fact.triple(term("a"), term("p"), term("a")), at=1)
    engine.evaluate(1)
    facts = engine.facts(RULES.visible)
    assert len(facts) == 9 + 9 + 2
    for fact, until in facts.items():
        proof = engine.why(fact)
        assert (proof.fact, proof.until) == (fact, until)
        proof.check(RULES, facts.keys())


def test_a_restored_engine_knows_its_steps() -> None:
    engine = engine_with([same("a", "b"), same("b", "c")])
    restored = PlannedEngine(RULES, WINDOWS)
    restored.restore(engine.snapshot())
    restored.add(same("a", "c"))
    restored.evaluate(2)
    assert steps(restored) == 4
    restored.retract(same("a", "b"), at=3)
    assert not restored.advance(3).left
