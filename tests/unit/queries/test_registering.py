"""Queries that come, feed each other, rest and go, while the stream runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.queries.small import PREFIX, WINDOW, P, S, node

from ebbtide.program import ProgramError
from ebbtide.queries import Answers, QueryEngine


@pytest.mark.parametrize("producer_first", [True, False])
def test_a_query_feeds_another_one(producer_first: bool) -> None:
    producer = f"""{PREFIX} REGISTER STREAM pairs AS CONSTRUCT {{ ?o ex:of ?s }} {WINDOW}
        {{ ?s ex:p ?o }}"""
    reader = f"""{PREFIX} REGISTER QUERY count AS SELECT (COUNT(*) AS ?n)
        FROM STREAM <pairs> [RANGE 20ms STEP 10ms] {{ ?s ex:of ?o }}"""
    engine = QueryEngine()
    for text in (producer, reader) if producer_first else (reader, producer):
        engine.register(text)
    (count,) = (query for query in engine.queries if query.name == "count")
    for at in (1, 11, 21):
        engine.push(S, (node(at), P, node("x")), at)
    engine.finish()
    assert [(each.tick, each.bindings[0]["n"]) for each in count] == [(10, 1), (20, 2), (30, 2)]


def test_nobody_waits_for_a_stream_whose_producer_was_dropped() -> None:
    engine = QueryEngine()
    pairs = f"REGISTER STREAM pairs AS CONSTRUCT {{ ?o ex:of ?s }} {WINDOW} {{ ?s ex:p ?o }}"
    producer = engine.register(f"{PREFIX} {pairs}")
    text = "REGISTER QUERY count AS SELECT ?s FROM STREAM <pairs> [RANGE 20ms STEP 10ms]"
    count = engine.register(f"{PREFIX} {text} {{ ?s ex:of ?o }}")
    other = engine.register(f"{PREFIX} REGISTER QUERY other AS SELECT ?s {WINDOW} {{ ?s ?p ?o }}")

    def push(*instants: int) -> list[list[tuple[int, int]]]:
        for at in instants:
            engine.push(S, (node(at), P, node("x")), at)
        return [[(each.tick, len(each)) for each in query] for query in (count, other)]

    assert push(1, 11) == [[(10, 1)], [(10, 1)]]
    producer.drop()
    assert push(21, 31) == [[(20, 1), (30, 0)], [(20, 1), (30, 1)]]
    # Now it has a clock of its own, and is waited for.
    engine.push("ebbtide:/pairs", (node("x"), node("of"), node("y")), 35)
    assert push(51) == [[], []]
    engine.heartbeat(41, "ebbtide:/pairs")
    assert push() == [[(40, 1)], [(40, 1)]]


def test_queries_that_feed_each_other_in_a_circle_are_refused() -> None:
    engine = QueryEngine()
    text = """REGISTER STREAM {} AS CONSTRUCT {{ ?s ?p ?o }}
        FROM STREAM <{}> [RANGE 1s STEP 1s] {{ ?s ?p ?o }}"""
    engine.register(text.format("one", "two"))
    engine.register(text.format("two", "three"))
    with pytest.raises(ProgramError, match="circle: one <- two <- three <- one"):
        engine.register(text.format("three", "one"))
    assert [query.name for query in engine.queries] == ["one", "two"]


@pytest.mark.parametrize("wrong", [{"lateness": -1}, {"t0": 0.5}])
def test_settings_that_are_none(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"must not be negative|not an instant"):
        QueryEngine(**wrong)


def test_a_name_is_taken_once() -> None:
    engine = QueryEngine()
    text = f"{PREFIX} REGISTER QUERY q AS SELECT ?s {WINDOW} {{ ?s ?p ?o }}"
    first = engine.register(text)
    with pytest.raises(ProgramError, match="a query q already"):
        engine.register(text)
    first.drop()
    assert engine.register(text).state == "running"
    assert first.state == "dropped"


def test_pause_and_resume() -> None:
    engine = QueryEngine()
    query = engine.register(
        f"{PREFIX} SELECT ?s FROM STREAM ex:s [RANGE 30ms STEP 10ms] {{ ?s ?p ?o }}"
    )
    engine.push(S, (node(1), P, 1), 1)
    engine.advance(10)
    query.pause()
    engine.push(S, (node(2), P, 1), 11)
    engine.advance(20)
    query.resume()
    engine.advance(30)
    assert [(each.tick, len(each)) for each in query] == [(10, 1), (30, 2)]


@pytest.mark.parametrize("emits", ["ISTREAM", "DSTREAM"])
@pytest.mark.parametrize("company", [None, 0, 10, 20, 50])
@pytest.mark.parametrize("step", [10, 5])
@pytest.mark.parametrize(
    ("shown", "grouped"), [("?s ?o", ""), ("?s", ""), ("?s (COUNT(*) AS ?n)", "GROUP BY ?s")]
)
def test_changes_are_those_since_the_last_report(
    emits: str, company: int | None, step: int, shown: str, grouped: str
) -> None:
    """Whether the query rests, has its view to itself, or shares it with somebody who comes."""
    text = f"""{PREFIX} REGISTER {emits} q{{}} AS
        SELECT {shown} FROM STREAM ex:s [RANGE {{}}ms STEP {{}}ms]
        {{{{ ?s ex:p ?o }}}} {grouped}"""
    told = []
    for incremental in (True, False):
        engine = QueryEngine(incremental=incremental)
        query = engine.register(text.format("", 20, 10))
        others = []
        for at in range(0, 120, 10):
            if at == company:
                others = [engine.register(text.format(width, width, step)) for width in (40, 10)]
            if at == 90 and others:
                others[0].drop()
            if at in (40, 70):
                query.pause()
            if at in (60, 80):
                query.resume()
            engine.push(S, [(node(at % 30), P, at % 50), (node("x"), P, at % 40)], at + 5)
        engine.finish()
        told.append([(each.tick, sorted(map(str, each.rows))) for each in query])
    assert told[0] == told[1]
    assert len(told[0]) >= 5


@pytest.mark.parametrize("does", ["pause", "register 5", "register 10", "drop"])
def test_a_query_that_shares_a_view_may_rest_while_another_is_told(does: str) -> None:
    """The view is at the next tick already, when the query is still at the last one."""
    text = f"""{PREFIX} REGISTER ISTREAM q{{0}} AS SELECT ?s ?o
        FROM STREAM ex:s [RANGE {{0}}ms STEP {{1}}ms] {{{{ ?s ex:p ?o }}}}"""
    told = []
    for incremental in (True, False):
        engine = QueryEngine(incremental=incremental)
        first, query, other = (engine.register(text.format(width, 10)) for width in (30, 20, 25))
        acts: dict[str, Callable[[], object]] = {
            "pause": query.pause,
            "register 5": lambda engine=engine: engine.register(text.format(50, 5)),
            "register 10": lambda engine=engine: engine.register(text.format(50, 10)),
            "drop": other.drop,
        }

        def act(answers: Answers, acts: Any = acts, query: Any = query) -> None:
            if answers.tick == 30:
                acts[does]()
            elif answers.tick == 60:
                query.resume()

        first.subscribe(act)
        for at in range(0, 100, 10):
            engine.push(S, [(node(at % 30), P, 1), (node(at), P, 2), (node("x"), P, 3)], at + 5)
        engine.finish()
        told.append([(each.tick, sorted(map(str, each.rows))) for each in query])
    assert told[0] == told[1]
    assert len(told[0]) > 5


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("emits", ["QUERY", "ISTREAM"])
def test_memory_is_flat_over_a_long_stream_of_new_terms(emits: str, alone: bool) -> None:
    engine = QueryEngine(report="content-change")
    text = f"""{PREFIX} REGISTER {emits} ex:q{{}} AS
        SELECT ?s ?z FROM STREAM ex:s [RANGE 20ms STEP 10ms] {{{{ ?s ex:p ?o . ?s ex:q ?z }}}}"""
    query = engine.register(text.format(""))
    query.subscribe(len)
    if not alone:
        engine.register(text.format("2")).subscribe(len)
    sizes = []
    for paused in (False, True):
        if paused:
            query.pause()
        for at in range(5_000 * paused, 5_000 * (paused + 1)):
            engine.push(S, [(node(at), P, 1), (node(at), node("q"), 2)], at)
        (view,) = engine._views
        stats = view.engine.stats()  # type: ignore[union-attr]
        sizes.append((stats["terms"], stats["waiting"], stats["facts"]))
        upper = engine._tasks[query].upper
        if emits == "ISTREAM" and not alone:
            assert upper is not None
            assert upper.engine is not None
            stats = upper.engine.stats()
            sizes.append((stats["terms"], stats["waiting"], stats["facts"]))
    assert all(size < 500 for sizes_then in sizes for size in sizes_then)


def test_a_wider_query_registered_later_keeps_what_is_still_there() -> None:
    engine = QueryEngine()
    text = """PREFIX ex: <http://e/> REGISTER QUERY q{0} AS
        SELECT ?s FROM STREAM ex:s [RANGE {0}ms STEP 10ms] {{ ?s ?p ?o }}"""
    narrow = engine.register(text.format(20))
    for at in (1, 11, 21):
        engine.push(S, (node(at), P, 1), at)
    wide = engine.register(text.format(40))
    engine.push(S, (node(31), P, 1), 31)
    engine.advance(40)
    assert {each.tick: len(each) for each in narrow} == {10: 1, 20: 2, 30: 2, 40: 2}
    # At 20, the narrow one held what had happened from 1 on.
    assert {each.tick: len(each) for each in wide} == {30: 3, 40: 4}


def test_a_graph_is_pushed_at_one_instant() -> None:
    engine = QueryEngine()
    query = engine.register(f"{PREFIX} SELECT ?s {WINDOW} {{ ?s ?p ?o }}")
    engine.push(S, [(node("a"), P, 1), (node("b"), P, 2)], 5)
    engine.finish()
    assert [len(each) for each in query] == [2]


def test_tables_are_pushed_at_once() -> None:
    import pyarrow as pa

    engine = QueryEngine(t0=0)
    query = engine.register(f"{PREFIX} SELECT ?s {WINDOW} {{ ?s ?p ?o }}")
    rows = {"t": [-3, 5, 7, 15], "s": [node(n) for n in range(4)], "p": [P] * 4, "o": [node(9)] * 4}
    engine.push_all(S, pa.table(rows))
    engine.push_all(S, pa.table({name: column[1:2] for name, column in rows.items()}))
    engine.finish()
    assert [(each.tick, len(each)) for each in query] == [(0, 0), (10, 2), (20, 1)]
    assert engine.late == 1
