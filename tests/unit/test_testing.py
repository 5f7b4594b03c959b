"""The notation of the test helpers reads what it writes, and says where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.engines.protocol import Delta
from ebbtide.program import Fact, Program, ProgramError
from ebbtide.terms import IRI, BlankNode, Literal, to_term
from ebbtide.testing import (
    FakeClock,
    Happening,
    Tick,
    fact,
    program,
    read_case,
    rows,
    show,
    show_rows,
    stream,
    table,
)
from ebbtide.testing.generate import facts, programs, retold, streams


@given(programs())
def test_programs_read_back(rules: Program) -> None:
    read = program(str(rules))
    assert str(read) == str(rules)
    assert read.rules == rules.rules


@given(facts())
def test_facts_read_back(found: Fact) -> None:
    assert fact(show(found)) == found


@given(streams())
def test_streams_read_back(story: list[Happening]) -> None:
    assert stream("  ".join(map(str, story))) == story


@given(streams(), st.data())
def test_retold_streams_say_the_same(story: list[Happening], data: st.DataObject) -> None:
    retelling = data.draw(retold(story))
    assert set(retelling) == set(story)
    ticks = [happening for happening in story if isinstance(happening, Tick)]
    assert [happening for happening in retelling if isinstance(happening, Tick)] == ticks


def test_terms() -> None:
    found = fact('p(A, <http://e/a>, _:b, 7, -2.5, 1e3, "x y", "hei"@fi)')
    assert found.terms[:4] == (
        IRI("http://example/A"),
        IRI("http://e/a"),
        BlankNode("b"),
        to_term(7),
    )
    assert [term.text.rsplit("#")[-1] for term in found.terms[4:6]] == ["decimal>", "double>"]
    assert found.terms[6:] == (Literal("x y"), Literal("hei", language="fi"))


def test_tables_are_sorted_and_carry_every_change() -> None:
    delta = Delta(
        4,
        entered={fact("p(B)"): 14, fact("p(A)"): 14},
        left={fact("p(C)"): 4},
        renewed={fact("q"): 2**63 - 1},
    )
    text = "tick diff until fact  4 +1 14 p(A)  4 +1 14 p(B)  4 -1 4 p(C)  4 ~ forever q"
    assert rows([delta]) == table(text)
    assert table(show_rows(rows([delta]))) == rows([delta])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(?x) :- q(?x)", r"a\.rules:1:15: expected '\.', found 'the end'"),
        ("p(?x) :-\n  q(?x, ).", r"a\.rules:2:9: expected a term or a variable, found '\)'"),
        ("p(?x) :- q(?x) r(?x).", r"a\.rules:1:16: expected '\.', found 'r'"),
        ("7 :- q.", r"a\.rules:1:1: expected a name, found '7'"),
    ],
)
def test_what_cannot_be_read_has_a_place(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        program(text, "a.rules")


def test_facts_have_no_variables() -> None:
    with pytest.raises(ProgramError, match=r"1:1: a fact has no variables, but here is \?x"):
        fact("p(?x)")
    with pytest.raises(ProgramError, match="expected nothing more, found 'q'"):
        fact("p(A) q(A)")


def test_a_case_needs_its_sections(tmp_path: Path) -> None:
    path = tmp_path / "broken.case"
    path.write_text("# No windows.\nprogram:\ninput:\nexpected:\n", encoding="utf-8")
    with pytest.raises(ProgramError, match=r"broken\.case:2:1: .*has program, input, expected"):
        read_case(path)
    path.write_text("program:\nwindows:\n  default often 3\ninput:\nexpected:\n", encoding="utf-8")
    with pytest.raises(ProgramError, match=r"broken\.case:3:11: expected sliding"):
        read_case(path)


def test_a_fake_clock_moves_forward_only() -> None:
    clock = FakeClock(10)
    clock.advance(5)
    assert clock() == 15
    with pytest.raises(ValueError, match="time does not go back"):
        clock.advance(-1)
