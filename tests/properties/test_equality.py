"""Following equality step by step concludes what Table 4 of OWL 2 RL and P do, until included.

Plans do so for rules that make owl:sameAs symmetric and transitive. The oracle is the reference
engine with the rules as the tables have them. In P literals are not turned around, so there are
some among the facts, in any place. Statements, rules that conclude owl:sameAs, and rules
whose variable predicate may turn out to be owl:sameAs all say that terms are the same; even
owl:sameAs itself may be said to be the same as another property.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import NATIVE_STRATEGIES, MakeEngine
from tests.properties.test_engines_agree import across_engines, tell
from tests.properties.test_plans_agree import (
    assert_proofs_are_by,
    assert_same_answers,
    assume_small,
)

from ebbtide.engines.planned import PlannedEngine
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.plan.equality import step_by_step
from ebbtide.program import TRIPLE, Fact, Program
from ebbtide.program.lists import SAME_AS
from ebbtide.regimes import load
from ebbtide.terms import IRI, Literal, Term
from ebbtide.testing import Add, Happening, Tick, play
from ebbtide.testing.generate import streams, windows
from ebbtide.testing.notation import EXAMPLE
from ebbtide.time import Window

TABLE_4 = """
    [eq-sym:   (?x owl:sameAs ?y) -> (?y owl:sameAs ?x)]
    [eq-trans: (?x owl:sameAs ?y) (?y owl:sameAs ?z) -> (?x owl:sameAs ?z)]
    [eq-rep-s: (?s owl:sameAs ?t) (?s ?p ?o) -> (?t ?p ?o)]
    [eq-rep-p: (?p owl:sameAs ?q) (?s ?p ?o) -> (?s ?q ?o)]
    [eq-rep-o: (?o owl:sameAs ?t) (?s ?p ?o) -> (?s ?p ?t)]
"""
OTHERS = """
    @prefix ex: <http://example/>
    [functional: (?p a ex:Functional) (?x ?p ?y) (?x ?p ?z) -> (?y owl:sameAs ?z)]
    [sub:        (?p ex:sub ?q) (?x ?p ?y) -> (?x ?q ?y)]
    [inverse:    (?p ex:inverse ?q) (?x ?p ?y) -> (?y ?q ?x)]
    [transitive: (?p a ex:Transitive) (?x ?p ?y) (?y ?p ?z) -> (?x ?p ?z)]
    [value:      (?x a ex:Like) (?x ex:on ?p) (?x ex:value ?y) -> (?x ?p ?y)]
    [read:       (?x owl:sameAs ?y) (?y a ?c) -> (?x ex:twin ?c)]
"""
BY_TABLE = parse_rules(TABLE_4 + OTHERS)
BY_REGIME = Program(
    [
        *(rule for rule in load("owl2rl").written if rule.name.startswith("eq-")),
        *parse_rules(OTHERS).rules,
    ]
)
BY_P = Program(
    [
        *(rule for rule in load("p").written if rule.name in ("rdfp6", "rdfp7", "rdfp11")),
        *parse_rules(OTHERS).rules,
    ]
)
WITH_REFLEXIVITY = Program(
    [*BY_P.rules, *(rule for rule in load("p").written if rule.name.startswith(("rdfp5", "rdfp1")))]
)


def ex(name: str) -> IRI:
    return IRI(EXAMPLE + name)


THINGS: tuple[Term, ...] = tuple(map(ex, "ABCD"))
PROPERTIES: tuple[Term, ...] = (ex("p"), SAME_AS)
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def triples(
    subjects: tuple[Term, ...], predicates: tuple[Term, ...], objects: tuple[Term, ...]
) -> st.SearchStrategy[Fact]:
    parts = map(st.sampled_from, (subjects, predicates, objects))
    return st.tuples(*parts).map(lambda terms: Fact(TRIPLE, terms))


FACTS = st.one_of(
    triples(THINGS, (SAME_AS,), THINGS),
    triples(THINGS, (SAME_AS,), THINGS),
    triples(THINGS, (SAME_AS, ex("p"), ex("q")), THINGS),
    triples(THINGS[:1], (TYPE, ex("on"), ex("value")), (ex("Like"), SAME_AS, *THINGS)),
    triples(PROPERTIES, (ex("sub"), ex("inverse"), SAME_AS), PROPERTIES),
    triples(PROPERTIES, (TYPE,), (ex("Functional"), ex("Transitive"))),
)
LITERALS: tuple[Term, ...] = (Literal("l"), Literal("m"))
WITH_LITERALS = st.one_of(
    FACTS,
    triples(THINGS, (SAME_AS, ex("p")), LITERALS),
    triples(LITERALS, (SAME_AS, ex("p")), (*THINGS, *LITERALS)),
)


@st.composite
def stories(draw: st.DrawFn, facts: st.SearchStrategy[Fact] = FACTS) -> list[Happening]:
    """Some of it in the background from the beginning, so that plans are made for it."""
    background = draw(st.lists(facts, max_size=4))
    return [*map(Add, background), *draw(streams(facts))]


def test_all_rules_of_the_table_go_step_by_step() -> None:
    for rules in (BY_TABLE, BY_REGIME):
        written = {rule.name for rule in step_by_step(rules).written.values()}
        assert written == {"eq-sym", "eq-trans", "eq-rep-s", "eq-rep-p", "eq-rep-o"}
    for regime in ("p", "pdstar", "pdstarsv"):
        written = {rule.name for rule in step_by_step(load(regime)).written.values()}
        assert written == {"rdfp6", "rdfp7", "rdfp11"}


@pytest.mark.parametrize("strategy", NATIVE_STRATEGIES)
@across_engines
@given(st.sampled_from([BY_TABLE, BY_REGIME]), windows(), stories())
def test_a_plan_is_the_table(
    strategy: str, rules: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    assert_plan_is_exact(strategy, rules, looking, story)


@pytest.mark.parametrize("strategy", NATIVE_STRATEGIES)
@across_engines
@given(st.sampled_from([BY_P, WITH_REFLEXIVITY]), windows(), stories(WITH_LITERALS))
def test_a_plan_is_p(
    strategy: str, rules: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    assert_plan_is_exact(strategy, rules, looking, story)


def assert_plan_is_exact(
    strategy: str, rules: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    assume_small(rules, looking, story)
    tell(rules, looking, story)
    engine = PlannedEngine(rules, looking, strategy=strategy)
    oracle = ReferenceEngine(rules, looking)
    assert_same_answers(rules, engine, oracle, story)
    assert_proofs_are_by(rules, engine, oracle)


@across_engines
@given(windows(), streams(FACTS))
def test_the_table_under_expiry_equals_the_naive_specification(
    other_engine: MakeEngine, looking: dict[str, Window], story: list[Happening]
) -> None:
    tell(BY_TABLE, looking, story)
    engine, oracle = other_engine(BY_TABLE, looking), ReferenceEngine(BY_TABLE, looking)
    for happening in story:
        play(engine, [happening])
        play(oracle, [happening])
        if isinstance(happening, Tick):
            assert engine.facts() == oracle.facts()
