"""Lists in programs: what is lowered, what is refused, and what stays as it is."""

from __future__ import annotations

import pytest

from ebbtide.engines.native import NativeEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.program import Fact, Program, ProgramError, is_hidden
from ebbtide.program.lists import FIRST, LIMIT, LIST_RELATIONS, NIL, REST
from ebbtide.terms import IRI
from ebbtide.testing import program as notation

UNION = "[uni: (?c owl:unionOf ?l) list(?l ?i ?d) (?x a ?d) -> (?x a ?c)]"
COUNT = "[count: (?c owl:unionOf ?m) listLength(?m ?n) -> size(?c ?n)]"
# Heads that unify with rdf:first and rdf:rest, as OWL has them.
REPLACE = """
    [eq-rep-s: (?s owl:sameAs ?t) (?s ?p ?o) -> (?t ?p ?o)]
    [prp-spo1: (?p rdfs:subPropertyOf ?q) (?x ?p ?y) -> (?x ?q ?y)]
"""


def test_rules_that_read_lists_are_followed_by_those_that_make_them() -> None:
    program = parse_rules(UNION)
    assert program.rules[0].name == "uni"
    assert all(rule.name.startswith("list:") for rule in program.rules[1:])
    assert all(rule.origin == program.rules[0].origin for rule in program.rules[1:])
    assert LIST_RELATIONS.items() <= program.relations.items()
    assert program.visible == {"triple"}


def test_programs_without_lists_stay_as_they_are() -> None:
    assert len(parse_rules(REPLACE).rules) == 2


def test_lowering_twice_changes_nothing() -> None:
    program = parse_rules(UNION + COUNT)
    again = Program(program.rules, program.relations, closed=True)
    assert again.rules == program.rules
    assert again.fingerprint == program.fingerprint


def test_lowered_programs_can_be_joined() -> None:
    one, other = parse_rules(UNION), parse_rules(COUNT)
    joined = Program(dict.fromkeys((*one.rules, *other.rules)))
    assert set(joined.rules) == set(parse_rules(UNION + COUNT).rules)


def test_a_list_is_wanted_once() -> None:
    wanted = [rule for rule in parse_rules(UNION + COUNT).rules if rule.name == "list:wanted"]
    assert len(wanted) == 1


def test_negations_of_what_lists_conclude_have_strata() -> None:
    alone = "[alone: (?x <http://e/in> ?y), noValue(?x a ?any) -> (?x <http://e/is> 1)]"
    program = parse_rules(UNION + alone)
    assert program.strata[1] == 1


def test_variable_predicates_may_conclude_lists() -> None:
    program = parse_rules(UNION + REPLACE)
    reports = {
        stratum
        for rule, stratum in zip(program.rules, program.strata, strict=True)
        if rule.heads[-1].relation == "list:malformed"
    }
    assert reports <= {0, 1, 2}
    assert program.strata[0] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[r: (?l rdf:first ?x) -> list(?l 0 ?x)]",
            "<rules>:1:26: list follows from the data, so no rule concludes it",
        ),
        ("[r: (?s ?p ?l) list(?l ?x) -> q(?x)]", "<rules>:1:16: list takes 3 arguments, not 2"),
        (
            "[r: (?s ?p ?x) list(?l 0 ?x) -> q(?l)]",
            "<rules>:1:16: no positive atom says which list ?l is; write the pattern that leads to "
            "the list",
        ),
        (
            "[r: (?s ?p ?x) not list(?l 0 ?x) -> q(?x)]",
            "<rules>:1:20: no positive atom says which list ?l is; write the pattern that leads to "
            "the list",
        ),
        (
            "@relation list/3 .",
            "<rules>:1:11: the relation list is reserved and needs no declaration",
        ),
        (
            "[r: (?s ?p ?l) lists(?l 0 ?x) -> q(?x)]",
            "<rules>:1:16: unknown builtin or relation lists; did you mean list?",
        ),
    ],
)
def test_what_is_wrong_has_its_place(text: str, message: str) -> None:
    with pytest.raises(ProgramError) as error:
        parse_rules(text)
    assert str(error.value) == message


def test_no_rule_concludes_lists() -> None:
    with pytest.raises(ProgramError, match="listNext is read from rdf:first and rdf:rest"):
        notation("listNext(?i, ?j) :- p(?i, ?j).")


def test_a_list_may_be_a_constant() -> None:
    program = parse_rules("[r: list(<http://e/l> ?i ?x) -> at(?i ?x)]")
    engine = NativeEngine(program, {})
    cell, item = IRI("http://e/l"), IRI("http://e/x")
    engine.add(Fact.triple(cell, FIRST, item))
    engine.add(Fact.triple(cell, REST, NIL))
    assert Fact.of("at", 0, item) in engine.advance(0).entered


def test_long_lists_are_counted_to_the_limit() -> None:
    """One list has an item more than may be, and its rest is a list that has as many as may be."""
    program = parse_rules("[r: (?s <http://e/has> ?l) listLength(?l ?n) -> size(?n)]")
    engine = NativeEngine(program, {})
    for first in (0, 1):
        engine.add(Fact.triple("<http://e/s>", "<http://e/has>", f"<http://e/{first}>"))
    for number in range(LIMIT + 1):
        cell, last = IRI(f"http://e/{number}"), number == LIMIT
        engine.add(Fact.triple(cell, FIRST, number))
        engine.add(Fact.triple(cell, REST, NIL if last else IRI(f"http://e/{number + 1}")))
    engine.evaluate(0)
    malformed = Fact.of(
        "list:malformed",
        "<http://e/0>",
        f"<http://e/{LIMIT - 1}>",
        f"the list has more than {LIMIT} items",
    )
    assert engine.facts(("size", "list:malformed")).keys() == {Fact.of("size", LIMIT), malformed}


def test_helper_relations_are_hidden() -> None:
    program = parse_rules("[r: (?x ?p ?y) -> _seen(?x)] [s: _seen(?x) -> seen(?x)]")
    assert is_hidden("_seen")
    assert program.visible == {"triple", "seen"}
