"""Proofs: printed as trees, and replayed."""

from dataclasses import replace

import pytest

from ebbtide.engines.native import NativeEngine
from ebbtide.engines.proof import Proof, ProofError
from ebbtide.program import Origin
from ebbtide.program.lists import FIRST, NIL, REST
from ebbtide.terms.term import RDF, XSD
from ebbtide.testing import fact, program
from ebbtide.time import FOREVER

RULES = program(
    """
    transitive: isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).
    outside: alone(?x) :- isIn(?x, ?y), not near(?x, ?any).
    older: age(?x, ?m) :- age(?x, ?n), lessThan(?n, 3), sum(?n, 1, ?m).
    axiom: isIn(EARTH, SPACE).
    """,
    "site.rules",
)

AB = Proof(fact("isIn(A, B)"), 11)
BC = Proof(fact("isIn(B, C)"), FOREVER)
CD = Proof(fact("isIn(C, D)"), 20)
AC = Proof(fact("isIn(A, C)"), 11, "transitive", RULES.rules[0].origin, (AB, BC))
AD = Proof(fact("isIn(A, D)"), 11, "transitive", RULES.rules[0].origin, (AC, CD))
ALONE = Proof(fact("alone(A)"), 11, "outside", None, (AC,), ("near(<http://example/A>, ?any)",))
HOLDING = [fact(f"isIn({pair})") for pair in ("A, B", "B, C", "C, D", "A, C", "A, D")]


@pytest.mark.parametrize(
    "proof",
    [
        AB,
        AC,
        AD,
        ALONE,
        Proof(fact("age(A, 3)"), 5, "older", None, (Proof(fact("age(A, 2)"), 5),)),
        Proof(fact("isIn(EARTH, SPACE)"), FOREVER, "axiom"),
    ],
    ids=lambda proof: str(proof.fact),
)
def test_a_proof_that_follows(proof):
    proof.check(RULES)


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (replace(AD, until=20), "is said to hold until 20, but its premises hold until 11"),
        (replace(AD, rule="nobody"), "no rule is nobody"),
        (replace(AD, origin=Origin("other.rules", 1, 1)), "no rule is transitive"),
        (replace(AD, premises=(CD, AC)), "the rule transitive does not yield it"),
        (replace(AD, premises=(AC,)), "the rule transitive does not yield it"),
        (replace(AD, fact=fact("isIn(D, A)")), "the rule transitive does not yield it"),
        (replace(AD, rule=None), "is said to be stated, but it has premises"),
        (replace(ALONE, absent=()), "the rule outside does not yield it"),
        (
            Proof(fact("age(A, 4)"), 5, "older", None, (Proof(fact("age(A, 3)"), 5),)),
            "the rule older does not yield it",
        ),
        # The flaw is further down.
        (replace(AD, premises=(replace(AC, premises=(AB, CD)), CD)), "isIn(<http://example/A>, <h"),
    ],
)
def test_a_proof_that_does_not_follow(proof, message):
    with pytest.raises(ProofError) as caught:
        proof.check(RULES)
    assert message in str(caught.value)


def test_with_the_materialisation_facts_must_hold_and_negations_too():
    AD.check(RULES, HOLDING)
    with pytest.raises(ProofError, match="does not hold"):
        AD.check(RULES, HOLDING[1:])
    ALONE.check(RULES, [*HOLDING, ALONE.fact, fact("near(B, A)")])
    with pytest.raises(ProofError, match="does not follow"):
        ALONE.check(RULES, [*HOLDING, ALONE.fact, fact("near(A, B)")])


def test_printed_as_a_tree():
    twice = Proof(fact("both(A)"), 11, "both", None, (ALONE, AD))
    assert str(twice).replace("http://example/", "").splitlines() == [
        "both(<A>) until 11: by both",
        "  alone(<A>) until 11: by outside",
        "    isIn(<A>, <C>) until 11: by transitive (site.rules:2:5)",
        "      isIn(<A>, <B>) until 11: stated",
        "      isIn(<B>, <C>) until forever: stated",
        "    not near(<A>, ?any)",
        "  isIn(<A>, <D>) until 11: by transitive (site.rules:2:5)",
        "    isIn(<A>, <C>) until 11: by transitive (site.rules:2:5), as above",
        "    isIn(<C>, <D>) until 20: stated",
    ]


def test_below_a_fact_about_a_list_are_its_triples():
    rules = program("some: item(?x) :- triple(?s, HAS, ?l), list(?l, 1, ?x), listLength(?l, 2).")
    engine = NativeEngine(rules, {})
    cells = [f"triple(L{n}, {FIRST}, X{n})" for n in range(2)]
    cells += [f"triple(L0, {REST}, L1)", f"triple(L1, {REST}, {NIL})", "triple(S, HAS, L0)"]
    for text in cells:
        engine.add(fact(text))
    engine.advance(0)
    proof = engine.why(fact("item(X1)"))
    proof.check(rules)
    shown = str(proof).replace("http://example/", "")
    for name in (RDF, XSD):
        shown = shown.replace(name, "")
    whole = ["triple(<L0>, <rest>, <L1>)", "triple(<L0>, <first>, <X0>)"]
    whole += ["triple(<L1>, <rest>, <nil>)", "triple(<L1>, <first>, <X1>)"]
    lines = [line.replace(" until forever", "") for line in shown.splitlines()]
    one, two = '"1"^^<integer>', '"2"^^<integer>'
    assert lines[:3] == [
        "item(<X1>): by some (<text>:1:1)",
        "  triple(<S>, <HAS>, <L0>): stated",
        f"  list(<L0>, {one}, <X1>): by the cells of a list",
    ]
    assert {line for line in lines if line.startswith("    ")} == {
        f"    {triple}: stated" for triple in [*whole, "triple(<S>, <HAS>, <L0>)"]
    }
    assert f"  listLength(<L0>, {two}): by the cells of a list" in lines


def test_a_deep_proof_does_not_recurse():
    proof = Proof(fact("isIn(N0, N1)"), 11)
    for n in range(1, 3_000):
        step = Proof(fact(f"isIn(N{n}, N{n + 1})"), 12)
        proof = Proof(fact(f"isIn(N0, N{n + 1})"), 11, "transitive", None, (proof, step))
    proof.check(RULES)
    assert len(str(proof).splitlines()) == 2 * 3_000 - 1
