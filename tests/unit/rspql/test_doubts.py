"""What a continuous query may say, and would silently answer nothing: told with its place."""

from __future__ import annotations

import warnings

import pytest

from ebbtide import QueryEngine
from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.program import ProgramError

STREAM = "FROM STREAM ex:s [RANGE 5s STEP 5s]"
WINDOW = "FROM NAMED WINDOW ex:w ON ex:s [RANGE 5s STEP 5s]"

#: A query with ^ before the place, and what is told.
DOUBTFUL = [
    (f"SELECT ^?sped {STREAM} {{ ?car ex:v ?speed }}", "nothing binds ?sped; did you mean ?speed?"),
    (f"SELECT ?x {STREAM} {{ ?x ex:v ?y FILTER(^?z > 3) }}", "nothing binds ?z"),
    (f"SELECT ?x {STREAM} {{ ?x ex:v ?y BIND(^?z + 3 AS ?u) }}", "nothing binds ?z"),
    (f"SELECT (SUM(^?z) AS ?n) {STREAM} {{ ?x ex:v ?y }}", "nothing binds ?z"),
    (f"CONSTRUCT {{ ?x ex:q ^?z }} {STREAM} {{ ?x ex:v ?y }}", "nothing binds ?z"),
    (
        f"SELECT ?x {STREAM} {{ ?x ex:v ?y GRAPH ^ex:g {{ ?x ex:p ?z }} }}",
        "ex:g is neither a window nor a graph of FROM NAMED, so it is empty",
    ),
    (
        f"SELECT ?x {WINDOW} {{ WINDOW ex:w {{ ?x ex:v ?y }} GRAPH ^<a:w> {{ ?x ex:p ?z }} }}",
        "<a:w> is neither a window nor a graph of FROM NAMED, so it is empty",
    ),
    (
        f"SELECT ?x {STREAM} {{ ?x ^<v> ?y }}",
        "<v> is relative, and there is no BASE, so that it is <ebbtide:/v>",
    ),
    (
        f"SELECT ?x {STREAM} {{ ?x ex:v ?y FILTER(DATATYPE(?y) = ^<#number>) }}",
        "<#number> is relative, and there is no BASE, so that it is <ebbtide:/#number>",
    ),
]
FINE = [
    f"SELECT * {STREAM} {{ ?x ex:v ?y OPTIONAL {{ ?y ex:p ?z }} FILTER(!BOUND(?z)) }}",
    f"SELECT ?g ?n {WINDOW} {{ WINDOW ?g {{ SELECT (COUNT(*) AS ?n) {{ ?x ex:v ?y }} }} }}",
    f"SELECT ?x (SUM(?y) AS ?n) {STREAM} {{ ?x ex:v ?y }} GROUP BY ?x HAVING(?n > 3) ORDER BY ?n",
    f"ASK {STREAM} {{ VALUES ?x {{ 1 }} FILTER NOT EXISTS {{ ?y ex:p+ ?z FILTER(?z > ?x) }} }}",
    f"ASK {WINDOW} FROM NAMED ex:g {{ GRAPH ex:w {{ ?x ex:v ?y }} GRAPH ex:g {{ ?x ex:p ?z }} }}",
    f"BASE <http://e/> SELECT ?x {STREAM} {{ ?x <v> ?y }}",
    "ASK FROM NAMED WINDOW <w> ON <s> [RANGE 5s STEP 5s] { WINDOW <w> { ?x ex:v ?y } }",
    "ASK FROM NAMED WINDOW <w> ON <s> [RANGE 5s STEP 5s] "
    "{ WINDOW ?w { ?x ex:v ?y } VALUES ?w { <w> } }",
    f"SELECT (COUNT(?x) AS ?n) (?n > 3 AS ?many) {STREAM} {{ ?x ex:v ?y }}",
]
PREFIX = "PREFIX ex: <http://e/>\n"


@pytest.mark.parametrize(("text", "told"), DOUBTFUL)
def test_doubts(text: str, told: str) -> None:
    before, _, after = text.partition("^")
    query = parse_continuous_query(PREFIX + before + after, "q.rq")
    assert query.doubts == (f"q.rq:2:{len(before) + 1}: {told}",)
    with pytest.warns(UserWarning, match="q.rq:2:"):
        QueryEngine().register(query)


@pytest.mark.parametrize("text", FINE)
def test_no_doubts(text: str) -> None:
    assert parse_continuous_query(PREFIX + text).doubts == ()


def test_a_pattern_outside_of_its_window() -> None:
    text = PREFIX + f"SELECT ?x {WINDOW} {{ ?x ex:v ?y }}"
    with pytest.warns(UserWarning, match="<query>:1:1: patterns outside of windows and graphs ask"):
        QueryEngine().register(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QueryEngine(background=[("<a:x>", "<a:p>", 1)]).register(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SELECT ?x FROM STREAM ex:s ^{ ?x ex:v ?y }", "expected the window of the stream, like"),
        ("SELECT ?x FROM ^STREM ex:s [RANGE 5s STEP 5s] {}", "expected the IRI of a graph"),
        ("SELECT ?x FROM STREAM ex:s [RANGE 5 ^STEP 5s] {}", "expected the unit of 5"),
        ("SELECT ?x FROM STREAM ex:s [RANGE 5^] {}", "expected the unit of 5"),
        (f"SELECT ^?x (COUNT(*) AS ?n) {STREAM} {{ ?x ex:v ?y }}", "?x is selected, and neither"),
        (
            f"SELECT ?x ^?y (SUM(?z) AS ?n) {STREAM} {{ ?x ex:v ?y }} GROUP BY ?x",
            "?y is selected, and neither grouped by",
        ),
        (f"SELECT ?x {STREAM} {{ ^SERVICE ex:x {{ ?x ex:v ?y }} }}", "SERVICE is refused"),
        (
            f"SELECT ?x {STREAM} FROM ^ex:g {{ ?x ex:v ?y }}",
            "the static graph <http://e/g> was not",
        ),
        (f"SELECT ?x {STREAM} FROM NAMED ^ex:g {{ GRAPH ex:g {{ ?x ex:v ?y }} }}", "the static"),
    ],
)
def test_mistakes_have_their_place(text: str, told: str) -> None:
    before, _, after = text.partition("^")
    with pytest.raises(ProgramError) as caught:
        QueryEngine().register(parse_continuous_query(PREFIX + before + after, "q.rq"))
    assert caught.value.message.startswith(told)
    assert str(caught.value.origin) == f"q.rq:2:{len(before) + 1}"
