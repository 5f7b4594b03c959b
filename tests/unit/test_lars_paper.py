"""The examples of the paper, with their results at every time point, in the oracle and the kernel.

Example 4 has a slip: it lists q(x2,y,z) at 42, where a(x2,y), at 38, is outside [39, 42].
"""

from __future__ import annotations

from ebbtide.engines.lars import LarsEngine
from ebbtide.engines.reference.lars import Stream, answer_stream, last_tuples, output_stream
from ebbtide.languages.lars import parse_atoms, parse_lars, show_fact
from ebbtide.program import Fact

RULE = "q(X,Y,Z) :- a(X,Y) in [3], b(Y,Z) in [#3]."
GROUND = """
    q(x1,y,z) :- a(x1,y) in [3], b(y,z) in [#3].
    q(x2,y,z) :- a(x2,y) in [3], b(y,z) in [#3].
    q(x3,y,z) :- a(x3,y) in [3], b(y,z) in [#3].
"""


def stream(first: int, last: int, atoms: dict[int, str]) -> Stream:
    return Stream(first, last, {at: set(parse_atoms(text, "", {})) for at, text in atoms.items()})


DATA = stream(35, 42, {36: "a(x1,y).", 38: "a(x2,y). b(y,z).", 40: "a(x3,y)."})


def shown(facts: set[Fact] | frozenset[Fact] | None) -> list[str]:
    return sorted(map(show_fact, facts or ()))


def outputs(text: str, data: Stream) -> dict[int, list[str]]:
    found = output_stream(parse_lars(text), data)
    engine = LarsEngine(parse_lars(text), start=data.first)
    for at in data.timeline:
        for fact in data.at(at):
            engine.take(fact, at)
        assert engine.tick().atoms == found[at], at
    return {at: shown(facts) for at, facts in found.items() if facts}


def test_example_1_windows() -> None:
    at_41 = DATA.up_to(41)
    by_time = at_41.since(41 - 3)
    assert list(by_time.timeline) == [38, 39, 40, 41]
    assert by_time.size() == 3
    assert last_tuples(at_41, 3) == by_time
    assert last_tuples(DATA.up_to(40), 3).atoms == by_time.atoms
    two = last_tuples(at_41, 2)
    assert list(two.timeline) == [38, 39, 40, 41]
    assert two.size() == 2
    assert shown(set(two.at(38))) in (["a(x2,y)"], ["b(y,z)"])


def test_examples_2_and_3_the_answer_stream_at_41() -> None:
    for text in (RULE, GROUND):
        found = answer_stream(parse_lars(text), DATA.up_to(41))
        assert found is not None
        assert {at: shown(facts) for at, facts in found.items()} == {41: ["q(x2,y,z)", "q(x3,y,z)"]}


def test_example_4_the_output_stream() -> None:
    early, late = ["q(x1,y,z)", "q(x2,y,z)"], ["q(x2,y,z)", "q(x3,y,z)"]
    printed = {38: early, 39: early, 40: late, 41: late, 42: ["q(x3,y,z)"]}
    assert outputs(RULE, DATA) == printed
    assert outputs(GROUND, DATA) == printed


def test_example_5_a_diamond_holds_up_to_its_horizon() -> None:
    only_x1 = "h :- a(x1,y) in [3]."
    assert sorted(outputs(only_x1, DATA)) == [36, 37, 38, 39]


def test_examples_6_and_7_overlapping_annotations() -> None:
    rule = "h(X) :- a(X) in [9]."
    assert sorted(outputs(rule, stream(0, 20, {5: "a(y)."}))) == list(range(5, 15))
    assert sorted(outputs(rule, stream(0, 20, {5: "a(y).", 8: "a(y)."}))) == list(range(5, 18))


def test_example_8_a_box_holds_where_its_run_is_unbroken() -> None:
    data = stream(0, 8, {5: "a(y).", 6: "a(y).", 7: "a(y)."})
    assert sorted(outputs("h(X) :- always a(X) in [2].", data)) == [7]


def test_example_9_a_tuple_window_ends_with_the_sixth_atom() -> None:
    rule = "h :- b(y,z) in [#3]."
    atoms = {36: "a(x1,y).", 38: "a(x2,y). b(y,z).", 40: "a(x3,y).", 50: "c(1)."}
    assert sorted(outputs(rule, stream(35, 60, atoms))) == list(range(38, 61))
    pushed_out = stream(35, 60, {**atoms, 55: "c(2)."})
    assert sorted(outputs(rule, pushed_out)) == list(range(38, 55))


def test_a_conclusion_of_an_earlier_time_point_is_no_memory() -> None:
    # b holds at 1 and 2 because of a, each time anew; in the answer stream at 2 it holds at 2 only.
    text = "b :- a in [1]. was(T) :- @T b. twice :- always b in [1]."
    assert outputs(text, stream(0, 3, {1: "a."})) == {
        1: ["b", "was(1)"],
        2: ["b", "was(2)"],
    }


def test_a_head_outside_the_timeline_leaves_no_answer_stream() -> None:
    program = parse_lars("@U b :- @T a, U = T + 1.")
    found = output_stream(program, stream(0, 2, {1: "a."}))
    assert found[0] == frozenset()
    assert found[1] is None
    assert shown(found[2]) == ["b"]
