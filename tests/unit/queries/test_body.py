"""SPARQL 1.1 in the body of a continuous query, over rules and timestamps."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.queries.small import CHAIN, PREFIX, WINDOW, P, S, last, node, run

from ebbtide.queries import QueryEngine
from ebbtide.terms import IRI, Literal


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
