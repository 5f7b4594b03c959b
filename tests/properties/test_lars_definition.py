"""The oracle's answer stream is the one that Definition 5 picks among all interpretations."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.engines.reference.lars import Stream, answer_stream
from ebbtide.engines.reference.lars_definition import answer_streams
from ebbtide.languages.lars import parse_lars, strata
from ebbtide.program import Fact, ProgramError

WINDOWS = st.sampled_from(["[0]", "[1]", "[2]", "[tumbling 2]"])


@st.composite
def literals(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from("abpqr"))
    windows = WINDOWS
    if name in "ab":
        windows = st.one_of(WINDOWS, st.sampled_from(["[#1]", "[#2]", "[#2 of it]"]))
    point = draw(st.integers(0, 3))
    atom = draw(
        st.sampled_from(
            [
                name,
                f"{name} in {draw(windows)}",
                f"always {name} in {draw(windows)}",
                f"@{point} {name}",
                f"@{point} {name} in {draw(windows)}",
            ]
        )
    )
    return f"not {atom}" if draw(st.integers(0, 3)) == 0 else atom


@st.composite
def rules(draw: st.DrawFn) -> str:
    head = draw(st.sampled_from("pqr"))
    at = draw(st.sampled_from(["", "", "@0 ", "@1 ", "@2 ", "@3 "]))
    return f"{at}{head} :- {', '.join(draw(st.lists(literals(), min_size=1, max_size=3)))}."


STREAMS = st.dictionaries(st.integers(0, 3), st.sets(st.sampled_from("ab")), max_size=4)


@settings(deadline=None)
@given(st.lists(rules(), min_size=1, max_size=4), STREAMS, st.integers(0, 3))
def test_the_answer_stream_is_the_only_one(
    texts: list[str], atoms: dict[int, set[str]], last: int
) -> None:
    program = parse_lars("\n".join(texts))
    try:
        strata(program)
    except ProgramError:
        return
    input = Stream(
        0,
        last,
        {at: {Fact(name, ()) for name in names} for at, names in atoms.items() if at <= last},
    )
    found = answer_stream(program, input)
    every = answer_streams(program, input)
    if found is None:
        assert every == []
    else:
        assert every == [frozenset((at, fact) for at, facts in found.items() for fact in facts)]
