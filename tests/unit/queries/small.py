"""One query, a few facts, and what it answers: for tests of what queries do."""

from __future__ import annotations

from typing import Any

from ebbtide.queries import Answers, QueryEngine

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
