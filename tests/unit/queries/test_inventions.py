"""Queries under rules that invent terms: what was invented is neither told nor counted."""

from __future__ import annotations

import pytest

from ebbtide import QueryEngine

RULES = """
    @prefix ex: <http://example/> .
    [some:  (?x a ex:Parent), makeTemp(?c) -> (?x ex:child ?c), (?c a ex:Child)]
    [named: (?x ex:child ?c), (?c a ex:Child) -> (?x ex:has ex:children)]
    [shape: (?x a ex:Parent) -> (?x ex:is parent(?x))]
"""
A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
EX = "http://example/"


def ex(name: str) -> str:
    return f"<{EX}{name}>"


def asked(
    text: str, rules: str = RULES, *, incremental: bool = True, reads: str = "[RANGE 4s STEP 2s]"
) -> list[tuple[str, ...]]:
    """The answers of a query at its only tick, of two parents of whom one has a child."""
    engine = QueryEngine(rules, incremental=incremental)
    query = engine.register(
        f"PREFIX ex: <{EX}> REGISTER QUERY q AS {text.replace('FROM', f'FROM STREAM ex:s {reads}')}"
    )
    told: list[tuple[str, ...]] = []
    query.subscribe(
        lambda answers: told.extend(
            tuple("" if term is None else str(term).replace(EX, "") for term in row)
            for row in answers.rows
        )
    )
    for at, fact in (
        (1_000, (ex("ann"), A, ex("Parent"))),
        (1_500, (ex("bob"), A, ex("Parent"))),
        (1_500, (ex("bob"), ex("child"), ex("cy"))),
        (1_600, (ex("bob"), ex("age"), 40)),
    ):
        engine.push(EX + "s", fact, at=at)
    engine.advance(to=2_000)
    return sorted(told)


both_ways = pytest.mark.parametrize("incremental", [True, False])


@both_ways
def test_an_invented_node_is_no_answer(incremental: bool) -> None:
    text = "SELECT ?x ?c FROM WHERE { ?x ex:child ?c }"
    assert asked(text, incremental=incremental) == [("<bob>", "<cy>")]


@both_ways
def test_it_is_not_matched_on_the_way(incremental: bool) -> None:
    text = "SELECT ?x FROM WHERE { ?x ex:child ?c }"
    assert asked(text, incremental=incremental) == [("<bob>",)]
    absent = "SELECT ?x FROM WHERE { ?x a ex:Parent FILTER NOT EXISTS { ?x ex:child ?c } }"
    assert asked(absent, incremental=incremental) == [("<ann>",)]


@both_ways
def test_what_follows_from_it_is_an_answer(incremental: bool) -> None:
    text = "SELECT ?x FROM WHERE { ?x ex:has ex:children }"
    assert asked(text, incremental=incremental) == [("<ann>",), ("<bob>",)]


@both_ways
def test_functors_are_invented_too(incremental: bool) -> None:
    assert asked("SELECT ?x ?y FROM WHERE { ?x ex:is ?y }", incremental=incremental) == []


@both_ways
def test_a_node_that_stands_for_a_literal_is_not_counted(incremental: bool) -> None:
    text = "SELECT ?x (COUNT(?n) AS ?c) FROM WHERE { ?x ex:age ?n } GROUP BY ?x"
    one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert asked(text, "dstar", incremental=incremental) == [("<bob>", one)]


def test_parts_that_sparql_answers_see_none() -> None:
    text = "SELECT ?x ?c FROM WHERE { ?x ex:child ?c } ORDER BY ?x LIMIT 5"
    assert asked(text) == [("<bob>", "<cy>")]
    everything = "SELECT DISTINCT ?p FROM WHERE { ?x (!ex:none) ?y BIND('p' AS ?p) } LIMIT 5"
    assert asked(everything) == [('"p"',)]
    described = "CONSTRUCT { ?x ex:parentOf ?c } FROM WHERE { ?x ex:child ?c }"
    assert asked(described) == [("<bob>", "<parentOf>", "<cy>")]


def test_count_windows_show_none() -> None:
    text = "SELECT ?x ?c FROM WHERE { ?x ex:child ?c }"
    told = asked(text, reads="[TRIPLES 4]")
    assert set(told) == {("<bob>", "<cy>")}
