"""Programs with several answer streams, by clingo; and clingo as a second oracle."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from ebbtide.engines.clingo import MODES, ClingoEngine
from ebbtide.engines.lars_answer import texts
from ebbtide.engines.reference.lars import Stream, output_stream
from ebbtide.engines.reference.lars_definition import answer_streams
from ebbtide.languages.lars import LarsProgram
from ebbtide.program import Fact, ProgramError
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.testing.lars import (
    LAST,
    choosing_programs,
    ground_programs,
    lars_programs,
    lars_streams,
)

CHOICE = "a(X) :- p(X) in [1], not b(X).\nb(X) :- p(X) in [1], not a(X).\nc(X) :- p(X)."


def test_without_a_solver_the_cycle_is_printed() -> None:
    reasoner = LarsReasoner(CHOICE)
    with pytest.raises(ProgramError, match=r"r1 .*depends through `not` on r2"):
        reasoner.push("p(x).", at=0)


def test_all_answer_streams() -> None:
    reasoner = LarsReasoner(CHOICE, solve="all")
    reasoner.push("p(x).", at=0)
    first, second, third = reasoner.advance(to=2)
    assert sorted(map(texts, first.every or ())) == [["a(x)", "c(x)"], ["b(x)", "c(x)"]]
    assert sorted(map(texts, second.every or ())) == [["a(x)"], ["b(x)"]]
    assert third.every == (frozenset(),)


def test_one_answer_stream_and_what_all_have_in_common() -> None:
    for mode, expected in (("one", {"a(x) c(x)", "b(x) c(x)"}), ("cautious", {"c(x)"})):
        reasoner = LarsReasoner(CHOICE, solve=mode)
        reasoner.push("p(x).", at=0)
        (answer,) = reasoner.advance(to=0)
        assert " ".join(answer.texts()) in expected


def test_what_is_denied_may_be_computed_or_named_with_an_underscore() -> None:
    program = """
        next(X) :- p(X), not r(X + 1).
        alone(_V) :- p(_V), not r(_V).
        late(T) :- @T e, not @(T + 1) e.
        both(X_1,X1) :- p(X_1), p(X1), X_1 < X1.
    """
    for settings in ({"solve": "one"}, {}):
        reasoner = LarsReasoner(program, **settings)
        reasoner.push("p(1). p(2). r(2). e.", at=0)
        reasoner.push("e.", at=1)
        first, second = reasoner.advance(to=1)
        assert first.texts() == ["alone(1)", "both(1,2)", "late(0)", "next(2)"]
        assert second.texts() == ["late(1)"]


def test_no_answer_stream() -> None:
    reasoner = LarsReasoner("a :- p, not a.", solve="cautious")
    reasoner.push("p.", at=0)
    (answer,) = reasoner.advance(to=0)
    assert answer.atoms is None


AGGREGATES = """
    n(N) :- N = count { X : p(X,_) in [2] }.
    s(G,S) :- S = sum { V, X : p(X,V) in [2], g(X,G) }.
    low(V) :- V = min { W : p(_,W) in [2] }.
    high(V) :- V = max { W : p(_,W) in [2] }.
    mean(V) :- V = avg { W, X : p(X,W) in [2] }.
    a :- n(N), N > 1, not b.
    b :- n(N), N > 1, not a.
"""


def test_aggregates_below_a_choice() -> None:
    reasoner = LarsReasoner(AGGREGATES + "g(x,k). g(y,k). g(z,l).", solve="all")
    reasoner.push("p(x,1).", at=0)
    reasoner.push("p(y,2.5). p(z,1).", at=1)
    one, two = reasoner.advance(to=1)
    assert list(map(texts, one.every or ())) == [
        [
            "high(1)",
            "low(1)",
            'mean("1"^^<http://www.w3.org/2001/XMLSchema#decimal>)',
            "n(1)",
            "s(k,1)",
        ]
    ]
    common = ["high(2.5)", "low(1)", "mean(1.5)", "n(3)", "s(k,3.5)", "s(l,1)"]
    assert sorted(map(texts, two.every or ())) == [["a", *common], ["b", *common]]


OVER_A_CHOICE = (
    CHOICE
    + """
    n(N) :- N = count { X : a(X) in [1] }.
    many :- n(N), N > 1.
    d    :- n(N), not e.
    e    :- n(N), not d.
    m(N) :- N = count { X : d, p(X) in [1] }.
"""
)


def test_an_aggregate_over_a_choice_has_a_result_for_each_answer_stream() -> None:
    every = solved(OVER_A_CHOICE, "all")
    assert every is not None
    assert sorted(every) == [
        ["a(x)", "a(y)", "d", "m(2)", "many", "n(2)"],
        ["a(x)", "a(y)", "e", "many", "n(2)"],
        ["a(x)", "b(y)", "d", "m(2)", "n(1)"],
        ["a(x)", "b(y)", "e", "n(1)"],
        ["a(y)", "b(x)", "d", "m(2)", "n(1)"],
        ["a(y)", "b(x)", "e", "n(1)"],
        ["b(x)", "b(y)"],
    ]
    (one,) = solved(OVER_A_CHOICE, "one") or ()
    assert one in every
    at_most_one = OVER_A_CHOICE + "no :- n(N), N != 2, not no.\nno :- b(x), b(y), not no."
    assert solved(at_most_one, "cautious") == [["a(x)", "a(y)", "many", "n(2)"]]
    assert len(solved(at_most_one, "one") or ()) == 1


def solved(program: str, mode: str) -> list[list[str]] | None:
    """The answer streams one time point after p(x) and p(y)."""
    reasoner = LarsReasoner(program, solve=mode)
    reasoner.push("p(x). p(y).", at=0)
    answer = reasoner.advance(to=1)[-1]
    if answer.atoms is None:
        return None
    return [texts(found) for found in answer.every or [answer.atoms]]


def test_an_aggregate_of_its_own_result_is_refused_by_name_and_place() -> None:
    program = CHOICE + "\na(N) :- c(_),\n N = count { X : a(X) in [1] }."
    reasoner = LarsReasoner(program, solve="all")
    with pytest.raises(ProgramError, match=r"^<text>:5:2: this count rests on its own result"):
        reasoner.push("p(x).", at=0)


@given(lars_programs(), lars_streams())
def test_clingo_equals_the_oracle(program: LarsProgram, atoms: dict[int, set[Fact]]) -> None:
    note(f"{program}\n{program.background}\n{atoms}")
    expected = output_stream(program, Stream(0, LAST, atoms))
    engine = ClingoEngine(program, start=0, mode="all")
    for at in range(LAST + 1):
        for fact in atoms.get(at, ()):
            engine.take(fact, at)
        answer = engine.tick()
        found = None if answer.atoms is None else texts(answer.atoms)
        wanted = expected[at]
        assert found == (None if wanted is None else texts(wanted)), at
        assert len(answer.every or ()) <= 1


@given(ground_programs(), lars_streams(), st.integers(0, 3))
def test_clingo_finds_the_answer_streams_of_the_definition(
    program: LarsProgram, atoms: dict[int, set[Fact]], last: int
) -> None:
    note(f"{program}\n{atoms}")
    input = Stream(0, last, atoms).up_to(last)
    engine = ClingoEngine(program, start=0, mode="all")
    assert set(engine.answer_streams(input)) == set(answer_streams(program, input))


def _solver_or_refusal(program: LarsProgram, mode: str) -> ClingoEngine:
    """A solver; a program whose aggregate rests on its own result is refused, and left out."""
    try:
        return ClingoEngine(program, start=0, mode=mode)
    except ProgramError as error:
        if "rests on its own result" not in str(error):
            raise
    assume(False)
    raise AssertionError


@given(choosing_programs(), lars_streams(), st.integers(0, 3))
def test_aggregates_over_a_choice_are_those_of_the_definition(
    program: LarsProgram, atoms: dict[int, set[Fact]], last: int
) -> None:
    note(f"{program}\n{atoms}")
    input = Stream(0, last, atoms).up_to(last)
    engines = {mode: _solver_or_refusal(program, mode) for mode in MODES}
    found = {mode: set(engine.answer_streams(input)) for mode, engine in engines.items()}
    every = set(answer_streams(program, input))
    assert found["all"] == every
    assert found["cautious"] == ({frozenset.intersection(*every)} if every else set())
    assert found["one"] <= every
    assert len(found["one"]) == min(len(every), 1)
