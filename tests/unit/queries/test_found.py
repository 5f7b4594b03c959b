"""Queries that were answered wrongly once: random texts, compared with rdflib and oxigraph, shrunk.

Each is asked both ways, by rules that are kept and by SPARQL at every tick, and the rows are those
of the definition of SPARQL.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from ebbtide.program import ProgramError
from ebbtide.queries import QueryEngine
from ebbtide.reasoner import Reasoner
from ebbtide.terms import IRI, BlankNode, Literal, TermError

WINDOW = " FROM STREAM <http://e/s> [RANGE 4ms STEP 4ms] WHERE "
CHAIN = ["aqb", "bpc", "cvd"]


def rows(text: str, facts: list[Any], incremental: bool) -> list[Any]:
    """The rows of the first answers, with the last letter of each IRI."""
    engine = QueryEngine(incremental=incremental)
    query = engine.register("PREFIX : <http://e/> " + text.replace("$", WINDOW, 1))
    for fact in facts:
        # A word says three IRIs, by a letter each.
        terms = (f"<http://e/{letter}>" for letter in fact) if isinstance(fact, str) else fact
        engine.push("http://e/s", tuple(terms), at=1)
    engine.finish()
    answers = next(iter(query))
    found = [
        tuple(_short(binding.get(name)) for name in answers.variables)
        for binding in answers.bindings
    ]
    return sorted(found, key=repr)


def _short(value: Any) -> Any:
    return value.value[-1] if isinstance(value, IRI) else value


@pytest.mark.parametrize("incremental", [True, False])
@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        pytest.param(
            "SELECT ?u ?v $ { ?y :v ?z . ?u :q/(:p?|:p) ?v }",
            CHAIN,
            [("a", "b"), ("a", "c"), ("a", "c")],
            id="the steps of a path stay joined",
        ),
        pytest.param(
            "SELECT ?u ?v $ { ?u :q _:n . ?y :v ?z . _:n :p* ?v } ORDER BY ?u",
            CHAIN,
            [("a", "b"), ("a", "c")],
            id="so does a blank node of a triple and a path",
        ),
        pytest.param(
            "SELECT ?value_1 (COUNT(*) AS ?n) $ { ?value_1 :q ?y } GROUP BY ?value_1",
            CHAIN,
            [("a", 1)],
            id="a variable that is called like one of ours",
        ),
        pytest.param(
            "SELECT ?row_0 ?row_1 $ { ?row_0 :q ?row_1 . ?row_1 :p ?z } ORDER BY ?row_1",
            CHAIN,
            [("a", "b")],
            id="a variable that is called like that of a table's row",
        ),
        pytest.param(
            "SELECT ?x (COUNT(DISTINCT *) AS ?n) $ { ?v :q ?z VALUES (?w ?z) { (UNDEF :b) "
            "(UNDEF UNDEF) } } GROUP BY ?x",
            CHAIN,
            [(None, 1)],
            id="rows of a table are not counted",
        ),
        pytest.param(
            "SELECT (COUNT(DISTINCT *) AS ?n) (COUNT(*) AS ?m) $ { ?u :p/:p* ?v }",
            ["apb", "apc", "bpd", "cpd"],
            [(5, 6)],
            id="nor nodes between the steps of a path",
        ),
    ],
)
def test_it_is_answered_by_the_definition(
    text: str, facts: list[Any], expected: list[Any], incremental: bool
) -> None:
    assert rows(text, facts, incremental) == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("?x ?p ?y FILTER(:far(?y))", "1:103: the function :far is not known"),
        ("?x ?p ?y SERVICE :other { ?x a ?y }", "1:96: SERVICE is refused"),
        ("?x ?p ?y FILTER(?y < <http://e/a b>)", "1:108: this IRI is not closed, or"),
    ],
)
def test_what_would_only_fail_when_it_is_asked_is_refused(body: str, message: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(message)):
        rows(f"SELECT ?x ${{ {body} }}", [], True)


def test_a_text_that_ends_too_early() -> None:
    with pytest.raises(ProgramError, match="1:31: the text ends too early"):
        rows("SELECT ?x", [], True)


def test_casts_are_kept_by_rules() -> None:
    engine = QueryEngine()
    text = f"SELECT ?x {WINDOW} {{ ?x ?p ?y FILTER(xsd:integer(?y) > 1) }}"
    query = engine.register(text)
    assert "incremental, the whole query" in query.explain()
    engine.push("http://e/s", ("<http://e/a>", "<http://e/p>", "2"), at=1)
    engine.push("http://e/s", ("<http://e/b>", "<http://e/p>", "x"), at=1)
    engine.finish()
    assert [answers.bindings for answers in query] == [[{"x": IRI("http://e/a")}]]


@pytest.mark.parametrize("incremental", [True, False])
def test_a_solution_makes_the_same_node_at_every_tick(incremental: bool) -> None:
    made = []
    for emits in ("RSTREAM", "ISTREAM", "DSTREAM"):
        engine = QueryEngine(incremental=incremental)
        query = engine.register(
            f"REGISTER {emits} <q> AS CONSTRUCT {{ ?x <a:p> _:n . _:n <a:q> ?y ; <a:r> [] }} "
            "FROM STREAM <http://e/s> [RANGE 2ms STEP 1ms] WHERE { ?x <http://e/p> ?y }"
        )
        for at, name in ((1, "a"), (2, "b"), (4, "c")):
            engine.push("http://e/s", (f"<http://e/{name}>", "<http://e/p>", at), at=at)
        engine.finish()
        assert ("template makes of them" in query.explain()) == incremental
        made.append([(answers.tick, set(answers.rows)) for answers in query])
    everything, came, went = made
    assert [(tick, len(rows)) for tick, rows in everything] == [(1, 3), (2, 6), (3, 3), (4, 3)]
    (_, a), (_, both), (_, b), (_, c) = everything
    assert a | b == both
    assert came == [(1, a), (2, b), (4, c)]
    assert went == [(3, a), (4, b)]


EN = Literal("b", language="en")


@pytest.mark.parametrize("incremental", [True, False])
@pytest.mark.parametrize(
    ("values", "least", "greatest"),
    [
        (["<http://e/a>", "<http://e/b>"], "a", "b"),
        ([Literal("a", language="en"), EN], Literal("a", language="en"), EN),
        (["a", EN], "a", EN),
        ([1, "a"], 1, "a"),
        ([1, 2.5, "<http://e/a>"], "a", 2.5),
        ([Literal("a", "http://e/t"), 5], 5, Literal("a", "http://e/t")),
        ([BlankNode("x"), "<http://e/a>"], BlankNode("x"), "a"),
    ],
)
def test_the_least_and_the_greatest_are_those_of_terms(
    values: list[Any], least: Any, greatest: Any, incremental: bool
) -> None:
    facts = [("<http://e/a>", "<http://e/p>", value) for value in values]
    text = "SELECT (MIN(?y) AS ?least) (MAX(?y) AS ?most) $ { ?x :p ?y }"
    assert rows(text, facts, incremental) == [(least, greatest)]


def test_a_frame_of_pandas_is_background() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"s": ["<a:x>"], "p": ["<a:p>"], "o": ['"5"'], "more": [1]})
    text = "SELECT ?s FROM <a:g> WHERE { ?s <a:p> ?o }"
    for background in (frame, [frame, ("<a:y>", "<a:p>", 7)]):
        engine = QueryEngine(background=background)
        query = engine.register(text)
        engine.advance(to=0)
        found = {row["s"].value for answers in query for row in answers}
        assert found == ({"a:x"} if background is frame else {"a:x", "a:y"})
    assert len(Reasoner.materialize("[r: (?x ?p ?y) -> (?x <a:q> ?y)]", frame)) == 2
    with pytest.raises(TermError, match="row 0: an object is written as in N-Triples"):
        QueryEngine(background=frame.assign(o=["5"]))


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize(
    "where", ["?x a ?c . ?c rdfs:subClassOf <a:C>", "?x a ?c . ?c a rdfs:Class . ?c ?p <a:C>"]
)
def test_a_query_may_ask_for_schema_and_data(where: str, lazy: bool) -> None:
    sub = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    a = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    rdfs_class = "<http://www.w3.org/2000/01/rdf-schema#Class>"
    schema = [("<a:A>", sub, "<a:B>"), ("<a:B>", sub, "<a:C>"), ("<a:B>", a, rdfs_class)]
    engine = QueryEngine("rdfs", background=[*schema, ("<a:A>", a, rdfs_class)], lazy=lazy)
    query = engine.register(
        f"SELECT DISTINCT ?c FROM STREAM <a:s> [RANGE 5ms STEP 1ms] WHERE {{ {where} }}"
    )
    engine.push("a:s", ("<a:x>", a, "<a:A>"), at=1)
    engine.finish()
    assert {row for answers in query for row in answers.rows} == {("<a:A>",), ("<a:B>",)}
