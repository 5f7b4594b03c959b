"""Which facts are in a window at which tick: every kind, bound, unit and boundary instant.

The pictures show one stream; a digit is a fact with that value, at the instant it stands below.
"""

from __future__ import annotations

import pytest
from tests.unit.queries.seen import BODY, PREFIX, csparql, fact, rspql, seen

from ebbtide.program import ProgramError
from ebbtide.queries import QueryEngine


def test_a_window_of_csparql_holds_its_end_and_not_its_beginning() -> None:
    #      0    5    10   15   20
    #      1    2    3    4
    #      (---------]               tick 10
    #           (---------]          tick 15
    events = [(0, 1), (5, 2), (10, 3), (15, 4)]
    assert seen(csparql("RANGE 10ms STEP 5ms"), events) == {
        0: [1],
        5: [1, 2],
        10: [2, 3],
        15: [3, 4],
    }


def test_a_window_of_rspql_holds_its_opening_and_not_its_close() -> None:
    #      0    5    10   15   20
    #      1    2    3    4
    #      [---------)               closes at 10
    #           [---------)          closes at 15
    events = [(0, 1), (5, 2), (10, 3), (15, 4)]
    assert seen(rspql("RANGE PT0.010S STEP PT0.005S"), events) == {
        5: [1],
        10: [1, 2],
        15: [2, 3],
        20: [3, 4],
    }


@pytest.mark.parametrize(
    ("at", "csparql_ticks", "rspql_ticks"),
    [
        (9, [10, 15], [10, 15]),  # inside
        (10, [10, 15], [15, 20]),  # exactly at a close, which is also an opening
        (11, [15, 20], [15, 20]),
        (20, [20, 25], [25, 30]),
    ],
)
def test_boundary_instants(at: int, csparql_ticks: list[int], rspql_ticks: list[int]) -> None:
    """Which windows of length 10, every 5, hold a fact; another one opens and closes the story."""
    events = [(0, 1), (at, 2), (40, 3)]
    for text, ticks in (
        (csparql("RANGE 10ms STEP 5ms"), csparql_ticks),
        (rspql("RANGE PT0.010S STEP PT0.005S"), rspql_ticks),
    ):
        assert [tick for tick, values in seen(text, events).items() if 2 in values] == ticks


@pytest.mark.parametrize(
    ("at", "held"), [(2, []), (3, [2]), (4, [2])], ids=["before t0", "at t0", "after t0"]
)
def test_facts_about_t0(at: int, held: list[int]) -> None:
    events = [(at, 2), (9, 3)]
    for text, first in (
        (csparql("RANGE 5ms STEP 5ms"), 3 if at == 3 else 8),
        (
            rspql("RANGE PT0.005S STEP PT0.005S"),
            8,
        ),
    ):
        found = seen(text, events, t0=3)
        assert found.get(first, []) == held


def test_windows_of_one_fact_wide_steps_and_gaps() -> None:
    #      a step longer than the range leaves gaps that no window sees
    events = [(1, 1), (9, 2), (12, 3), (19, 4)]
    assert seen(csparql("RANGE 3ms STEP 10ms"), events) == {10: [2], 20: [4]}
    assert seen(rspql("RANGE PT0.003S STEP PT0.010S"), events) == {3: [1], 13: [3], 23: []}


def test_a_tumbling_window_holds_each_fact_once() -> None:
    events = [(1, 1), (10, 2), (11, 3), (20, 4), (21, 5)]
    assert seen(csparql("RANGE 10ms TUMBLING"), events) == {10: [1, 2], 20: [3, 4], 30: [5]}


def test_a_count_window_holds_the_last_facts_whenever_they_happened() -> None:
    #      0    5    10   15   20
    #      1 2            3
    events = [(0, 1), (2, 2), (15, 3)]
    text = f"REGISTER QUERY last COMPUTE EVERY 5ms AS {csparql('RANGE TRIPLES 2')}"
    assert seen(text, events) == {0: [1], 5: [1, 2], 10: [1, 2], 15: [2, 3]}


def test_a_count_window_without_ticks_of_its_own_is_told_whenever_a_fact_happens() -> None:
    events = [(0, 1), (2, 2), (15, 3)]
    assert seen(csparql("RANGE TRIPLES 2"), events) == {0: [1], 2: [1, 2], 15: [2, 3]}


def test_a_count_window_may_move_by_several_facts() -> None:
    #      0 1 2 3 4 5 6 7
    #      1 2 3   4 5   6     size 3, moving by 2: after 2, 4 and 6
    events = [(0, 1), (1, 2), (2, 3), (4, 4), (5, 5), (7, 6)]
    found = {1: [1, 2], 4: [2, 3, 4], 7: [4, 5, 6]}
    assert seen(csparql("RANGE TRIPLES 3 STEP 2"), events) == found
    assert seen(rspql("ROWS 3 STEP 2"), events) == found
    text = f"REGISTER QUERY q COMPUTE EVERY 3ms AS {csparql('TRIPLES 3 STEP 2')}"
    assert seen(text, events) == {0: [], 3: [1, 2], 6: [2, 3, 4], 9: [4, 5, 6]}


def test_a_count_window_that_moves_by_more_than_it_holds() -> None:
    events = [(0, 1), (1, 2), (2, 3), (4, 4), (5, 5), (7, 6)]
    assert seen(csparql("TRIPLES 1 STEP 3"), events) == {2: [3], 7: [6]}


@pytest.mark.parametrize(
    ("company", "registered_after", "ticks"),
    [
        ("", 5, [6, 8]),
        ("", 6, [6, 8]),
        ("", 7, [8]),
        ("", 8, [8]),
        # What the other one has not seen at 3, or at 6, is to come.
        ("COMPUTE EVERY 3ms", 5, [4, 6, 8]),
        ("COMPUTE EVERY 3ms", 8, [8]),
    ],
)
def test_a_count_window_registered_late_is_told_when_it_moves(
    company: str, registered_after: int, ticks: list[int]
) -> None:
    engine = QueryEngine()
    asked = csparql("TRIPLES 3 STEP 2")
    engine.register(f"{PREFIX} REGISTER QUERY first {company} AS {asked}")
    for at in range(1, registered_after + 1):
        engine.push("http://e/s", fact(at), at)
    late = engine.register(f"{PREFIX} REGISTER QUERY late AS {asked}")
    for at in range(registered_after + 1, 10):
        engine.push("http://e/s", fact(at), at)
    engine.finish()
    found = {each.tick: sorted(row["v"] for row in each.bindings) for each in late}
    assert found == {tick: [tick - 2, tick - 1, tick] for tick in ticks}


def test_a_landmark_window_holds_everything() -> None:
    events = [(0, 1), (2, 2), (15, 3)]
    assert seen(csparql("LANDMARK STEP 10ms"), events) == {0: [1], 10: [1, 2], 20: [1, 2, 3]}


@pytest.mark.parametrize(
    ("unit", "milliseconds"),
    [
        ("ms", 1),
        ("s", 1_000),
        ("SEC", 1_000),
        ("m", 60_000),
        ("Min", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ],
)
def test_units(unit: str, milliseconds: int) -> None:
    events = [(1, 1), (3 * milliseconds, 2)]
    found = seen(csparql(f"RANGE 2{unit} STEP 1{unit}"), events)
    expected = {1: [1], 2: [1], 3: [2]}
    assert found == {tick * milliseconds: values for tick, values in expected.items()}


def test_windows_are_aligned_to_t0_and_nothing_before_it_is_seen() -> None:
    #      0  3    8    13   18
    #      1  2      3
    #         [---------)             opens at t0 = 3
    #              [---------)
    events = [(2, 1), (3, 2), (10, 3)]
    assert seen(rspql("RANGE PT0.010S STEP PT0.005S"), events, t0=3) == {13: [2, 3]}
    assert seen(csparql("RANGE 10ms STEP 5ms"), events, t0=3) == {3: [2], 8: [2], 13: [3]}


def test_an_empty_window_is_told_too() -> None:
    events = [(1, 1), (31, 2)]
    assert seen(csparql("RANGE 10ms STEP 10ms"), events) == {10: [1], 20: [], 30: [], 40: [2]}


def test_facts_within_the_lateness_may_come_in_any_order() -> None:
    events = [(1, 1), (12, 2), (9, 3), (25, 4), (14, 5), (40, 6)]
    late = seen(csparql("RANGE 10ms STEP 10ms"), events, lateness=20)
    assert late == seen(csparql("RANGE 10ms STEP 10ms"), sorted(events))
    assert late[10] == [1, 3]


def test_what_is_later_than_that_is_late() -> None:
    engine = QueryEngine()
    engine.register(PREFIX + csparql("RANGE 10ms STEP 10ms"))
    engine.push("http://e/s", fact(1), 5)
    engine.push("http://e/s", fact(2), 11)
    engine.push("http://e/s", fact(3), 9)
    assert engine.late == 1
    (late,) = engine.take_late()
    assert (late.at, late.stream) == (9, "http://e/s")


def test_a_window_between_its_closes_is_as_it_was() -> None:
    #      every 2, step 6:   the window closes at 6, 12, ...
    events = [(1, 1), (5, 2), (7, 3), (12, 4)]
    text = f"REGISTER QUERY q COMPUTE EVERY 2ms AS {csparql('RANGE 6ms STEP 6ms')}"
    assert seen(text, events) == {
        2: [],
        4: [],
        6: [1, 2],
        8: [1, 2],
        10: [1, 2],
        12: [3, 4],
    }


def test_two_windows_of_one_stream() -> None:
    text = """SELECT ?v ?w
        FROM NAMED WINDOW ex:short ON ex:s [RANGE PT0.005S STEP PT0.005S]
        FROM NAMED WINDOW ex:long ON ex:s [RANGE PT0.020S STEP PT0.005S]
        WHERE { WINDOW ex:short { ?x ex:v ?v } WINDOW ex:long { ?y ex:v ?w } FILTER(?v > ?w) }"""
    events = [(1, 1), (6, 2), (16, 3), (26, 4)]
    engine = QueryEngine()
    query = engine.register(PREFIX + text)
    for at, value in events:
        engine.push("http://e/s", fact(value), at)
    engine.finish()
    pairs = {each.tick: sorted((r["v"], r["w"]) for r in each.bindings) for each in query}
    assert pairs == {5: [], 10: [(2, 1)], 15: [], 20: [(3, 1), (3, 2)], 25: [], 30: [(4, 3)]}


def test_two_streams_with_clocks_of_their_own() -> None:
    text = f"""SELECT ?v FROM STREAM ex:s [RANGE 10ms STEP 10ms]
        FROM STREAM ex:t [RANGE 10ms STEP 10ms] {BODY}"""
    engine = QueryEngine()
    query = engine.register(PREFIX + text)
    engine.push("http://e/s", fact(1), 5)
    engine.push("http://e/s", fact(2), 35)
    assert list(query) == []  # t may still bring something
    engine.push("http://e/t", fact(3), 15)
    assert {each.tick: len(each) for each in query} == {10: 1}
    engine.heartbeat(31, "http://e/t")
    assert {each.tick: len(each) for each in query} == {20: 1, 30: 0}


def test_retraction_is_seen() -> None:
    engine = QueryEngine()
    query = engine.register(PREFIX + csparql("RANGE 100ms STEP 10ms"))
    engine.push("http://e/s", fact(1), 5)
    engine.push("http://e/s", fact(2), 6)
    engine.advance(10)
    engine.retract(fact(1), 15)
    engine.advance(20)
    assert [[row["v"] for row in each.bindings] for each in query if each.tick > 10] == [[2]]


@pytest.mark.parametrize(
    ("story", "seen_from_6_on"),
    [
        ("+1 -2 +3", True),
        ("+3 -2 +1", True),
        ("-2 +3 +1", True),
        ("-2 +1 +3", True),
        ("+1 -2", False),
        ("-2 +1", False),
        ("+1 +3 -3", False),
        ("+1 -6", False),
        ("+1 -7", None),
    ],
)
def test_a_fact_retracted_and_stated_again_between_two_closes(
    story: str, seen_from_6_on: bool | None
) -> None:
    """`+1` states the fact at 1, `-2` takes it back at 2; the window closes at 6, 12, ..."""
    text = f"REGISTER QUERY q COMPUTE EVERY 2ms AS {csparql('RANGE 12ms STEP 6ms')}"
    engine = QueryEngine(lateness=8)
    query = engine.register(PREFIX + text)
    for word in story.split():
        if word[0] == "+":
            engine.push("http://e/s", fact(1), int(word[1:]))
        else:
            engine.retract(fact(1), int(word[1:]))
    engine.advance(10)
    ticks = {each.tick: bool(each.rows) for each in query if each.tick >= 2}
    after = {6: True, 8: False, 10: False} if seen_from_6_on is None else {}
    expected = {2: False, 4: False, **dict.fromkeys((6, 8, 10), seen_from_6_on), **after}
    assert ticks == expected


def test_a_query_registered_later_does_not_see_background_that_was_retracted() -> None:
    engine = QueryEngine(background=[fact(1), fact(2)])
    other = engine.register(f"{PREFIX} REGISTER QUERY other AS {csparql('RANGE 9ms STEP 1ms')}")
    engine.push("http://e/s", fact(3), 1)
    engine.retract(fact(1), 5)
    engine.advance(6)
    assert sorted(row["v"] for row in list(other)[-1].bindings) == [2, 3]
    query = engine.register(f"{PREFIX} SELECT ?v {BODY}")
    engine.advance(7)
    assert [[row["v"] for row in each.bindings] for each in query] == [[2]]
    engine.add(fact(1))
    again = engine.register(f"{PREFIX} REGISTER QUERY again AS SELECT ?v ?s {BODY}")
    engine.advance(8)
    assert [sorted(row["v"] for row in each.bindings) for each in again] == [[1, 2]]


def test_a_query_registered_later_knows_the_retractions_that_are_not_over() -> None:
    engine = QueryEngine(lateness=20)
    engine.register(f"{PREFIX} REGISTER QUERY other AS {csparql('RANGE 9ms STEP 1ms')}")
    engine.push("http://e/s", fact(2), 1)
    engine.retract(fact(1), 8)
    query = engine.register(f"{PREFIX} REGISTER QUERY q AS {rspql('RANGE PT0.01S STEP PT0.01S')}")
    engine.push("http://e/s", fact(1), 7)
    engine.push("http://e/s", fact(3), 9)
    engine.finish()
    assert [sorted(row["v"] for row in each.bindings) for each in query] == [[3]]


def test_static_data_joins() -> None:
    text = f"SELECT ?v FROM <http://e/static> FROM STREAM ex:s [RANGE 10ms STEP 10ms] {BODY}"
    text = text.replace("?s ex:v ?v", "?s ex:v ?v . ?s a ex:Known")
    known = [
        ("<http://e/s1>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://e/Known>")
    ]
    events = [(1, 1), (2, 2)]
    assert seen(text, events, background=known) == {10: [1]}
    assert seen(text, events, graphs={"http://e/static": known}) == {10: [1]}
    with pytest.raises(ProgramError, match="<http://e/static> was not given"):
        seen(text, events)


def test_a_named_static_graph_is_apart() -> None:
    text = """SELECT ?v FROM NAMED ex:g FROM STREAM ex:s [RANGE 10ms STEP 10ms]
        WHERE { ?s ex:v ?v . GRAPH ex:g { ?s ex:v ?any } }"""
    graph = [("<http://e/s2>", "<http://e/v>", 7)]
    assert seen(text, [(1, 1), (2, 2)], graphs={"http://e/g": graph}) == {10: [2]}


def test_a_query_without_a_window_is_answered_once() -> None:
    engine = QueryEngine(background=[fact(1)])
    query = engine.register(f"{PREFIX} SELECT ?v {BODY}")
    engine.finish()
    assert [[row["v"] for row in each.bindings] for each in query] == [[1]]


def test_ticks_reach_back_to_what_happened_before_a_query_was_registered() -> None:
    """The other stream is silent, so that no tick was due yet."""
    engine = QueryEngine()
    both = "FROM STREAM ex:s [RANGE 10ms STEP 10ms] FROM STREAM ex:t [RANGE 10ms STEP 10ms]"
    text = f"{PREFIX} REGISTER QUERY {{}} AS SELECT ?v {both} {{{{ ?s ex:v ?v }}}}"
    first = engine.register(text.format("first"))
    for at in (5, 25):
        engine.push("http://e/s", fact(at), at)
    late = engine.register(text.format("late"))
    engine.finish()
    found = [[(each.tick, len(each)) for each in query] for query in (first, late)]
    assert found == [[(10, 1), (20, 0), (30, 1)]] * 2


def test_a_query_of_changes_registered_late_tells_first_what_there_is() -> None:
    """Also if nothing changes any more, and if SPARQL is asked for it at every tick."""
    engine = QueryEngine()
    asked = csparql("RANGE 90ms STEP 10ms")
    engine.register(f"{PREFIX} REGISTER ISTREAM first AS {asked}")
    engine.push("http://e/s", fact(1), 5)
    engine.advance(20)
    late = engine.register(f"{PREFIX} REGISTER ISTREAM late AS {asked} LIMIT 5")
    engine.advance(60)
    assert [(each.tick, len(each)) for each in late] == [(30, 1)]
