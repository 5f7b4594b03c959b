"""Rules derive what queries can see; the answers are the same without that, and as queries come."""

from __future__ import annotations

import pytest

from ebbtide.queries import QueryEngine

PREFIX = """PREFIX ex: <http://e/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
DOMAIN = "<http://www.w3.org/2000/01/rdf-schema#domain>"
S = "http://e/s"


def node(name: object) -> str:
    return f"<http://e/{name}>"


SCHEMA = [
    (node("Student"), SUBCLASS, node("Person")),
    (node("Person"), SUBCLASS, node("Agent")),
    (node("attends"), DOMAIN, node("Student")),
]


def persons(kind: str) -> str:
    return f"""{PREFIX} REGISTER QUERY {kind} AS SELECT ?x
        FROM STREAM ex:s [RANGE 20ms STEP 10ms] WHERE {{ ?x a ex:{kind} }}"""


def feed(engine: QueryEngine, instants: range) -> None:
    for at in instants:
        engine.push(S, (node(f"x{at}"), node("attends"), node("course")), at)


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("rules", ["rdfs", "owl2rl", "rdfs-sparkwave"])
def test_the_answers_are_the_same(rules: str, lazy: bool) -> None:
    engine = QueryEngine(rules, background=SCHEMA, lazy=lazy)
    agents = engine.register(persons("Agent"))
    feed(engine, range(1, 25, 4))
    students = engine.register(persons("Student"))
    feed(engine, range(25, 45, 4))
    engine.finish()
    assert [(each.tick, len(each)) for each in agents] == [
        (10, 3),
        (20, 5),
        (30, 5),
        (40, 5),
        (50, 3),
    ]
    assert [(each.tick, len(each)) for each in students] == [(30, 5), (40, 5), (50, 3)]


def test_only_what_is_seen_is_derived() -> None:
    sizes = {}
    for lazy in (True, False):
        engine = QueryEngine("rdfs", background=SCHEMA, lazy=lazy)
        engine.register(persons("Student"))
        feed(engine, range(1, 12, 2))
        (view,) = engine._views
        sizes[lazy] = len(view.engine)
    assert sizes[True] < sizes[False]


def test_schema_that_is_retracted_or_comes_later() -> None:
    engine = QueryEngine("rdfs-sparkwave", background=SCHEMA)
    agents = engine.register(persons("Agent"))
    feed(engine, range(1, 10, 4))
    engine.advance(10)
    engine.retract((node("Person"), SUBCLASS, node("Agent")), 15)
    engine.advance(20)
    engine.register(persons("Student"))
    engine.add((node("Student"), SUBCLASS, node("Agent")))
    feed(engine, range(21, 24))
    engine.advance(30)
    assert [(each.tick, len(each)) for each in agents] == [(10, 3), (20, 0), (30, 3)]
