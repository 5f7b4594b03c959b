"""Continuous queries answer what rdflib answers on the window content that the definitions give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st
from tests.properties.query_cases import (
    ASK_NOTHING,
    CASES,
    RULES,
    Case,
    G,
    cases,
    changed,
    check,
    opened,
    pushed,
    shuffled,
    tell,
    terms,
    told,
    wider,
)

from ebbtide.languages.rspql import ContinuousQuery, StreamWindow, TimeWindow
from ebbtide.program import Fact
from ebbtide.queries import Answers
from ebbtide.queries.answers import Row, difference
from ebbtide.testing.query_oracle import answers, comparable, dataset_at, in_time_window


@given(CASES, st.booleans())
def test_answers_are_those_of_rdflib_on_the_oracle_s_windows(case: Case, lazy: bool) -> None:
    engine = opened(case, lazy=lazy)
    query = engine.register(case.query)
    pushed(engine, case)
    engine.finish()
    check(case, list(query))


@given(
    cases(has_retractions=False),
    st.sampled_from(["content-change", "non-empty", "content-change,non-empty"]),
    st.one_of(st.just(-1), st.integers(0, 24)),
)
def test_report_policies_are_about_what_the_windows_hold(
    case: Case, policy: str, registered: int
) -> None:
    engine = opened(case)
    every = engine.register(case.query)
    pushed(engine, case, up_to=registered)
    list(every)
    some = engine.register(changed(case.query, name="some"), report=policy)
    pushed(engine, case, after=registered)
    engine.finish()
    before: list[Any] | None = None
    expected = []
    for tick in (each.tick for each in every):
        held = [holding(each, case.streams[each.stream], tick) for each in case.query.streams]
        changes = before is None or held != before
        if (changes or "change" not in policy) and (any(held) or "empty" not in policy):
            expected.append(tick)
        before = held
    assert [each.tick for each in some] == expected


def holding(window: StreamWindow, events: Sequence[tuple[Fact, int]], tick: int) -> Any:
    """What tells the content of a window from another one, and is true unless it is empty."""
    if isinstance(window.window, TimeWindow):
        return set(in_time_window(window.window, events, tick, 0))
    # A window of the last facts is another one whenever it takes some in.
    return len({each for each in events if each[1] <= tick}) // window.window.step


def moves_at_every_instant(query: ContinuousQuery) -> ContinuousQuery:
    """The same query, asked at every instant, so that no window is looked at between its closes."""
    streams = tuple(
        replace(each, window=replace(each.window, step=1))
        if isinstance(each.window, TimeWindow)
        else each
        for each in query.streams
    )
    return replace(query, streams=streams, every=1)


@given(cases(has_retractions=False))
def test_until_is_when_an_answer_is_gone_if_nothing_more_happens(case: Case) -> None:
    case.query = moves_at_every_instant(case.query)
    engine = opened(case)
    query = engine.register(case.query)
    pushed(engine, case)
    engine.finish()
    is_monotone = case.rules != "negation" and not re.search(
        r"OPTIONAL|MINUS|NOT EXISTS|GROUP BY|COUNT", case.query.text
    )
    for each in list(query)[::5]:
        if each.until is None or each.form != "select":
            continue
        lag = 1 if "[)" in repr(case.query.streams) else 0
        past = {
            stream: [(fact, at) for fact, at in events if at <= each.tick - lag]
            for stream, events in case.streams.items()
        }
        statics = {None: case.background, G: case.graph}
        ends = list(zip(terms(each), each.until, strict=True))
        for later in (each.tick + 1, each.tick + 3, each.tick + 8, each.tick + 14):
            graphs = dataset_at(case.query, RULES[case.rules], statics, past, later)
            held = comparable(row for row, until in ends if until > later)
            found = answers(case.query, graphs)
            note(f"{each.tick}, {later}: {case.query.text}\n{ends}")
            assert not Counter(held) - Counter(found)
            assert held == found or not is_monotone


@given(st.lists(CASES, min_size=2, max_size=4))
def test_queries_that_share_a_view_do_not_disturb_each_other(cases: list[Case]) -> None:
    first = cases[0]
    together = opened(first)
    alone, handles = [], []
    for number, case in enumerate(cases):
        query = changed(case.query, name=f"q{number}")
        single = opened(first)
        handle = single.register(query)
        pushed(single, first)
        single.finish()
        alone.append([(each.tick, told(each)) for each in handle])
        handles.append(together.register(query))
    pushed(together, first)
    together.finish()
    for handle, expected in zip(handles, alone, strict=True):
        found = [(each.tick, told(each)) for each in handle]
        assert found[: len(expected)] == expected


@given(CASES)
def test_what_comes_and_goes_is_the_difference_of_two_ticks(case: Case) -> None:
    # The nodes of a template are labelled by the name of the query, of which an engine has one.
    is_shared = "_:" not in case.query.text
    shared = opened(case)
    handles = {}
    for emits in ("RStream", "IStream", "DStream"):
        name, engine = (emits, shared) if is_shared else ("q", opened(case))
        handles[emits] = engine.register(changed(case.query, name=name, emits=emits))
        if not is_shared:
            pushed(engine, case)
            engine.finish()
    pushed(shared, case)
    shared.finish()
    came = {each.tick: each for each in handles["IStream"]}
    went = {each.tick: each for each in handles["DStream"]}
    before: tuple[Row, ...] = ()
    for each in handles["RStream"]:
        for changes, op, expected in (
            (came, "+", difference(each.rows, before)),
            (went, "-", difference(before, each.rows)),
        ):
            found = changes.pop(each.tick, None)
            assert found is None or found.op == op
            assert sorted(found.rows if found else (), key=str) == sorted(expected, key=str)
        before = each.rows
    assert not came
    assert not went


@given(CASES, st.integers(0, 24))
def test_a_query_registered_late_sees_what_another_one_kept(case: Case, registered: int) -> None:
    whole = opened(case)
    early = whole.register(case.query)
    pushed(whole, case)
    whole.finish()
    expected = {each.tick: told(each) for each in early}

    engine = opened(case)
    keeper = engine.register(changed(case.query, name="keeper", text="ASK {}", algebra=ASK_NOTHING))
    pushed(engine, case, up_to=registered)
    late = engine.register(case.query)
    pushed(engine, case, after=registered)
    keeper.drop()
    engine.finish()
    for each in late:
        assert told(each) == expected[each.tick]


@given(CASES, st.randoms(use_true_random=False), st.integers(1, 8))
def test_answers_do_not_depend_on_order_batches_or_repetition(
    case: Case, random: Random, lateness: int
) -> None:
    """Each fact comes up to `lateness` late, some come twice, alone or as graphs."""
    in_order = opened(case)
    expected = in_order.register(case.query)
    pushed(in_order, case)
    in_order.finish()

    engine = opened(case, lateness=lateness)
    query = engine.register(case.query)
    for stream, fact, at in shuffled(case, random, lateness):
        tell(engine, stream, fact if stream is None else random.choice([fact, [fact]]), at)
    engine.finish()
    assert engine.late == 0
    assert {each.tick: told(each) for each in query} == {each.tick: told(each) for each in expected}


LIVES = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from(["pause", "resume", "drop", "register"])),
    max_size=5,
)


@given(CASES, st.randoms(use_true_random=False), st.integers(0, 8), LIVES)
def test_queries_that_come_pause_and_go_are_answered_by_the_oracle_s_windows(
    case: Case, random: Random, lateness: int, lives: list[tuple[int, str]]
) -> None:
    """Out of order, with retractions; somebody else keeps the view."""
    engine = opened(case, lateness=lateness)
    engine.register(changed(case.query, name="keeper", text="ASK {}", algebra=ASK_NOTHING))
    reported: list[Answers] = []
    handles = [engine.register(case.query)]
    handles[0].subscribe(reported.append)
    events = shuffled(case, random, lateness)
    for number, (stream, fact, at) in enumerate(events):
        for _, what in [each for each in lives if each[0] == number]:
            match what:
                case "pause" | "resume":
                    getattr(handles[-1], what)()
                case "drop":
                    handles[-1].drop()
                case "register" if handles[-1].state == "dropped":
                    handles.append(engine.register(case.query))
                    handles[-1].subscribe(reported.append)
        tell(engine, stream, fact, at)
    engine.finish()
    assert engine.late == 0
    check(case, reported)


@given(CASES, st.integers(0, 24), st.integers(0, 9), st.sampled_from(["IStream", "DStream"]))
def test_a_wider_query_that_comes_and_goes_is_not_noticed(
    case: Case, registered: int, by: int, emits: Any
) -> None:
    told_alone, told_together = (
        [(each.tick, told(each)) for each in _changes(case, emits, registered, by, others)]
        for others in (False, True)
    )
    # The wider one's ticks may be others, and so may the last one be that all facts need.
    known = dict(told_alone)
    assert {tick: rows for tick, rows in told_together if tick in known} == known


def _changes(case: Case, emits: Any, registered: int, by: int, others: bool) -> list[Answers]:
    engine = opened(case)
    query = engine.register(changed(case.query, emits=emits))
    pushed(engine, case, up_to=registered)
    other = engine.register(wider(case.query, by)) if others else None
    pushed(engine, case, after=registered, up_to=registered + 8)
    if other is not None:
        other.drop()
    pushed(engine, case, after=registered + 8)
    engine.finish()
    return list(query)


@given(CASES)
def test_retraction_is_the_same_both_ways(case: Case) -> None:
    reported = []
    for is_new in (True, False):
        engine = opened(case, incremental=is_new, lazy=is_new)
        query = engine.register(case.query)
        pushed(engine, case)
        engine.finish()
        reported.append([(each.tick, told(each)) for each in query])
    assert reported[0] == reported[1]
