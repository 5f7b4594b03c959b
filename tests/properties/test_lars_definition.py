"""The oracle's answer stream is the one that Definition 5 picks among all interpretations."""

from __future__ import annotations

from hypothesis import given, note
from hypothesis import strategies as st

from ebbtide.engines.reference.lars import Stream, answer_stream
from ebbtide.engines.reference.lars_definition import answer_streams
from ebbtide.languages.lars import LarsProgram, strata
from ebbtide.program import Fact, ProgramError
from ebbtide.testing.lars import ground_programs, lars_streams


@given(ground_programs(), lars_streams(), st.integers(0, 3))
def test_the_answer_stream_is_the_only_one(
    program: LarsProgram, atoms: dict[int, set[Fact]], last: int
) -> None:
    note(f"{program}\n{atoms}")
    try:
        strata(program)
    except ProgramError:
        return
    input = Stream(0, last, atoms).up_to(last)
    found = answer_stream(program, input)
    every = answer_streams(program, input)
    if found is None:
        assert every == []
    else:
        assert every == [frozenset((at, fact) for at, facts in found.items() for fact in facts)]
