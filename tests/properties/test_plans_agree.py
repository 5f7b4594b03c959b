"""A plan concludes what the written program does, at every tick, until included.

Schema is in the background, comes on streams, expires, is derived from data and is retracted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st
from tests.properties.test_engines_agree import across_engines, tell

from ebbtide.engines.native import NativeEngine
from ebbtide.engines.planned import PlannedEngine
from ebbtide.engines.protocol import Delta, Engine
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.plan import wanted
from ebbtide.plan.unify import match
from ebbtide.program import Atom, Fact, Program, Rule, Variable, lists
from ebbtide.terms import IRI, Term
from ebbtide.testing import Add, Happening, Tick, play
from ebbtide.testing.generate import streams, windows
from ebbtide.testing.notation import EXAMPLE
from ebbtide.time import Instant, Window

RULES = parse_rules(
    """
    @prefix e: <http://example/> .
    @relation seen/2 .
    [sco:  (?c rdfs:subClassOf ?d) (?x a ?c) -> (?x a ?d)]
    [sco2: (?c rdfs:subClassOf ?d) notEqual(?c ?d) (?d rdfs:subClassOf ?f)
           -> (?c rdfs:subClassOf ?f)]
    [eqc:  (?c rdfs:subClassOf ?d) (?d rdfs:subClassOf ?c) -> (?c owl:equivalentClass ?d)]
    [eqc1: (?c owl:equivalentClass ?d) (?x a ?c) -> (?x a ?d)]
    [dom1: (?p rdfs:domain ?c) (?c rdfs:subClassOf ?d) -> (?p rdfs:domain ?d)]
    [spo2: (?p rdfs:subPropertyOf ?q) (?q rdfs:subPropertyOf ?r) -> (?p rdfs:subPropertyOf ?r)]
    [dom:  (?p rdfs:domain ?c) (?x ?p ?y) -> (?x a ?c)]
    [rng:  (?p rdfs:range ?c) (?x ?p ?y) notLiteral(?y) -> (?y a ?c)]
    [spo:  (?p rdfs:subPropertyOf ?q) notEqual(?p ?q) (?x ?p ?y) -> (?x ?q ?y)]
    [ref:  (?x ?p ?y) -> (?p rdfs:subPropertyOf ?p)]
    [inv:  (?p owl:inverseOf ?q) (?x ?p ?y) -> (?y ?q ?x) (?q owl:inverseOf ?p)]
    [trp:  (?p a owl:TransitiveProperty) (?x ?p ?y) (?y ?p ?z) -> (?x ?p ?z)]
    [fp:   (?p a owl:FunctionalProperty) (?x ?p ?y) (?x ?p ?z) notEqual(?y ?z)
           -> (?y owl:sameAs ?z)]
    [svf:  (?r owl:someValuesFrom ?c) (?r owl:onProperty ?p) (?x ?p ?y) (?y a ?c) -> (?x a ?r)]
    [same: (?x owl:sameAs ?y) notEqual(?x ?y) -> _alias(?x ?y)]
    [reps: _alias(?x ?y) (?x ?p ?o) -> (?y ?p ?o)]
    [repo: _alias(?x ?y) (?s ?p ?x) -> (?s ?p ?y)]
    [int0: (?c owl:intersectionOf ?l) list(?l 0 ?d) (?x a ?d) -> _in(?x ?l 0)]
    [int1: _in(?x ?l ?i) listNext(?i ?j) list(?l ?j ?d) (?x a ?d) -> _in(?x ?l ?j)]
    [int:  (?c owl:intersectionOf ?l) _in(?x ?l ?i) listNext(?i ?n) listLength(?l ?n) -> (?x a ?c)]
    [uni:  (?c owl:unionOf ?l) list(?l ?i ?d) (?x a ?d) -> (?x a ?c)]
    [dw:   (?c owl:disjointWith ?d) (?x a ?c) (?x a ?d) -> false]
    [mine: (?p e:q ?c) (?p rdfs:range ?c) -> (?c rdfs:subClassOf e:A)]
    [none: (?c rdfs:subClassOf ?d) (?x a ?d) not (?x a ?c) -> seen(?x ?c)]
    [less: (?c rdfs:subClassOf ?d) not (?c a owl:Class) seen(?x ?d) -> seen(?x ?c)]
    """
).rules
WRITTEN = [rule for rule in RULES if not rule.name.startswith("list:")]


def iris(names: str) -> st.SearchStrategy[Term]:
    return st.sampled_from([IRI(EXAMPLE + name) for name in names])


def vocabulary(*names: str) -> st.SearchStrategy[Term]:
    known = {
        atom.arguments[1].value.rpartition("#")[2]: atom.arguments[1]
        for rule in WRITTEN
        for atom in rule.positives
        if len(atom.arguments) == 3 and isinstance(atom.arguments[1], IRI)
    }
    return st.sampled_from([known[name] for name in names])


def triples(
    subjects: st.SearchStrategy[Term],
    predicates: st.SearchStrategy[Term],
    objects: st.SearchStrategy[Term],
) -> st.SearchStrategy[Fact]:
    return st.builds(lambda *terms: Fact("triple", terms), subjects, predicates, objects)


OWL = "http://www.w3.org/2002/07/owl#"
KINDS = st.sampled_from(
    [IRI(OWL + name) for name in ("TransitiveProperty", "FunctionalProperty", "Class")]
)
FIRST, REST, NIL = (st.just(term) for term in (lists.FIRST, lists.REST, lists.NIL))
CLASSES, PROPERTIES, THINGS, CELLS = iris("ABC"), iris("pq"), iris("xy"), iris("KL")

SCHEMA = st.one_of(
    triples(CLASSES, vocabulary("subClassOf"), CLASSES),
    triples(CLASSES, vocabulary("subClassOf", "disjointWith"), CLASSES),
    triples(PROPERTIES, vocabulary("domain", "range"), CLASSES),
    triples(PROPERTIES, vocabulary("subPropertyOf", "inverseOf"), PROPERTIES),
    triples(PROPERTIES, vocabulary("type"), KINDS),
    triples(CLASSES, vocabulary("someValuesFrom"), CLASSES),
    triples(CLASSES, vocabulary("onProperty"), PROPERTIES),
    triples(CLASSES, vocabulary("intersectionOf", "unionOf"), CELLS),
    triples(CELLS, FIRST, CLASSES),
    triples(CELLS, REST, st.one_of(CELLS, NIL)),
    triples(st.one_of(CLASSES, THINGS), vocabulary("sameAs"), st.one_of(CLASSES, THINGS)),
)
DATA = st.one_of(
    triples(THINGS, vocabulary("type"), CLASSES),
    triples(THINGS, PROPERTIES, THINGS),
    triples(PROPERTIES, PROPERTIES, CLASSES),
    st.builds(lambda *terms: Fact("seen", terms), THINGS, CLASSES),
)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Some of the rules; helpers come with those they help."""
    chosen: list[Rule] = draw(st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=5))
    if any(rule.name.startswith("int") for rule in chosen):
        chosen += [rule for rule in WRITTEN if rule.name.startswith("int")]
    return Program(dict.fromkeys(chosen), {"seen": 2})


@st.composite
def stories(draw: st.DrawFn) -> list[Happening]:
    """Mostly schema in the background at first, then anything."""
    background = [Add(fact) for fact in draw(st.lists(SCHEMA, max_size=8))]
    return [*background, *draw(streams(st.one_of(DATA, DATA, SCHEMA)))]


def visible(rules: Program, delta: Delta) -> list[Mapping[Fact, Instant]]:
    return [
        {fact: until for fact, until in facts.items() if fact.relation in rules.visible}
        for facts in (delta.entered, delta.left, delta.renewed)
    ]


def assume_small(rules: Program, looking: Mapping[str, Window], story: Sequence[Happening]) -> None:
    """The reference joins without indexes: with hundreds of facts it takes minutes."""
    engine = NativeEngine(rules, looking)
    for happening in story:
        play(engine, [happening])
        assume(len(engine) <= 150)


def assert_same_answers(
    rules: Program, engine: Engine, oracle: Engine, story: Sequence[Happening]
) -> None:
    for happening in story:
        answered, expected = play(engine, [happening]), play(oracle, [happening])
        if isinstance(happening, Tick):
            assert engine.facts(rules.visible) == oracle.facts(rules.visible), happening
            assert visible(rules, answered[0]) == visible(rules, expected[0]), happening


@given(programs(), windows(), stories())
def test_a_plan_equals_the_written_program(
    rules: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    assume_small(rules, looking, story)
    tell(rules, looking, story)
    engine = PlannedEngine(rules, looking)
    assert_same_answers(rules, engine, ReferenceEngine(rules, looking), story)


@st.composite
def patterns(draw: st.DrawFn) -> list[Atom]:
    """Mostly types, of any class or of one."""
    things = st.sampled_from([Variable("x"), IRI(EXAMPLE + "x")])
    predicates = st.one_of(vocabulary("type", "type", "type", "subClassOf"), PROPERTIES)
    objects = st.one_of(st.just(Variable("y")), CLASSES)
    return draw(
        st.lists(
            st.builds(lambda *terms: Atom("triple", terms), things, predicates, objects),
            max_size=3,
        )
    )


@pytest.mark.parametrize("many", [0, wanted.MANY])
@across_engines
@given(programs(), windows(), stories(), patterns())
def test_a_plan_concludes_what_is_wanted(
    many: int,
    monkeypatch: pytest.MonkeyPatch,
    rules: Program,
    looking: dict[str, Window],
    story: list[Happening],
    asked: list[Atom],
) -> None:
    # Redundant rules are looked for in any schema, or only in large ones.
    monkeypatch.setattr(wanted, "MANY", many)
    assume_small(rules, looking, story)
    tell(rules, looking, story)
    note(", ".join(map(str, asked)))
    engine, oracle = PlannedEngine(rules, looking, wanted=asked), ReferenceEngine(rules, looking)
    for happening in story:
        play(engine, [happening])
        play(oracle, [happening])
        if isinstance(happening, Tick):
            answered, expected = engine.facts(rules.visible), oracle.facts(rules.visible)
            assert answered.keys() <= expected.keys()
            for pattern in asked:
                matching = {
                    fact: until
                    for fact, until in expected.items()
                    if match(pattern, Atom(fact.relation, fact.terms)) is not None
                }
                assert matching == {fact: answered.get(fact) for fact in matching}, happening


@given(programs(), windows(), stories())
def test_proofs_are_by_the_written_rules(
    rules: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    assume_small(rules, looking, story)
    tell(rules, looking, story)
    engine = PlannedEngine(rules, looking)
    for happening in story:
        play(engine, [happening])
    oracle = ReferenceEngine(rules, looking)
    play(oracle, story)
    assert_proofs_are_by(rules, engine, oracle)


def assert_proofs_are_by(rules: Program, engine: PlannedEngine, oracle: ReferenceEngine) -> None:
    """Every visible fact has a proof by these rules, from what the oracle holds."""
    facts = oracle.facts()
    for fact, until in engine.facts(rules.visible).items():
        proof = engine.why(fact)
        note(str(proof))
        assert (proof.fact, proof.until) == (fact, until)
        proof.check(rules, facts.keys())
