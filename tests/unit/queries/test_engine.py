"""The query engine at work: registering, networks, streams of answers, typed values, sources."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from ebbtide.program import ProgramError
from ebbtide.queries import Answers, QueryEngine
from ebbtide.queries.sources import SourceError, timed_source
from ebbtide.terms import IRI, BlankNode, Literal
from ebbtide.time import FOREVER

PREFIX = "PREFIX ex: <http://e/> "
S = "http://e/s"
P = "<http://e/p>"


def node(name: object) -> str:
    return f"<http://e/{name}>"


def run(
    text: str, events: list[tuple[int, tuple[Any, Any, Any]]], *rules: str, **settings: Any
) -> list[Answers]:
    engine = QueryEngine(*rules, **settings)
    query = engine.register(PREFIX + text)
    for at, fact in events:
        engine.push(S, fact, at)
    engine.finish()
    return list(query)


WINDOW = "FROM STREAM ex:s [RANGE 10ms STEP 10ms]"


def last(body: str, events: list[tuple[int, tuple[Any, Any, Any]]], *rules: str) -> list[Any]:
    """The rows of the last answers, as values."""
    *_, answers = run(body, events, *rules)
    return sorted((tuple(row.values()) for row in answers.bindings), key=repr)


CHAIN = [(1, (node("a"), P, node("b"))), (2, (node("b"), P, node("c"))), (3, (node("a"), P, 7))]


# ---- SPARQL 1.1 in the body ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (f"SELECT (COUNT(*) AS ?n) {WINDOW} {{ ?s ?p ?o }}", [(3,)]),
        (f"SELECT ?s (COUNT(?o) AS ?n) {WINDOW} {{ ?s ?p ?o }} GROUP BY ?s HAVING(?n > 1)", None),
        (
            f"SELECT ?o {WINDOW} {{ ex:a ex:p+ ?o }}",
            [(7,), (IRI("http://e/b"),), (IRI("http://e/c"),)],
        ),
        (f"SELECT ?s {WINDOW} {{ ?s ex:p ?o OPTIONAL {{ ?o ex:p ?z }} FILTER(!BOUND(?z)) }}", None),
        (f"SELECT ?s {WINDOW} {{ ?s ex:p ?o MINUS {{ ?s ex:p 7 }} }}", [(IRI("http://e/b"),)]),
        (f"SELECT (STRLEN(STR(?s)) AS ?n) {WINDOW} {{ ?s ex:p 7 }}", [(10,)]),
        (
            f"SELECT ?n {WINDOW} {{ {{ SELECT (MAX(?o) AS ?n) {{ ?s ?p ?o FILTER(?o > 1) }} }} }}",
            [(7,)],
        ),
        (f"SELECT (AVG(?o) AS ?n) {WINDOW} {{ ?s ex:p ?o FILTER(isNumeric(?o)) }}", [(7,)]),
        (f"SELECT ?o {WINDOW} {{ ?s ex:p ?o }} ORDER BY ?o LIMIT 1", [(IRI("http://e/b"),)]),
        (f"SELECT ?s {WINDOW} {{ VALUES ?s {{ ex:a ex:z }} ?s ex:p 7 }}", [(IRI("http://e/a"),)]),
        (
            f"SELECT (NOW() AS ?n) {WINDOW} {{ ?s ex:p 7 }}",
            [(datetime(1970, 1, 1, 0, 0, 0, 10_000, UTC),)],
        ),
        (f"SELECT (COUNT(DISTINCT ?s) AS ?n) {WINDOW} {{ ?s ?p ?o }}", [(2,)]),
        (
            f"SELECT (GROUP_CONCAT(STR(?o); SEPARATOR='|') AS ?n) {WINDOW} {{ ex:b ?p ?o }}",
            [("http://e/c",)],
        ),
        (f"SELECT (SUM(?o) AS ?n) {WINDOW} {{ ?s ex:nothing ?o }}", [(0,)]),
        (f"SELECT (COUNT(?o) AS ?n) (MIN(?o) AS ?m) {WINDOW} {{ ?s ex:nothing ?o }}", [(0,)]),
    ],
)
def test_the_body_is_sparql(body: str, rows: list[Any] | None) -> None:
    if rows is not None:
        assert last(body, CHAIN) == rows
    else:
        assert run(body, CHAIN)


@pytest.mark.parametrize("incremental", [True, False])
def test_a_path_counts_once_a_branch(incremental: bool) -> None:
    events = [(1, (node("a"), P, node("a"))), (1, (node("a"), node("q"), node("a")))]
    body = "?x ex:p|ex:q ?x . { SELECT ?x (COUNT(*) AS ?n) { ?x ex:p ?w } GROUP BY ?x }"
    (answers,) = run(f"SELECT ?x {WINDOW} {{ {body} }}", events, incremental=incremental)
    assert len(answers) == 2


def test_dates_and_durations() -> None:
    since = '"2020-01-01T00:00:00Z"^^xsd:dateTime'
    body = f"""SELECT ?x {WINDOW}
        {{ ?x ex:due ?t FILTER(?t - {since} >= "PT30M"^^xsd:duration) }}"""
    events = [
        (1, (node("a"), node("due"), datetime(2020, 1, 1, 0, 45, tzinfo=UTC))),
        (2, (node("b"), node("due"), datetime(2020, 1, 1, 0, 15, tzinfo=UTC))),
    ]
    assert last(body, events) == [(IRI("http://e/a"),)]


def test_timestamps() -> None:
    body = f"""PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>
        SELECT ?o (f:timestamp(?s, ex:p, ?o) AS ?t) {WINDOW} {{ ?s ex:p ?o }}"""
    assert last(body, CHAIN) == [(7, 3), (IRI("http://e/b"), 1), (IRI("http://e/c"), 2)]


def test_rules_of_the_engine_and_of_a_query() -> None:
    rule = f"[t: (?x {P} ?y), (?y {P} ?z) -> (?x {P} ?z)]"
    body = f"SELECT (COUNT(*) AS ?n) {WINDOW} {{ ?s ex:p ?o }}"
    assert last(body, CHAIN, rule) == [(4,)]
    engine = QueryEngine()
    own = engine.register(PREFIX + body, rules=rule)
    for at, fact in CHAIN:
        engine.push(S, fact, at)
    engine.finish()
    assert [answers.bindings for answers in own] == [[{"n": 4}]]


def test_figure_2_of_the_paper() -> None:
    text = """REGISTER QUERY TotalAmountPerBroker COMPUTE EVERY 1sec AS
        PREFIX ex: <http://example/>
        SELECT DISTINCT ?user ?type ?x
        FROM <http://mobileservice.org/meansOfTransportation.rdf>
        FROM STREAM <http://mobileservice.org/positions.trdf>
        [RANGE 10sec STEP 1sec]
        WHERE {
        ?user ex:isIn ?x .
        ?user a ex:Commuter .
        ?x a ?type .
        ?user ex:remainingTravelTime ?t .
        FILTER (?t >= "PT30M"^^xsd:duration )
        }"""
    ex, a = "http://example/", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    ann, train, city = (f"<{ex}{name}>" for name in ("ann", "train", "city"))
    duration = Literal("PT45M", "http://www.w3.org/2001/XMLSchema#duration")
    engine = QueryEngine(
        f"[t: (?x <{ex}isIn> ?y), (?y <{ex}isIn> ?z) -> (?x <{ex}isIn> ?z)]",
        graphs={
            "http://mobileservice.org/meansOfTransportation.rdf": [
                (ann, a, f"<{ex}Commuter>"),
                (train, a, f"<{ex}Train>"),
                (city, a, f"<{ex}City>"),
            ]
        },
    )
    query = engine.register(text)
    stream = "http://mobileservice.org/positions.trdf"
    engine.push(stream, (ann, f"<{ex}isIn>", train), 500)
    engine.push(stream, (ann, f"<{ex}remainingTravelTime>", duration), 700)
    engine.push(stream, (train, f"<{ex}isIn>", city), 1_500)
    engine.advance(11_000)
    places = {
        each.tick: sorted(row["x"].value.removeprefix(ex) for row in each.bindings)
        for each in query
    }
    assert places[1_000] == ["train"]
    assert places[2_000] == places[10_000] == ["city", "train"]
    assert places[11_000] == []


# ---- registering ---------------------------------------------------------------------------------


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


# ---- answers -------------------------------------------------------------------------------------


def test_callbacks_and_streams_of_changes() -> None:
    engine = QueryEngine()
    told: list[tuple[int, str | None, int]] = []
    for word in ("RSTREAM", "ISTREAM", "DSTREAM"):
        query = engine.register(
            f"""{PREFIX} REGISTER {word} ex:{word} AS
            SELECT ?s FROM STREAM ex:s [RANGE 20ms STEP 10ms] {{ ?s ?p ?o }}"""
        )
        query.subscribe(lambda answers: told.append((answers.tick, answers.op, len(answers))))
    for at in (1, 11, 31):
        engine.push(S, (node(at), P, 1), at)
    assert told == [
        (10, None, 1),
        (10, "+", 1),
        (20, None, 2),
        (20, "+", 1),
        (30, None, 1),
        (30, "-", 1),
    ]


def test_answers_are_typed() -> None:
    values = [7, Decimal("2.5"), datetime(2020, 1, 1, tzinfo=UTC), "_:b", node("x"), True, "word"]
    events = [(1, (node(place), P, value)) for place, value in enumerate(values)]
    (answers,) = run(f"SELECT ?s ?o {WINDOW} {{ ?s ex:p ?o }} ORDER BY ?s", events)
    found = [row["o"] for row in answers.bindings]
    assert found == [*values[:3], BlankNode("b"), IRI("http://e/x"), True, "word"]


def test_frames() -> None:
    events = [(1, (node("a"), P, 1)), (2, (node("b"), P, 2))]
    (answers,) = run(f"SELECT ?s ?o {WINDOW} {{ ?s ex:p ?o }} ORDER BY ?o", events)
    table = answers.to_arrow()
    assert table["o"].to_pylist() == [1, 2]
    assert table["s"].to_pylist() == [node("a"), node("b")]
    assert list(answers.to_pandas().columns) == ["s", "o"]


def test_ask_and_describe() -> None:
    asked = run(f"ASK {WINDOW} {{ ?s ex:p 7 }}", CHAIN)
    assert [each.json() for each in asked] == [{"t": 10, "query": "query", "boolean": True}]
    (described,) = run(f"DESCRIBE ex:a {WINDOW}", CHAIN)
    assert sorted(described.json()["triples"]) == [
        '<http://e/a> <http://e/p> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        "<http://e/a> <http://e/p> <http://e/b> .",
    ]


def test_async_iteration() -> None:
    engine = QueryEngine()
    query = engine.register(f"{PREFIX} SELECT ?s {WINDOW} {{ ?s ?p ?o }}")

    async def feed() -> None:
        for at in (1, 11, 21):
            engine.push(S, (node(at), P, 1), at)
            await asyncio.sleep(0)
        engine.finish()

    async def ticks() -> list[int]:
        feeding = asyncio.create_task(feed())
        found = [answers.tick async for answers in query]
        await feeding
        return found

    assert asyncio.run(ticks()) == [10, 20, 30]


# ---- how it runs ---------------------------------------------------------------------------------


def test_queries_of_different_ranges_share_a_view() -> None:
    engine = QueryEngine()
    text = """PREFIX ex: <http://e/> REGISTER QUERY q{0} AS
        SELECT ?s FROM STREAM ex:s [RANGE {0}ms STEP 10ms] {{ ?s ?p ?o }}"""
    for length in (10, 50, 30):
        engine.register(text.format(length))
    assert len(engine._views) == 1
    assert "kept for 50 ms, shared with 2 other windows" in engine.queries[0].explain()


def test_groups_of_different_ranges_share_a_view() -> None:
    engine = QueryEngine()
    text = """PREFIX ex: <http://e/> REGISTER QUERY q{0} AS
        SELECT ?k (COUNT(*) AS ?n) (SUM(?v) AS ?sum) (COUNT(DISTINCT ?v) AS ?different)
        FROM STREAM ex:s [RANGE {0}ms STEP 10ms] {{ ?s ex:p ?k . ?s ex:v ?v }} GROUP BY ?k"""
    queries = {length: engine.register(text.format(length)) for length in (10, 30)}
    for at in (1, 11, 21):
        engine.push(S, [(node(at), P, node("k")), (node(at), node("v"), at % 20)], at)
    engine.finish()
    last = {length: list(query)[-1].bindings for length, query in queries.items()}
    kind = IRI("http://e/k")
    assert last == {
        10: [{"k": kind, "n": 1, "sum": 1, "different": 1}],
        30: [{"k": kind, "n": 3, "sum": 13, "different": 2}],
    }
    assert "incremental, the whole query" in queries[10].explain()


@pytest.mark.parametrize(
    "body",
    [
        f"CONSTRUCT {{ ex:a ex:is ex:there }} {WINDOW} {{ ex:a ex:p ?o . ?o ex:p ex:nothing }}",
        f"SELECT ?s {WINDOW} {{ ?s ex:p 7 OPTIONAL {{ ex:x ex:p ex:y . ex:y ex:p ex:z }} }}",
        f"SELECT ?s {WINDOW} {{ ?s ex:p 7 MINUS {{ ?s ex:p ex:b . ex:y ex:p ex:z }} }}",
    ],
)
def test_parts_without_variables_are_asked_for(body: str) -> None:
    found = [
        [each.rows for each in run(body, CHAIN, incremental=incremental)]
        for incremental in (True, False)
    ]
    assert found[0] == found[1]


def test_explain_tells_rules_from_aggregates_from_sparql() -> None:
    engine = QueryEngine()

    def explained(body: str) -> str:
        query = engine.register(f"{PREFIX} {body}")
        lines = query.explain()
        query.drop()
        return lines

    whole = explained(f"SELECT ?s {WINDOW} {{ ?s ex:p ?o . ?o ex:p ?z FILTER(?z > 3) }}")
    assert "incremental, the whole query" in whole
    assert "sparqlFilter" in whole
    groups = explained(f"SELECT ?s (COUNT(*) AS ?n) {WINDOW} {{ ?s ex:p ?o }} GROUP BY ?s")
    assert "incremental, the whole query" in groups
    assert "in the view, which it has to itself:\n    count:" in groups
    assert "SPARQL" not in groups
    optional = explained(f"SELECT ?s {WINDOW} {{ ?s ex:p ?o OPTIONAL {{ ?o ex:p ?z }} }} LIMIT 1")
    assert "incremental, rules in the view, which it has to itself: " in optional
    assert "not answer:" in optional
    assert "at every tick, SPARQL on tables of these" in optional
    graphs = explained(
        "SELECT ?g ?s FROM NAMED WINDOW ex:w ON ex:s [RANGE PT1S STEP PT1S] "
        "FROM NAMED WINDOW ex:u ON ex:t [RANGE PT1S STEP PT1S] WHERE { GRAPH ?g { ?s ex:p ?o } }"
    )
    assert "incremental, the whole query" in graphs
    assert "SPARQL" not in graphs
    part = explained(f"SELECT (NOW() AS ?n) {WINDOW} {{ ?s ex:p ?o . ?o ex:p ?z }}")
    assert "incremental, rules in the view: ?s <http://e/p> ?o . ?o <http://e/p> ?z ." in part
    engine.register(f"{PREFIX} REGISTER QUERY other AS SELECT ?s {WINDOW} {{ ?s ex:p ?o }}")
    shared = explained(f"SELECT ?s (COUNT(*) AS ?n) {WINDOW} {{ ?s ex:p ?o }} GROUP BY ?s")
    assert "above the views:\n    count:" in shared
    came = explained(f"REGISTER ISTREAM came AS SELECT ?s ?o {WINDOW} {{ ?s ex:p ?o }}")
    assert "its answers are a relation, in a view" in came
    went = explained(f"REGISTER DSTREAM went AS SELECT ?s ?o {WINDOW} {{ ?s ex:p ?o }}")
    assert "its answers are a relation, above the views" in went
    none = explained(f"SELECT (NOW() AS ?n) {WINDOW} {{ ?s ex:p ?o }}")
    assert "at every tick, SPARQL on the facts of the views" in none


def test_answers_know_until_when_they_hold() -> None:
    engine = QueryEngine(background=[(node("k"), node("t"), 1)])
    text = f"{PREFIX} REGISTER {{}} AS SELECT {{}} FROM STREAM ex:s [RANGE {{}}ms STEP 10ms] {{}}"
    both = "{ ?s ex:p ?o . ?o ex:p ?z }"
    join = engine.register(text.format("QUERY a", "?s", 20, both))
    narrow = engine.register(text.format("QUERY b", "?s", 15, both))
    came = engine.register(text.format("ISTREAM c", "?s", 20, both))
    went = engine.register(text.format("DSTREAM d", "?s", 20, both))
    group = engine.register(text.format("QUERY e", "(COUNT(*) AS ?n)", 20, "{ ?s ex:p ?o }"))
    never = engine.register(text.format("QUERY f", "?s", 20, "{ ?s ex:t ?o }"))
    asked = engine.register(text.format("QUERY g", "?s", 20, "{ ?s ex:p ?o } ORDER BY ?s LIMIT 1"))
    engine.push(S, (node("x"), P, node("y")), 3)
    engine.push(S, (node("y"), P, node("z")), 7)
    engine.advance(30)
    ends = {
        query.name: [(each.tick, each.until) for each in query]
        for query in (join, narrow, came, went, group, never, asked)
    }
    assert ends["a"] == [(10, (23,)), (20, (23,)), (30, ())]
    assert ends["b"] == [(10, (18,)), (20, ()), (30, ())]
    assert ends["c"] == [(10, (23,))]
    assert ends["d"] == [(30, None)]
    assert ends["e"] == [(10, (23,)), (20, (23,)), (30, (FOREVER,))]
    assert ends["f"] == [(tick, (FOREVER,)) for tick in (10, 20, 30)]
    assert ends["g"] == [(tick, None) for tick in (10, 20, 30)]


def test_frames_have_ends() -> None:
    answers = Answers(10, "q", "select", ("x",), (("<http://e/a>",), ("<http://e/b>",)))
    assert answers.to_arrow(until=True)["until"].to_pylist() == [None, None]
    dated = dataclasses.replace(answers, until=(FOREVER, 25))
    assert dated.to_arrow(until=True)["until"].to_pylist() == [None, 25]
    assert dated.to_pandas(until=True)["until"].to_list()[1] == 25
    assert dated.json(until=True)["until"] == [None, 25]
    assert "until" not in dated.json()
    turned = dataclasses.replace(dated, rows=(("<http://e/b>",), ("<http://e/a>",)))
    assert turned.in_order().until == (25, FOREVER)


def test_a_view_shrinks_when_its_widest_query_is_dropped() -> None:
    engine = QueryEngine()
    text = (
        f"{PREFIX} REGISTER QUERY q{{0}} AS SELECT ?s FROM STREAM ex:s [RANGE {{0}}ms STEP 10ms] "
    )
    narrow, wide = (engine.register(text.format(size) + "{ ?s ?p ?o }") for size in (20, 100))
    for at in range(1, 95):
        engine.push(S, (node(at), P, 1), at)
    (view,) = engine._views
    facts = lambda: view.engine.stats()["facts"]  # type: ignore[union-attr]  # noqa: E731
    assert facts() > 150
    wide.drop()
    assert "kept for 20 ms" in narrow.explain()
    assert facts() < 50
    engine.finish()
    assert [(each.tick, len(each)) for each in narrow][-2:] == [(90, 20), (100, 14)]


# ---- sources -------------------------------------------------------------------------------------


def test_a_socket_is_a_source() -> None:
    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            for number in range(3):
                connection.sendall(f"{number}\t<a:s{number}> <a:p> <a:o> .\n".encode())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        sender = threading.Thread(target=serve, args=(listener,))
        sender.start()
        facts = timed_source(f"tcp://127.0.0.1:{listener.getsockname()[1]}")
        assert [fact.at for fact in facts] == [0, 1, 2]
        sender.join()


def test_sources_that_cannot_be_read() -> None:
    with pytest.raises(SourceError, match="not a socket"):
        next(timed_source("tcp://nowhere"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(SourceError, match="refused"):
        next(timed_source(f"tcp://127.0.0.1:{port}"))
