"""Which facts a query sees at which tick, of a stream of facts that are numbers."""

from __future__ import annotations

from typing import Any

from ebbtide.queries import QueryEngine

PREFIX = "PREFIX ex: <http://e/> "
BODY = "WHERE { ?s ex:v ?v }"


def fact(value: int) -> tuple[str, str, int]:
    return f"<http://e/s{value}>", "<http://e/v>", value


def seen(text: str, events: list[tuple[int, int]], **settings: Any) -> dict[int, list[int]]:
    """What the query sees at each tick, of facts given as (instant, value)."""
    engine = QueryEngine(**settings)
    query = engine.register(PREFIX + text)
    for at, value in events:
        engine.push("http://e/s", fact(value), at)
    engine.finish()
    return {each.tick: sorted(row["v"] for row in each.bindings) for each in query}


def csparql(window: str) -> str:
    return f"SELECT ?v FROM STREAM ex:s [{window}] {BODY}"


def rspql(window: str) -> str:
    body = "WHERE { WINDOW ex:w { ?s ex:v ?v } }"
    return f"SELECT ?v FROM NAMED WINDOW ex:w ON ex:s [{window}] {body}"
