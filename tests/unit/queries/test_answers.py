"""Answers: to callbacks, as changes, typed, in frames, and until when they hold."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime
from decimal import Decimal

from tests.unit.queries.small import CHAIN, PREFIX, WINDOW, P, S, node, run

from ebbtide.queries import Answers, QueryEngine
from ebbtide.terms import IRI, BlankNode
from ebbtide.time import FOREVER


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
    twice = dataclasses.replace(dated, rows=(("<http://e/a>",), ("<http://e/a>",)))
    assert twice.in_order().until == (25, FOREVER)
