"""The planned engine, driven by a reasoner: nobody sees the plan but by its speed."""

from __future__ import annotations

import pytest

from ebbtide import Count, Reasoner, Sliding
from ebbtide.engines.budget import Budget
from ebbtide.engines.native import BudgetExceeded, SnapshotError
from ebbtide.engines.planned import PlannedEngine
from ebbtide.program import Fact

DIFFERENT = "inconsistency:eq-diff1"
A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SUB = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
RULES = """
    [sub: (?c rdfs:subClassOf ?d) (?x a ?c) -> (?x a ?d)]
    [scm-sco: (?c rdfs:subClassOf ?d) (?d rdfs:subClassOf ?e) -> (?c rdfs:subClassOf ?e)]
    """
DEAN, STAFF, PERSON, THING, ANN, BOB = (
    f"<http://e/{name}>" for name in ("Dean", "Staff", "Person", "Thing", "ann", "bob")
)


def planned(*known: tuple[str, str, str], **settings: object) -> Reasoner:
    """A reasoner whose plan is made for the known facts, after its first tick."""
    reasoner = Reasoner(RULES, step=1, window=Sliding(10), **settings)
    reasoner.add_all(known)
    reasoner.advance(to=0)
    assert isinstance(reasoner.engine, PlannedEngine)
    return reasoner


def types(reasoner: Reasoner, thing: str) -> set[str]:
    return {o.text for _, _, o in reasoner.triples((thing, A, None))}


def test_the_plan_is_made_for_the_background_of_the_first_tick() -> None:
    reasoner = planned((DEAN, SUB, STAFF), (STAFF, SUB, PERSON))
    reasoner.push((ANN, A, DEAN), at=1)
    (delta,) = reasoner.finish()
    assert {fact.terms[2].text for fact in delta.entered} == {DEAN, STAFF, PERSON}
    assert set(delta.entered.values()) == {11}
    assert isinstance(reasoner.engine, PlannedEngine)
    assert reasoner.engine.plan.program is not reasoner.program


def test_schema_on_the_stream_works_and_expires() -> None:
    reasoner = planned((DEAN, SUB, STAFF))
    reasoner.push((ANN, A, DEAN), at=1)
    reasoner.push((STAFF, SUB, PERSON), at=5)
    reasoner.advance(to=5)
    assert types(reasoner, ANN) == {DEAN, STAFF, PERSON}
    assert reasoner.until((ANN, A, PERSON)) == 11
    reasoner.push((ANN, A, DEAN), at=9)
    reasoner.advance(to=9)
    assert reasoner.until((ANN, A, PERSON)) == 15
    reasoner.advance(to=15)
    assert types(reasoner, ANN) == {DEAN, STAFF}


def test_background_that_comes_later_works() -> None:
    reasoner = planned((DEAN, SUB, STAFF))
    reasoner.add((STAFF, SUB, PERSON))
    reasoner.push((ANN, A, DEAN), at=1)
    reasoner.finish()
    assert types(reasoner, ANN) == {DEAN, STAFF, PERSON}


def test_known_schema_may_be_retracted() -> None:
    reasoner = planned((DEAN, SUB, STAFF), (STAFF, SUB, PERSON), (PERSON, SUB, THING))
    reasoner.push((ANN, A, DEAN), at=1)
    reasoner.push((BOB, A, PERSON), at=2)
    reasoner.retract((STAFF, SUB, PERSON), at=4)
    reasoner.advance(to=3)
    assert types(reasoner, ANN) == {DEAN, STAFF, PERSON, THING}
    (delta,) = reasoner.advance(to=4)
    assert types(reasoner, ANN) == {DEAN, STAFF}
    assert types(reasoner, BOB) == {PERSON, THING}
    assert not delta.renewed
    reasoner.add((STAFF, SUB, PERSON))
    reasoner.advance(to=5)
    assert types(reasoner, ANN) == {DEAN, STAFF, PERSON, THING}


def test_what_is_retracted_later_is_not_planned_for() -> None:
    reasoner = Reasoner(RULES, step=1)
    reasoner.add((DEAN, SUB, STAFF))
    reasoner.add((ANN, A, DEAN))
    reasoner.retract((DEAN, SUB, STAFF), at=3)
    reasoner.advance(to=1)
    assert types(reasoner, ANN) == {DEAN, STAFF}
    reasoner.advance(to=3)
    assert types(reasoner, ANN) == {DEAN}


def test_what_waits_for_the_first_tick_keeps_its_order() -> None:
    reasoner = Reasoner(RULES, step=1, window=Count(1))
    reasoner.add((DEAN, SUB, STAFF))
    reasoner.push((ANN, A, DEAN), at=1)
    reasoner.push((BOB, A, DEAN), at=2)
    reasoner.advance(to=2)
    assert types(reasoner, ANN) == set()
    assert types(reasoner, BOB) == {DEAN, STAFF}


def test_nothing_of_the_plan_is_in_the_answers() -> None:
    plan = planned((DEAN, SUB, STAFF), (ANN, A, DEAN))
    plain = Reasoner(RULES, step=1, window=Sliding(10), specialise=False)
    plain.add_all([(DEAN, SUB, STAFF), (ANN, A, DEAN)])
    plain.advance(to=0)
    assert plan.facts() == plain.facts()
    assert len(plan) == len(plain) == 3
    assert set(plan) == set(plain)


def test_a_proof_is_by_the_written_rules_and_shows_the_schema() -> None:
    reasoner = planned((DEAN, SUB, STAFF), (STAFF, SUB, PERSON))
    reasoner.push((ANN, A, DEAN), at=1)
    reasoner.finish()
    proof = reasoner.why((ANN, A, PERSON))
    proof.check(reasoner.program, reasoner.facts().keys())
    lines = str(proof).replace("http://e/", "").replace(A, "a").replace(SUB, "sub").splitlines()
    assert lines == [
        "triple(<ann>, a, <Person>) until 11: by sub (<rules>:2:5)",
        "  triple(<Staff>, sub, <Person>) until forever: stated",
        "  triple(<ann>, a, <Staff>) until 11: by sub (<rules>:2:5)",
        "    triple(<Dean>, sub, <Staff>) until forever: stated",
        "    triple(<ann>, a, <Dean>) until 11: stated",
    ]


def test_a_proof_from_novel_schema() -> None:
    reasoner = planned((DEAN, SUB, STAFF))
    reasoner.push((ANN, A, DEAN), at=1)
    reasoner.push((STAFF, SUB, PERSON), at=2)
    reasoner.finish()
    proof = reasoner.why((ANN, A, PERSON))
    proof.check(reasoner.program, reasoner.facts().keys())
    assert proof.until == 11


def test_a_snapshot_keeps_the_plan() -> None:
    reasoner = planned((DEAN, SUB, STAFF), (STAFF, SUB, PERSON))
    reasoner.push((ANN, A, DEAN), at=1)
    reasoner.advance(to=1)
    again = Reasoner.restore(reasoner.snapshot(), RULES, step=1, window=Sliding(10))
    assert again.facts() == reasoner.facts()
    again.push((BOB, A, DEAN), at=2)
    again.retract((STAFF, SUB, PERSON), at=3)
    again.advance(to=2)
    assert types(again, BOB) == {DEAN, STAFF, PERSON}
    again.advance(to=3)
    assert types(again, BOB) == {DEAN, STAFF}


def test_restarts_one_after_the_other_state_nothing_twice() -> None:
    rules = "[prp-spo1: (?p rdfs:subPropertyOf ?q), (?x ?p ?y) -> (?x ?q ?y)]"
    near, at_home, a, c = (f"<http://e/{name}>" for name in ("near", "home", "a", "c"))
    reasoner = Reasoner(rules, step=1, window=Sliding(3))
    reasoner.add((near, "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>", at_home))
    for fact in ((a, at_home, c), (c, near, c), (c, near, a)):
        reasoner = Reasoner.restore(reasoner.snapshot(), rules, step=1, window=Sliding(3))
        reasoner.push(fact, at=8)
    reasoner.advance(to=45)
    assert [fact.terms[0].text for fact in reasoner.facts()] == [near]


def test_a_snapshot_before_the_first_tick() -> None:
    reasoner = Reasoner(RULES, step=1)
    reasoner.add((DEAN, SUB, STAFF))
    reasoner.push((ANN, A, DEAN), at=1)
    again = Reasoner.restore(reasoner.snapshot(), RULES, step=1)
    again.advance(to=1)
    assert types(again, ANN) == {DEAN, STAFF}


def test_a_snapshot_of_another_version_is_refused() -> None:
    data = planned((DEAN, SUB, STAFF)).engine.snapshot()
    fresh = Reasoner(RULES, step=1, window=Sliding(10)).engine
    assert isinstance(fresh, PlannedEngine)
    for other in (data.replace(b"PLANNED\x01", b"PLANNED\x02", 1), data[8:], b""):
        with pytest.raises(SnapshotError, match="written by another version of Ebbtide"):
            fresh.restore(other)
    fresh.restore(data)


def test_a_budget_is_for_the_facts_of_the_user() -> None:
    known = [(DEAN, SUB, STAFF), (ANN, A, DEAN)]
    assert len(planned(*known, budget=Budget(facts=3))) == 3
    with pytest.raises(BudgetExceeded, match="facts"):
        planned(*known, budget=Budget(facts=2))


def test_rules_without_schema_need_no_plan() -> None:
    reasoner = Reasoner("[r: (?x <http://e/p> ?y) -> (?y <http://e/q> ?x)]")
    assert not isinstance(reasoner.engine, PlannedEngine)


def test_columns_of_background_are_looked_into() -> None:
    pa = pytest.importorskip("pyarrow")
    rules = Reasoner(RULES).program
    engine = PlannedEngine(rules, {"default": Sliding(10)})
    rows = [(DEAN, SUB, STAFF), (ANN, A, DEAN)]
    engine.add_arrow(
        pa.table(dict(zip("spo", zip(*rows, strict=True), strict=True))), "triple", "spo"
    )
    engine.advance(0)
    assert engine.until(Fact.triple(ANN, A, STAFF)) is not None
    assert engine.plan.known == {Fact.triple(DEAN, SUB, STAFF)}


def test_documents_are_planned_for() -> None:
    """Those read before the first tick; no object is made of most facts."""
    reasoner = Reasoner(RULES, step=1)
    assert reasoner.parse(f"{DEAN} {SUB} {STAFF} .\n{ANN} {A} {DEAN} .\n".encode(), "nt") == 2
    reasoner.advance(to=0)
    assert types(reasoner, ANN) == {DEAN, STAFF}
    assert isinstance(reasoner.engine, PlannedEngine)
    assert reasoner.engine.plan.known == {Fact.triple(DEAN, SUB, STAFF)}
    assert reasoner.parse(f"{BOB} {A} {DEAN} .\n".encode(), "nt") == 1
    reasoner.advance(to=1)
    assert types(reasoner, BOB) == {DEAN, STAFF}


def test_stated_facts_of_other_relations_are_no_schema() -> None:
    rules = "@relation known/1 . [k: known(?c) (?c rdfs:subClassOf ?d) (?x a ?c) -> (?x a ?d)]"
    reasoner = Reasoner(rules)
    reasoner.add(Fact("known", Fact.triple(DEAN, SUB, STAFF).terms[:1]))
    reasoner.add_all([(DEAN, SUB, STAFF), (ANN, A, DEAN)])
    reasoner.settle()
    assert types(reasoner, ANN) == {DEAN, STAFF}


def test_a_plan_does_not_leave_a_conclusion_to_what_it_left_out() -> None:
    """That the numbers differ follows from the background alone, and so does the inconsistency."""
    reasoner = Reasoner("owl2rl,owl2rl-unsat")
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    one, zero = (f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in (1, 0))
    reasoner.add_all([(ANN, same, one), (ANN, same, zero)])
    reasoner.advance(to=0)
    assert isinstance(reasoner.engine, PlannedEngine)
    found = {tuple(term.text for term in fact.terms) for fact in reasoner.engine.facts([DIFFERENT])}
    assert found == {(x, y) for x in (ANN, one, zero) for y in (ANN, one, zero)}
