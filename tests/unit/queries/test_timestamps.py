"""When the triples that a query sees happened."""

from __future__ import annotations

from typing import Any

from tests.unit.queries.seen import PREFIX, fact

from ebbtide.queries import QueryEngine

STAMPED = """PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>
    REGISTER QUERY q {every} AS SELECT ?v ?at {sources}
    WHERE {{ {body} BIND(f:timestamp(?s, ex:v, ?v) AS ?at) }}"""


def stamps(
    sources: str,
    events: list[tuple[int, int]],
    body: str = "?s ex:v ?v",
    every: str = "",
    **more: Any,
) -> dict[int, dict[int, int | None]]:
    """When the query says that each value happened; values above 10 are on the stream t."""
    engine = QueryEngine(**more)
    text = STAMPED.format(sources=sources, body=body, every=every)
    query = engine.register(PREFIX + text)
    for at, value in events:
        stream, value = ("t", value - 10) if value > 10 else ("s", value)
        engine.push(f"http://e/{stream}", fact(value), at)
    engine.finish()
    return {each.tick: {row["v"]: row.get("at") for row in each.bindings} for each in query}


def test_timestamps_are_when_triples_happened() -> None:
    events = [(1, 1), (3, 2), (7, 1), (14, 3)]
    assert stamps("FROM STREAM ex:s [RANGE 10ms STEP 5ms]", events) == {
        5: {1: 1, 2: 3},
        10: {1: 7, 2: 3},
        15: {1: 7, 3: 14},
    }


def test_timestamps_in_windows_of_different_ranges() -> None:
    #       0    5    10   15
    #     s  1      1
    #     t    1           2
    events = [(1, 1), (3, 11), (7, 1), (8, 12), (14, 3), (14, 13)]
    sources = "FROM STREAM ex:s [RANGE 5ms STEP 5ms] FROM STREAM ex:t [RANGE 20ms STEP 5ms]"
    assert stamps(sources, events) == {
        5: {1: 3},
        10: {1: 7, 2: 8},
        15: {1: 3, 2: 8, 3: 14},
    }


def test_timestamps_in_windows_that_are_looked_at_between_their_closes() -> None:
    events = [(1, 1), (5, 2), (7, 1), (12, 3)]
    found = stamps("FROM STREAM ex:s [RANGE 12ms STEP 6ms]", events, every="COMPUTE EVERY 3ms")
    assert found == {
        3: {},
        6: {1: 1, 2: 5},
        9: {1: 1, 2: 5},
        12: {1: 7, 2: 5, 3: 12},
    }


def test_an_inferred_triple_happened_when_the_oldest_fact_it_rests_on_did() -> None:
    rules = "[r: (?x <http://e/v> ?v), (?y <http://e/v> 9) -> (?y <http://e/v> ?v)]"
    sources = "FROM STREAM ex:s [RANGE 10ms STEP 5ms] FROM STREAM ex:t [RANGE 4ms STEP 5ms]"
    events = [(1, 9), (3, 1), (4, 12), (9, 12), (10, 1)]
    found = stamps(
        sources, events, "<http://e/s9> ex:v ?v . BIND(<http://e/s9> AS ?s)", rules=rules
    )
    assert found == {5: {9: 1, 1: 1, 2: 1}, 10: {9: 1, 1: 1, 2: 1}}


def test_timestamps_in_windows_with_names() -> None:
    sources = """FROM NAMED WINDOW ex:w ON ex:s [RANGE PT0.005S STEP PT0.005S]
        FROM NAMED WINDOW ex:u ON ex:t [RANGE PT0.02S STEP PT0.005S]"""
    events = [(1, 1), (3, 11), (8, 12), (12, 1), (14, 13)]
    assert stamps(
        sources, events, "{ WINDOW ex:w { ?s ex:v ?v } } UNION { WINDOW ex:u { ?s ex:v ?v } }"
    ) == {
        5: {1: 3},
        10: {1: 3, 2: 8},
        15: {1: 12, 2: 8, 3: 14},
    }


def test_timestamps_forget_what_was_retracted() -> None:
    engine = QueryEngine()
    sources = "FROM STREAM ex:s [RANGE 5ms STEP 5ms] FROM STREAM ex:t [RANGE 20ms STEP 5ms]"
    query = engine.register(PREFIX + STAMPED.format(sources=sources, body="?s ex:v ?v", every=""))
    engine.push("http://e/t", fact(1), 3)
    engine.push("http://e/s", fact(1), 4)
    engine.retract(fact(1), 6)
    engine.push("http://e/t", fact(1), 8)
    engine.finish()
    assert [(each.tick, each.bindings) for each in query] == [
        (5, [{"v": 1, "at": 4}]),
        (10, [{"v": 1, "at": 8}]),
    ]


def test_timestamps_in_count_windows_are_those_of_the_facts_they_hold() -> None:
    events = [(1, 1), (2, 2), (4, 1), (1_000_000, 3)]
    assert stamps("FROM STREAM ex:s [RANGE TRIPLES 3]", events) == {
        1: {1: 1},
        2: {1: 1, 2: 2},
        4: {1: 4, 2: 2},
        1_000_000: {1: 4, 2: 2, 3: 1_000_000},
    }
    assert stamps("FROM STREAM ex:s [RANGE TRIPLES 2 STEP 2]", events) == {
        2: {1: 1, 2: 2},
        1_000_000: {1: 4, 3: 1_000_000},
    }


def test_timestamps_in_count_windows_beside_windows_of_time() -> None:
    sources = "FROM STREAM ex:s [RANGE TRIPLES 1] FROM STREAM ex:t [RANGE 10ms STEP 5ms]"
    events = [(1, 1), (3, 11), (4, 2), (8, 12), (14, 13)]
    assert stamps(sources, events) == {5: {1: 3, 2: 4}, 10: {1: 3, 2: 8}, 15: {2: 8, 3: 14}}


def test_timestamps_in_count_windows_forget_what_was_retracted() -> None:
    engine = QueryEngine()
    sources = "FROM STREAM ex:s [RANGE TRIPLES 2]"
    query = engine.register(PREFIX + STAMPED.format(sources=sources, body="?s ex:v ?v", every=""))
    for at, value in ((1, 1), (2, 2)):
        engine.push("http://e/s", fact(value), at)
    engine.retract(fact(1), 3)
    engine.push("http://e/s", fact(3), 5)
    engine.push("http://e/s", fact(1), 6)
    engine.finish()
    found = [{row["v"]: row["at"] for row in each.bindings} for each in query]
    assert found == [{1: 1}, {1: 1, 2: 2}, {2: 2}, {2: 2, 3: 5}, {3: 5, 1: 6}]


def test_timestamps_of_literals_of_any_form() -> None:
    """Functions are given values; the form in which they were stated does not matter."""
    xsd = "http://www.w3.org/2001/XMLSchema#"
    forms = [("20.0", "double"), ("7", "int"), ("21.50", "decimal"), ("01", "integer")]
    engine = QueryEngine()
    source = "FROM STREAM ex:s [RANGE 10ms STEP 5ms]"
    query = engine.register(PREFIX + STAMPED.format(sources=source, body="?s ex:v ?v", every=""))
    for number, (lexical, kind) in enumerate(forms):
        value = f'"{lexical}"^^<{xsd}{kind}>'
        engine.push("http://e/s", (f"<http://e/{number}>", "<http://e/v>", value), 3)
    engine.finish()
    (answers,) = query
    assert [row["at"] for row in answers.bindings] == [3] * len(forms)


def test_timestamps_of_what_no_pattern_asks_for() -> None:
    rules = "[r: (?s <http://e/v> ?v) -> (?s <http://e/w> ?v)]"
    text = """PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>
    REGISTER QUERY q AS SELECT (f:timestamp(?s, ex:w, ?v) AS ?at)
    FROM STREAM ex:s [RANGE 10ms STEP 5ms] WHERE { ?s ex:v ?v }"""
    engine = QueryEngine(rules)
    query = engine.register(PREFIX + text)
    engine.push("http://e/s", fact(1), 3)
    engine.finish()
    assert [row["at"] for answers in query for row in answers.bindings] == [3]
