"""How queries run: what they share, what is asked anew at each tick, and what explain tells."""

from __future__ import annotations

import pytest
from tests.unit.queries.small import CHAIN, PREFIX, WINDOW, P, S, node, run

from ebbtide import builtin
from ebbtide.program import ProgramError
from ebbtide.queries import QueryEngine
from ebbtide.terms import IRI


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


def test_rules_with_builtins_of_users_are_planned() -> None:
    @builtin
    def is_large(number: float) -> bool:
        return number > 3

    engine = QueryEngine("[r: (?x <http://e/v> ?n), is_large(?n) -> (?x <http://e/q> ?n)]")
    query = engine.register(
        PREFIX
        + "REGISTER QUERY q AS SELECT ?x FROM STREAM ex:s [RANGE 9ms STEP 9ms] { ?x ex:q ?n }"
    )
    for number in (2, 5):
        engine.push(S, (node(number), node("v"), number), 1)
    engine.finish()
    assert [row["x"] for answers in query for row in answers.bindings] == [IRI("http://e/5")]


def test_a_term_that_is_chosen_is_the_one_that_was_stated() -> None:
    """COALESCE gives back a term, not its value: it is found again."""
    engine = QueryEngine()
    query = engine.register(
        PREFIX
        + """REGISTER QUERY q AS SELECT ?t FROM STREAM ex:s [RANGE 9ms STEP 9ms]
        { ?s ex:v ?v BIND(COALESCE(?v, 0) AS ?w) ?t ex:v ?w }"""
    )
    number = '"07"^^<http://www.w3.org/2001/XMLSchema#int>'
    engine.push(S, (node("a"), node("v"), number), 1)
    engine.finish()
    assert [row["t"] for answers in query for row in answers.bindings] == [IRI("http://e/a")]


def test_windows_of_time_are_of_one_kind() -> None:
    """Those of C-SPARQL end at the tick, those of RSP-QL before it."""
    text = """PREFIX : <http://e/> SELECT * FROM STREAM :s [RANGE 4s STEP 4s]
FROM NAMED WINDOW :w ON :s [RANGE 4s STEP 4s] WHERE { ?a ?b ?c }"""
    with pytest.raises(ProgramError, match=r"<query>:2:1: windows of FROM STREAM"):
        QueryEngine().register(text)
    QueryEngine().register(text.replace("RANGE 4s STEP 4s", "TRIPLES 4", 1))
