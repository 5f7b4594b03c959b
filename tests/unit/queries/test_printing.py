"""What rules print under queries: once, when a match begins, whatever queries look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.conftest import Ebbtide
from tests.unit.queries.small import PREFIX, S, node

from ebbtide.queries import QueryEngine

V = node("v")
P = "ex:v ?v"
RULES = """@prefix ex: <http://e/>
[hot: (?x ex:v ?v), greaterThan(?v 5), print('hot' ?x) -> (?x a ex:Hot)]
[seen: (?x ex:v ?v) -> print('seen' ?v)]
"""
SELECT = "SELECT ?x FROM STREAM ex:s [RANGE {range}ms STEP 5ms] WHERE {{ ?x {pattern} }}"
EVENTS = [(1, ("a", 7)), (3, ("b", 3)), (8, ("a", 7)), (30, ("a", 7)), (36, ("b", 3))]


class Lines(list[str]):
    """Lines, those of each tick together."""

    def taken(self) -> list[str]:
        found = [*self]
        self.clear()
        return found


def push(engine: QueryEngine, at: int, name: str, value: int) -> None:
    engine.push(S, (node(name), V, value), at)


@pytest.mark.parametrize(
    "settings", [{}, {"lazy": False}, {"incremental": False}], ids=["lazy", "whole", "asked"]
)
@pytest.mark.parametrize("rules", ["", "@include <rdfs> ."], ids=["alone", "planned"])
@pytest.mark.parametrize("pattern", ["a ex:Hot", "ex:other ?y"])
def test_a_line_for_each_match_that_begins(
    settings: dict[str, Any], rules: str, pattern: str
) -> None:
    lines = Lines()
    engine = QueryEngine(RULES + rules, printer=lines.append, **settings)
    engine.register(PREFIX + SELECT.format(range=10, pattern=pattern))
    told = []
    for at, (name, value) in EVENTS:
        push(engine, at, name, value)
        told.append(lines.taken())
    engine.finish()
    hot, seven, three = f"hot {node('a')}", "seen 7", "seen 3"
    # What is renewed in its window goes on; at 30 it begins anew.
    assert told == [[], [], [hot, three, seven], [], [hot, seven]]
    assert lines == [three]


def test_a_match_that_several_views_hold_is_told_once() -> None:
    lines = Lines()
    engine = QueryEngine(RULES, printer=lines.append)
    time = engine.register(PREFIX + "REGISTER QUERY time AS " + SELECT.format(range=20, pattern=P))
    engine.register(
        PREFIX + "REGISTER QUERY count AS SELECT ?x FROM STREAM ex:s [TRIPLES 1] WHERE { ?x a ?t }"
    )
    hot, seven, three = f"hot {node('a')}", "seen 7", "seen 3"
    for at, (name, value) in [(5, ("a", 7)), (10, ("b", 3)), (15, ("a", 7)), (20, ("b", 3))]:
        push(engine, at, name, value)
    # The last fact is another one each time, but all of them are in the window of time.
    assert lines.taken() == [hot, seven, three]
    time.drop()
    for at, (name, value) in [(21, ("a", 7)), (22, ("b", 3)), (23, ("b", 3))]:
        push(engine, at, name, value)
    assert lines.taken() == [three, hot, seven, three]


def test_what_holds_is_not_told_again_when_another_query_comes() -> None:
    lines = Lines()
    engine = QueryEngine(RULES, printer=lines.append)
    engine.register(PREFIX + "REGISTER QUERY one AS " + SELECT.format(range=20, pattern="a ex:Hot"))
    push(engine, 1, "a", 7)
    push(engine, 6, "a", 7)
    assert lines.taken() == [f"hot {node('a')}", "seen 7"]
    engine.register(PREFIX + "REGISTER QUERY two AS " + SELECT.format(range=40, pattern="ex:v ?v"))
    push(engine, 12, "b", 3)
    engine.finish()
    assert lines.taken() == ["seen 3"]


def test_lines_go_to_standard_error(ebbtide: Ebbtide) -> None:
    Path("site.rules").write_text(RULES)
    Path("hot.rq").write_text(PREFIX + SELECT.format(range=10, pattern="a ex:Hot"))
    seven = '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    Path("s.tnt").write_text(f"1\t{node('a')} {V} {seven} .\n")
    code, out, err = ebbtide("query", "hot.rq", "--stream", f"{S}=s.tnt", "--rules", "site.rules")
    assert (code, err) == (0, f"hot {node('a')}\nseen 7\n")
    assert out.count("\n") == 1
