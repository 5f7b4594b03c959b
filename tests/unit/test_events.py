"""Events: when inconsistencies and malformed lists begin and end, and what they tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from ebbtide import FOREVER, Fact, ProgramError, Reasoner, Rule, Sliding
from ebbtide.engines.budget import Budget
from ebbtide.engines.events import Inconsistency, MalformedList
from ebbtide.program import Program
from ebbtide.program.lists import FIRST, REST
from ebbtide.testing import fact, program

# Two rules of one name tell under one name.
RULES = """
    near: near(?y, ?x) :- near(?x, ?y).
    both: inconsistency:both(?x, ?y) :- on(?x), off(?x), near(?x, ?y), not broken(?x).
    both: inconsistency:both(?x, ?y) :- hot(?x), near(?x, ?y).
    item(?x) :- triple(?s, has, ?l), list(?l, ?i, ?x).
"""
RELATIONS = {"on": 1, "off": 1, "hot": 1, "broken": 1}

Make: TypeAlias = Callable[..., Reasoner]


@pytest.fixture(params=["reference", "native"])
def make(request: pytest.FixtureRequest) -> Make:
    """Makes reasoners on one kind of engine."""

    def reasoner(**settings: object) -> Reasoner:
        rules = Program(program(RULES).rules, RELATIONS)
        defaults = {"window": Sliding(10), "step": 1, "engine": request.param}
        return Reasoner(rules, **(defaults | settings))  # type: ignore[arg-type]

    return reasoner


def push(reasoner: Reasoner, at: int, *texts: str) -> None:
    for text in texts:
        reasoner.push(fact(text), at=at)


def test_an_inconsistency_begins_and_ends(make: Make) -> None:
    reasoner = make()
    push(reasoner, 1, "on(A)", "near(A, B)")
    push(reasoner, 3, "off(A)")
    deltas = {delta.tick: delta for delta in reasoner.advance(to=11)}
    assert [tick for tick, delta in deltas.items() if delta.began] == [3]
    (began,) = deltas[3].began
    assert isinstance(began, Inconsistency)
    assert began.rule == "both"
    assert began.origin.line == 3
    assert began.facts == (fact("on(A)"), fact("off(A)"), fact("near(A, B)"))
    assert (began.since, began.until) == (3, 11)
    assert [tick for tick, delta in deltas.items() if delta.ended] == [11]
    (ended,) = deltas[11].ended
    assert (ended.since, ended.until) == (3, 11)
    assert reasoner.inconsistencies() == []


def test_it_is_renewed_and_ends_with_a_retraction(make: Make) -> None:
    reasoner = make()
    push(reasoner, 1, "on(A)", "near(A, B)", "off(A)")
    reasoner.advance(to=1)
    push(reasoner, 4, "on(A)", "near(A, B)", "off(A)")
    (renewed,) = reasoner.advance(to=4)[-1:]
    assert not renewed.began
    assert [(each.since, each.until) for each in reasoner.inconsistencies()] == [(1, 14)]
    reasoner.retract(fact("off(A)"), at=6)
    delta = reasoner.advance(to=6)[-1]
    assert [(each.since, each.until) for each in delta.ended] == [(1, 6)]


def test_a_blocker_ends_it(make: Make) -> None:
    reasoner = make()
    push(reasoner, 1, "on(A)", "near(A, B)", "off(A)")
    push(reasoner, 2, "broken(A)")
    deltas = reasoner.advance(to=2)
    assert [len(delta.began) for delta in deltas] == [1, 0]
    assert [len(delta.ended) for delta in deltas] == [0, 1]


def test_events_are_no_answers(make: Make) -> None:
    reasoner = make()
    push(reasoner, 1, "on(A)", "near(A, B)", "off(A)")
    delta = reasoner.advance(to=1)[-1]
    expected = {fact("on(A)"), fact("near(A, B)"), fact("near(B, A)"), fact("off(A)")}
    assert set(delta.entered) == set(reasoner) == set(reasoner.facts()) == expected
    assert len(reasoner) == 4
    assert not list(reasoner.triples((None, None, None)))
    assert set(reasoner.advance(to=11)[-1].left) == expected


def test_symmetric_violations_are_told_in_both_orders(make: Make) -> None:
    reasoner = make()
    push(reasoner, 1, "hot(A)", "hot(B)", "near(A, B)")
    reasoner.advance(to=1)
    told = {tuple(map(str, each.facts)) for each in reasoner.inconsistencies()}
    assert len(told) == 2


def test_the_rule_is_the_one_that_matched(make: Make) -> None:
    reasoner = make()
    push(reasoner, 1, "on(A)", "hot(A)", "near(A, B)")
    reasoner.advance(to=1)
    (told,) = reasoner.inconsistencies()
    assert told.facts == (fact("hot(A)"), fact("near(A, B)"))
    assert told.origin.line == 4


def test_a_proof_leads_to_what_was_stated() -> None:
    rules = Program(program(RULES).rules, RELATIONS)
    reasoner = Reasoner(rules, window=Sliding(10), step=1)
    push(reasoner, 1, "hot(A)", "near(B, A)")
    reasoner.advance(to=1)
    (told,) = reasoner.inconsistencies()
    assert told.proof is not None
    told.proof.check(rules)
    assert {str(node.fact) for _, node in told.proof.walk() if node.rule is None} == {
        str(fact("hot(A)")),
        str(fact("near(B, A)")),
    }


def test_malformed_lists_are_events(make: Make) -> None:
    reasoner = make()
    reasoner.add(fact("triple(S, has, L)"))
    push(reasoner, 1, "on(A)")
    cell, item = fact("on(L)").terms[0], fact("on(A)").terms[0]
    reasoner.push(Fact.triple(cell, FIRST, item), at=1)
    (delta,) = reasoner.advance(to=1)
    assert delta.began == (MalformedList(cell, cell, "it has no rdf:rest", 1, FOREVER),)
    assert reasoner.events() == list(delta.began)
    assert reasoner.inconsistencies() == []
    reasoner.push(Fact.triple(cell, REST, cell), at=2)
    (delta,) = reasoner.advance(to=2)
    assert [each.reason for each in delta.ended if isinstance(each, MalformedList)] == [
        "it has no rdf:rest"
    ]
    assert [str(each) for each in delta.began] == [
        f"the list {cell} is malformed at {cell}: the list goes round in a circle and has no end"
    ]


def test_a_snapshot_keeps_events() -> None:
    rules = Program(program(RULES).rules, RELATIONS)
    reasoner = Reasoner(rules, window=Sliding(10), step=1)
    push(reasoner, 1, "on(A)", "near(A, B)", "off(A)")
    reasoner.advance(to=5)
    restored = Reasoner.restore(reasoner.snapshot(), rules, window=Sliding(10), step=1)
    assert restored.inconsistencies() == reasoner.inconsistencies() != []
    ended = [each for delta in restored.advance(to=11) for each in delta.ended]
    assert [(each.since, each.until) for each in ended] == [(1, 11)]


def test_a_tick_that_broke_off_has_events_without_proofs() -> None:
    rules = Program(program(RULES).rules, RELATIONS)
    budget = Budget(derivations=2, go_on=True)
    reasoner = Reasoner(rules, window=Sliding(10), step=1, budget=budget)
    push(reasoner, 1, "hot(A)", "near(A, B)", "near(B, C)", "near(C, D)", "near(D, E)")
    (delta,) = reasoner.advance(to=1)
    assert not delta.complete
    assert all(isinstance(each, Inconsistency) and not each.proof for each in reasoner.events())


def test_an_inconsistency_must_tell_of_all_its_variables() -> None:
    rule = program("inconsistency:r(?x, ?y) :- p(?x, ?y).").rules[0]
    lost = Rule("r", (program("inconsistency:r(?x) :- p(?x).").rules[0].heads[0],), rule.body)
    with pytest.raises(ProgramError, match=r"its head must have \?y"):
        Program([lost])
