"""What Jena's builtins do on every engine, and what the reasoner adds: the time, printed lines."""

from __future__ import annotations

import pytest
from tests.conftest import MakeEngine

from ebbtide.languages.jena import parse_rules
from ebbtide.program import Fact
from ebbtide.reasoner import Reasoner
from ebbtide.terms import BlankNode
from ebbtide.time import FOREVER, Sliding

EX = "http://example/"
PREFIX = f"@prefix : <{EX}> . @relation in/2 .\n"


def answers(make: MakeEngine, rules: str, *facts: Fact) -> set[str]:
    engine = make(parse_rules(PREFIX + rules), {"default": Sliding(10)})
    for fact in facts:
        engine.push(fact, 1)
    engine.advance(1)
    return {str(f).replace(EX, "") for f in engine.facts() if f.relation == "out"}


def given(*values: object) -> list[Fact]:
    return [Fact.of("in", f"<{EX}{i}>", value) for i, value in enumerate(values)]


def test_regex_wants_the_whole_text_and_gives_its_groups(engine: MakeEngine) -> None:
    rules = r"[in(?x ?t), regex(?t, '([a-z]+)-(\\d)?', ?m, ?n) -> out(?x ?m ?n)]"
    facts = given("ab-7", "ab-", "ab-77", " ab-7", "ab-7\n")
    assert answers(engine, rules, *facts) == {'out(<0>, "ab", "7")', 'out(<1>, "ab", "")'}


def test_concatenations(engine: MakeEngine) -> None:
    rules = """[in(?x ?t), strConcat(?t '-' ?t '.' ?s) -> out(?s)]
               [in(?x ?t), uriConcat('http://example/' ?t ?u) -> out(?u)]"""
    assert answers(engine, rules, *given("a", "a b")) == {
        'out("a-a.")',
        'out("a b-a b.")',
        "out(<a>)",
    }


def test_functors_carry_their_arguments(engine: MakeEngine) -> None:
    rules = """[in(?c ?p) -> (?c :is all(?p, 'x'))]
               [(?c :is all(?p, ?d)) -> out(?c ?p ?d)]
               [(?c :is all(?p, 'y')) -> out(?c 'y' ?p)]
               [(?c :is some(?p, ?d)) -> out(?c 'some' ?p)]
               [(?c :is all(?p)) -> out(?c 'one' ?p)]"""
    assert answers(engine, rules, *given(7)) == {
        'out(<0>, "7"^^<http://www.w3.org/2001/XMLSchema#integer>, "x")'
    }


def test_functors_are_told_from_other_terms(engine: MakeEngine) -> None:
    rules = """[in(?c ?p) -> (?c :is all(?p)), (?c :is ?p)]
               [(?c :is ?f), isFunctor(?f) -> out('functor')]
               [(?c :is ?f), notFunctor(?f) -> out(?f)]"""
    assert answers(engine, rules, *given("x")) == {'out("functor")', 'out("x")'}


def test_one_node_for_each_reason(engine: MakeEngine) -> None:
    made = engine(
        parse_rules(
            PREFIX
            + """[t: in(?x ?y), makeTemp(?b) -> temp(?x ?y ?b)]
                 [u: in(?x ?y), makeSkolem(?b ?y) -> node(?x ?y ?b)]
                 [chain: node(?x ?y ?b), makeSkolem(?c ?b) -> node(?y ?b ?c)]"""
        ),
        {"default": Sliding(10)},
    )
    for fact in (*given("x", "y"), Fact.of("in", "<s>", "x")):
        made.push(fact, 1)
    made.advance(1)
    facts = list(made.facts())
    temps = {fact.terms[-1] for fact in facts if fact.relation == "temp"}
    assert len(temps) == 3
    nodes = {fact.terms[-1] for fact in facts if fact.relation == "node"}
    depths = [node.invented for node in nodes if isinstance(node, BlankNode)]
    # Two texts, and from each two more by the chain, which ends.
    assert sorted(depths) == [1, 1, 2, 2, 3, 3]
    made.advance(11)
    assert not made.facts()


def test_items_of_a_list(engine: MakeEngine) -> None:
    rules = """-> (:l rdf:first :a), (:l rdf:rest :m), (:m rdf:first :b), (:m rdf:rest rdf:nil) .
               [in(?x ?l) -> (?x :all ?l)]
               [(?x :all ?l) -> listMapAsObject(?x :item ?l)]
               [(?x :item ?y) -> out(?y)]
               [(?x :all ?l), listContains(?l :b), listNotContains(?l :c) -> out('b, not c')]
               [(?x :all ?l), listEntry(?l 1 ?y), listLength(?l ?n), equal(?n 2) -> out(?y)]"""
    assert answers(engine, rules, *given(f"<{EX}l>")) == {
        "out(<a>)",
        "out(<b>)",
        'out("b, not c")',
    }


@pytest.mark.parametrize("engine_name", ["native", "reference"])
def test_now_is_the_tick_until_the_next_one(engine_name: str) -> None:
    reasoner = Reasoner(
        PREFIX
        + """[in(?x ?t), now(?n), difference(?n ?t ?age), ge(?age, 30) -> old(?x)]
             [in(?x ?t), now(?n), not old(?x) -> young(?x ?n)]""",
        window=Sliding(100),
        step=10,
        engine=engine_name,
    )
    reasoner.push(Fact.of("in", "<a>", 5), at=5)
    deltas = reasoner.advance(to=60)
    shown = [
        (delta.tick, sorted(f"+{fact}" for fact in delta.entered if fact.relation != "in"))
        for delta in deltas
    ]
    number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'.format
    assert shown == [
        (10, [f"+young(<a>, {number(10)})"]),
        (20, [f"+young(<a>, {number(20)})"]),
        (30, [f"+young(<a>, {number(30)})"]),
        (40, ["+old(<a>)"]),
        (50, []),
        (60, []),
    ]
    # Each tick renews it until the next one; the time itself is no answer.
    assert reasoner.until(Fact.of("old", "<a>")) == 70
    assert {fact.relation for fact in reasoner.facts()} == {"in", "old"}


@pytest.mark.parametrize("engine_name", ["native", "reference"])
def test_lines_are_printed_once_when_a_match_begins(engine_name: str) -> None:
    lines: list[str] = []
    reasoner = Reasoner(
        PREFIX + "[p: in(?x ?t), print('seen' ?x) -> out(?t), print(?t 'there')]",
        window=Sliding(20),
        step=10,
        engine=engine_name,
        printer=lines.append,
    )
    reasoner.push(Fact.of("in", "<a>", "x"), at=5)
    reasoner.push(Fact.of("in", "<a>", "x"), at=15)
    reasoner.push(Fact.of("in", "<b>", "x"), at=16)
    reasoner.advance(to=10)
    assert lines == ["seen <a>", "x there"]
    reasoner.advance(to=60)
    assert lines == ["seen <a>", "x there", "seen <b>"]
    reasoner.push(Fact.of("in", "<a>", "x"), at=65)
    reasoner.advance(to=70)
    assert lines == ["seen <a>", "x there", "seen <b>", "seen <a>", "x there"]


def test_lines_are_printed_whatever_is_wanted() -> None:
    lines: list[str] = []
    rules = "[p: (?x :in ?y) -> print('seen' ?x)] [q: (?x :in ?y) -> (?y :holds ?x)]"
    wanted = [("?x", f"<{EX}other>", "?y")]
    reasoner = Reasoner(PREFIX + rules, wanted=wanted, printer=lines.append)
    reasoner.push((f"<{EX}a>", f"<{EX}in>", f"<{EX}b>"), at=5)
    reasoner.finish()
    assert lines == [f"seen <{EX}a>"]
    assert len(reasoner) == 1


def test_axioms_hold_for_ever(engine: MakeEngine) -> None:
    made = engine(parse_rules(PREFIX + "(:a :p _:b) <- ."), {"default": Sliding(10)})
    made.advance(1)
    assert made.facts() == {Fact.triple(f"<{EX}a>", f"<{EX}p>", "_:b"): FOREVER}
