"""Strata of rules, by unification of heads with bodies."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.languages.jena import parse_rules
from ebbtide.program import Atom, Negation, Program, ProgramError, Rule, Variable
from ebbtide.program.strata import stratify, unifies
from ebbtide.terms import IRI

PREFIX = "@prefix ex: <http://example/>\n"


def strata(text: str) -> tuple[int, ...]:
    return parse_rules(PREFIX + text).strata


def test_no_rules_no_strata():
    assert stratify(()) == ()


def test_positive_rules_share_the_ground_floor():
    assert strata(
        """[(?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]
           [(?x ex:isIn ?y) -> (?y ex:holds ?x)]"""
    ) == (0, 0)


def test_not_lifts_a_rule_above_what_it_negates():
    assert strata(
        """[(?x a ex:Room), not (?x ex:lit ?l) -> (?x a ex:Dark)]
           [(?x ex:lamp ?l) -> (?x ex:lit ?l)]
           [(?x a ex:Dark) -> (?x a ex:Quiet)]
           [(?x a ex:Room), not (?x a ex:Quiet) -> (?x a ex:Loud)]"""
    ) == (1, 0, 1, 2)


def test_constants_keep_triples_apart():
    # All in the relation `triple`, and yet no cycle: the predicates differ.
    assert strata("[(?x ex:a ?y), not (?x ex:b ?y) -> (?x ex:c ?y)]") == (0,)


def test_repeated_variables_keep_facts_apart():
    assert strata(
        """@relation e/2
           [e(?x, ?y), notEqual(?x, ?y) -> p(?x, ?y)]
           [e(?x, ?y), not p(ex:a, ex:b) -> q(?x, ?x, ex:c)]
           [e(?x, ?y), not q(?x, ?x, ex:d) -> r(?x)]"""
    ) == (0, 1, 0)


def test_strata_are_dense_and_as_low_as_they_can_be():
    text = "[(?x ex:p0 ?y) -> (?x ex:p1 ?y)]\n" + "\n".join(
        f"[(?x ex:e ?y), not (?x ex:p{n} ?y) -> (?x ex:p{n + 1} ?y)]" for n in range(1, 20)
    )
    assert strata(text) == tuple(range(20))


def test_a_cycle_through_not_is_printed_rule_by_rule():
    text = """[win: (?x ex:move ?y), not (?y ex:safe ?z) -> (?x ex:wins ?y)]
[chain: (?x ex:wins ?y) -> (?x ex:good ?y)]
[safe: (?x ex:good ?y) -> (?x ex:safe ?y)]"""
    with pytest.raises(ProgramError) as caught:
        parse_rules(PREFIX + text, "game.rules")
    assert str(caught.value).splitlines() == [
        "game.rules:2:1: the rules have no strata, because this cycle goes through `not`:",
        "  win (game.rules:2) depends through `not` on safe (game.rules:4), "
        "by not triple(?y, <http://example/safe>, ?z);",
        "  safe (game.rules:4) depends on chain (game.rules:3), "
        "by triple(?x, <http://example/good>, ?y);",
        "  chain (game.rules:3) depends on win (game.rules:2), "
        "by triple(?x, <http://example/wins>, ?y)",
    ]


def test_a_variable_predicate_may_be_the_negated_one():
    with pytest.raises(ProgramError, match="depends through `not` on r "):
        strata("[r: (?x ?p ?y), not (?x ex:closed ?y) -> (?y ?p ?x)]")


X, Y = Variable("x"), Variable("y")
A, B = IRI("http://example/a"), IRI("http://example/b")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((X, X), (A, B), False),
        ((X, X), (A, A), True),
        ((X, X), (X, Y), True),
        ((X, Y), (Y, X), True),
        ((X, X, A), (Y, B, Y), False),
        ((X, X, Y, Y), (A, X, X, B), False),
        ((A,), (X,), True),
        ((A,), (A, A), False),
    ],
)
def test_unification(left, right, expected):
    assert unifies(Atom("p", left), Atom("p", right)) is expected
    assert unifies(Atom("p", right), Atom("p", left)) is expected
    assert not unifies(Atom("p", left), Atom("q", right))


ARGUMENTS = st.sampled_from([X, Y, Variable("z"), A, B])
ATOMS = st.builds(
    lambda relation, *arguments: Atom(relation, arguments),
    st.sampled_from(["p", "q", "r"]),
    ARGUMENTS,
    ARGUMENTS,
)
RULES = st.lists(
    st.builds(
        lambda head, body, negated: Rule(
            "r", (head,), (*body, *(Negation(part) for part in negated))
        ),
        ATOMS,
        st.lists(ATOMS, max_size=2),
        st.lists(ATOMS, max_size=1),
    ),
    max_size=7,
)


@given(RULES)
def test_strata_respect_every_dependency_or_a_cycle_exists(rules):
    depends = {
        (a, b, negated)
        for a, rule in enumerate(rules)
        for b, other in enumerate(rules)
        for part in (*rule.positives, *rule.negations)
        for negated in [isinstance(part, Negation)]
        if unifies(part.atom if isinstance(part, Negation) else part, other.heads[0])
    }
    # The specification: raise strata until they fit; beyond the number of rules they never will.
    wanted = [0] * len(rules)
    changed = True
    while changed and max(wanted, default=0) <= len(rules):
        changed = False
        for a, b, negated in depends:
            if wanted[a] < wanted[b] + negated:
                wanted[a] = wanted[b] + negated
                changed = True
    if changed:
        with pytest.raises(ProgramError, match="through `not`"):
            stratify(rules)
    else:
        assert stratify(rules) == tuple(wanted)


def test_five_hundred_rules_take_no_time():
    text = "\n".join(
        f"[(?x ex:p{n} ?y), (?y ex:p{n // 2} ?z), not (?x ex:q{n} ?z) -> (?x ex:p{n + 1} ?z)]"
        for n in range(500)
    )
    rules = parse_rules(PREFIX + text).rules
    # Of the processor: other tests may run beside it.
    start = time.process_time()
    Program(rules)
    assert time.process_time() - start < 0.5


def test_a_long_chain_does_not_recurse():
    rules = [
        Rule("r", (Atom(f"p{n + 1}", (X,)),), (Atom(f"p{n}", (X,)),)) for n in range(5_000, 0, -1)
    ]
    assert set(stratify(rules)) == {0}
