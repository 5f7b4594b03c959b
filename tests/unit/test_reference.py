"""Hand-worked cases for the reference engine: every number here was worked out on paper."""

from __future__ import annotations

import pytest

from ebbtide.engines.protocol import LateFact
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.testing import fact, facts, play, program, rows, stream, table
from ebbtide.time import Count, Landmark, Sliding, Tumbling, Window

TRANSITIVE = "isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z)."


def engine(rules: str, **windows: Window) -> ReferenceEngine:
    return ReferenceEngine(program(rules), windows or {"default": Sliding(10)})


def test_the_worked_example_of_the_paper_tick_by_tick() -> None:
    reasoner = engine(TRANSITIVE)
    play(
        reasoner,
        stream("1 isIn(A, B)  2 isIn(B, C)  3 isIn(C, D)  4 isIn(A, E)  4 isIn(E, D)"),
    )
    at_4 = """isIn(A, B)[11] isIn(B, C)[12] isIn(A, C)[11] isIn(C, D)[13] isIn(B, D)[12]
              isIn(A, E)[14] isIn(E, D)[14] isIn(A, D)[14]"""
    at_11 = """isIn(B, C)[12] isIn(C, D)[13] isIn(B, D)[12]
               isIn(A, E)[14] isIn(E, D)[14] isIn(A, D)[14]"""
    at_12 = "isIn(C, D)[13] isIn(A, E)[14] isIn(E, D)[14] isIn(A, D)[14]"
    at_13 = "isIn(A, E)[14] isIn(E, D)[14] isIn(A, D)[14]"
    expected = {
        1: "isIn(A, B)[11]",
        2: "isIn(A, B)[11] isIn(B, C)[12] isIn(A, C)[11]",
        3: """isIn(A, B)[11] isIn(B, C)[12] isIn(A, C)[11]
              isIn(C, D)[13] isIn(B, D)[12] isIn(A, D)[11]""",
        **dict.fromkeys(range(4, 11), at_4),
        11: at_11,
        12: at_12,
        13: at_13,
        14: "",
    }
    for tick, materialisation in expected.items():
        reasoner.advance(tick)
        assert reasoner.facts() == facts(materialisation), tick


def test_a_derivation_ends_with_its_first_premise_and_a_fact_with_its_last_derivation() -> None:
    reasoner = engine("d(?x) :- p(?x), q(?x).  d(?x) :- r(?x).")
    play(reasoner, stream("1 p(A)  4 q(A)  3 r(A)  tick 4"))
    assert reasoner.facts() == facts("p(A)[11] q(A)[14] r(A)[13] d(A)[13]")


def test_a_temporary_copy_never_replaces_the_background() -> None:
    deltas = play(engine(""), stream("always p(A)  1 p(A)  tick 1  tick 11"))
    assert rows(deltas) == table("1 +1 forever p(A)")


def test_a_conclusion_under_not_appears_and_vanishes_with_its_blocker() -> None:
    deltas = play(
        engine("calm(?x) :- node(?x), not busy(?x)."),
        stream("always node(A)  2 busy(A)  tick 1  tick 2  tick 11  tick 12"),
    )
    assert rows(deltas) == table(
        """
        tick diff until   fact
        1    +1   forever node(A)
        1    +1   forever calm(A)
        2    +1   12      busy(A)
        2    -1   forever calm(A)
        12   -1   12      busy(A)
        12   +1   forever calm(A)
        """
    )


def test_a_local_variable_of_a_negation_stands_for_any_term() -> None:
    reasoner = engine("lonely(?x) :- node(?x), not link(?x, ?any).")
    play(reasoner, stream("always node(A)  always node(B)  always link(A, B)  tick 1"))
    assert fact("lonely(B)") in reasoner.facts()
    assert fact("lonely(A)") not in reasoner.facts()


def test_a_rule_without_atoms_concludes_for_ever() -> None:
    deltas = play(engine("dry :- not rain."), stream("3 rain  tick 1  tick 3  tick 13"))
    assert rows(deltas) == table(
        "1 +1 forever dry  3 -1 forever dry  3 +1 13 rain  13 -1 13 rain  13 +1 forever dry"
    )


def test_a_retraction_takes_back_every_statement_up_to_its_instant() -> None:
    reasoner = ReferenceEngine(program(""), {"default": Sliding(10), "other": Sliding(90)})
    story = "always p(A)  1 p(A)  3 other: p(A)  3 -p(A)  tick 2  tick 3  5 p(A)  tick 5"
    assert rows(play(reasoner, stream(story))) == table(
        "2 +1 forever p(A)  3 -1 forever p(A)  5 +1 15 p(A)"
    )


def test_a_retraction_leaves_what_is_still_derived() -> None:
    deltas = play(engine("p(?x) :- q(?x)."), stream("1 p(A)  2 q(A)  3 -p(A)  tick 2  tick 3"))
    assert rows(deltas) == table("2 +1 12 p(A)  2 +1 12 q(A)")


def test_background_added_after_a_retraction_is_not_touched_by_it() -> None:
    story = "always p(A)  1 -p(A)  tick 1  always p(A)  tick 2  3 -p(A)  tick 3"
    assert rows(play(engine(""), stream(story))) == table("2 +1 forever p(A)  3 -1 forever p(A)")


#  Sliding(10)    at = 1      (t-10----t]      in sight at 1..10, gone at 11
#  Tumbling(10)   at = 1      (0------10]      in sight at 1..10, gone at 11
#                 at = 10     (0------10]      in sight at 10,    gone at 11
#                 at = 11    (10------20]      in sight at 11..20
#  Landmark(5)    at = 4         [5------      never in sight
@pytest.mark.parametrize(
    ("window", "at", "in_sight", "gone"),
    [
        (Sliding(10), 1, [1, 10], [11]),
        (Sliding(1), 1, [1], [2]),
        (Tumbling(10), 1, [1, 10], [11]),
        (Tumbling(10), 10, [10], [11]),
        (Tumbling(10), 11, [11, 20], [21]),
        (Tumbling(10, origin=3), 3, [3], [4]),
        (Tumbling(10, origin=3), 4, [4, 13], [14]),
        (Tumbling(10), -9, [-9, 0], [1]),
        (Landmark(5), 4, [], [4, 5]),
        (Landmark(5), 5, [5, 1000], []),
    ],
)
def test_windows_at_their_boundaries(
    window: Window, at: int, in_sight: list[int], gone: list[int]
) -> None:
    reasoner = engine("", default=window)
    reasoner.push(fact("p(A)"), at)
    for tick in in_sight + gone:
        reasoner.advance(tick)
        assert (fact("p(A)") in reasoner.facts()) == (tick in in_sight), tick


def test_a_fact_is_not_seen_before_it_happens() -> None:
    deltas = play(engine(""), stream("5 p(A)  tick 4  tick 5"))
    assert rows(deltas) == table("5 +1 15 p(A)")


def test_a_count_window_keeps_the_last_facts() -> None:
    deltas = play(
        engine("", default=Count(2)), stream("1 p(A)  2 p(B)  tick 2  3 p(C)  tick 3  tick 999")
    )
    assert rows(deltas) == table(
        "2 +1 forever p(A)  2 +1 forever p(B)  3 -1 forever p(A)  3 +1 forever p(C)"
    )


def test_a_count_window_breaks_ties_by_relation_and_texts() -> None:
    reasoner = engine("", default=Count(2))
    play(reasoner, stream('1 q(A)  1 p(B)  1 p(A, A)  1 p("Z")  1 p(A)  tick 1'))
    # In order: p("Z") p(A) p(A, A) p(B) q(A), for a text begins with " or <.
    assert reasoner.facts() == facts("p(B)[forever] q(A)[forever]")


def test_a_count_window_counts_a_fact_twice_at_two_instants_and_once_at_one() -> None:
    reasoner = engine("", default=Count(2))
    play(reasoner, stream("1 p(A)  2 p(B)  2 p(B)  tick 2"))
    assert reasoner.facts() == facts("p(A)[forever] p(B)[forever]")
    play(reasoner, stream("3 p(B)  tick 3"))
    assert reasoner.facts() == facts("p(B)[forever]")


def test_what_a_count_window_pushed_out_does_not_come_back() -> None:
    reasoner = engine("", default=Count(2))
    play(reasoner, stream("1 p(A)  2 p(B)  3 p(C)  3 -p(C)  tick 3"))
    assert reasoner.facts() == facts("p(B)[forever]")
    play(reasoner, stream("4 p(D)  tick 4"))
    assert reasoner.facts() == facts("p(B)[forever] p(D)[forever]")


def test_a_count_window_counts_each_group() -> None:
    reasoner = engine("", default=Count(1, group=(0,)))
    play(reasoner, stream("1 at(A, X)  2 at(B, X)  3 at(A, Y)  3 rain  tick 3"))
    assert reasoner.facts() == facts("at(B, X)[forever] at(A, Y)[forever] rain[forever]")


def test_positions_beyond_the_arity_make_one_group() -> None:
    reasoner = engine("", default=Count(1, group=(1,)))
    play(reasoner, stream("1 p(A)  2 p(B)  3 q(C)  tick 3"))
    assert reasoner.facts() == facts("q(C)[forever]")


def test_each_stream_has_its_own_window() -> None:
    reasoner = engine("", fast=Sliding(2), slow=Sliding(20))
    deltas = play(reasoner, stream("1 fast: p(A)  1 slow: p(A)  1 fast: p(B)  tick 1  tick 3"))
    assert rows(deltas) == table("1 +1 21 p(A)  1 +1 3 p(B)  3 -1 3 p(B)")


def test_ticks_must_ascend() -> None:
    reasoner = engine("")
    reasoner.advance(3)
    with pytest.raises(ValueError, match="ticks must ascend: 3 after 3"):
        reasoner.advance(3)


def test_late_facts_and_unknown_streams_are_refused() -> None:
    reasoner = engine("")
    reasoner.advance(3)
    with pytest.raises(LateFact, match="at 3 is late: the tick 3 is over"):
        reasoner.push(fact("p(A)"), 3)
    with pytest.raises(LateFact):
        reasoner.retract(fact("p(A)"), 2)
    with pytest.raises(ValueError, match="no window was given for the stream 'cars'"):
        reasoner.push(fact("p(A)"), 4, "cars")
