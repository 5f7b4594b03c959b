"""The order of terms, and answers that hang on nothing but what happened."""

from __future__ import annotations

import pytest

from ebbtide.queries import QueryEngine
from ebbtide.terms.term import XSD

WINDOW = "FROM STREAM <http://e/s> [RANGE 4ms STEP 4ms] WHERE"


def typed(text: str, datatype: str) -> str:
    return f'"{text}"^^<{XSD}{datatype}>'


NAN = typed("NaN", "double")
HOUR, DAY = (typed(text, "dayTimeDuration") for text in ("PT1H", "P1D"))
YEAR = typed("P1Y", "yearMonthDuration")
EARLY, LATE = (
    typed("2020-01-01T00:00:00+01:00", "dateTime"),
    typed("2024-01-01T00:00:00", "dateTime"),
)
ONE, TWO, TEN = typed("1", "integer"), typed("2.5", "decimal"), typed("10", "integer")
WRONG = typed("nope", "integer")
LEAST, MOST = (typed(f"{sign}12345678901234567890", "integer") for sign in "-+")
LONG = typed("2.50000000000000000000001", "decimal")

#: In the order of terms.
IN_ORDER = [
    *("_:b", "<http://e/a>", LEAST, ONE, TWO, LONG, TEN, MOST, NAN),
    *('"abc"', typed("true", "boolean"), EARLY, LATE, typed("2024-01-01", "date")),
    *(HOUR, DAY, YEAR, '"b"@en', WRONG),
]


def rows(text: str, values: list[str], incremental: bool = True) -> list[tuple[str | None, ...]]:
    """The rows of the first answers, in their order."""
    engine = QueryEngine(incremental=incremental)
    query = engine.register("PREFIX : <http://e/> " + text.replace("$", WINDOW, 1))
    for value in values:
        engine.push("http://e/s", ("<http://e/x>", "<http://e/p>", value), at=1)
    engine.finish()
    return list(next(iter(query)).rows)


@pytest.mark.parametrize("incremental", [True, False])
def test_the_order_of_terms(incremental: bool) -> None:
    text = "SELECT ?y $ { ?x :p ?y } ORDER BY ?y"
    for values in (IN_ORDER, IN_ORDER[::-1], IN_ORDER[7:] + IN_ORDER[:7]):
        assert [value for (value,) in rows(text, values, incremental)] == IN_ORDER
    text = "SELECT ?y $ { ?x :p ?y } ORDER BY DESC(?y) LIMIT 3"
    assert [value for (value,) in rows(text, IN_ORDER, incremental)] == IN_ORDER[:-4:-1]


@pytest.mark.parametrize("incremental", [True, False])
@pytest.mark.parametrize(
    "values",
    [
        *([ONE, TWO, NAN], [HOUR, DAY, YEAR], [EARLY, LATE], [ONE, WRONG], [ONE, '"abc"']),
        *([LEAST, ONE, TWO, LONG, TEN], [TWO, LONG, TEN, MOST], IN_ORDER[:9], IN_ORDER),
    ],
)
def test_min_and_max_are_the_ends_of_order_by(values: list[str], incremental: bool) -> None:
    text = "SELECT (MIN(?y) AS ?least) (MAX(?y) AS ?most) $ { ?x :p ?y }"
    assert rows(text, values[::-1], incremental) == [(values[0], values[-1])]


@pytest.mark.parametrize("incremental", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?y $ { ?x :p ?y } ORDER BY ?x LIMIT 2",
        "SELECT DISTINCT ?y $ { ?x :p ?y } OFFSET 4",
        "SELECT REDUCED ?x $ { ?x :p ?y }",
        "SELECT (SAMPLE(?y) AS ?one) $ { ?x :p ?y }",
        "SELECT (GROUP_CONCAT(STR(?y)) AS ?all) $ { ?x :p ?y }",
        "SELECT ?y ?z $ { ?x :p ?y { SELECT ?z { ?x :p ?z } LIMIT 1 } } ORDER BY ?x LIMIT 2",
        "CONSTRUCT { ?x :q ?y } $ { ?x :p ?y } LIMIT 2",
    ],
)
def test_answers_do_not_hang_on_the_order_of_arrival(text: str, incremental: bool) -> None:
    first = rows(text, IN_ORDER, incremental)
    for values in (IN_ORDER[::-1], IN_ORDER[5:] + IN_ORDER[:5]):
        assert rows(text, values, incremental) == first


def test_what_a_subquery_orders_stays_in_order() -> None:
    text = (
        "SELECT (GROUP_CONCAT(STR(?y)) AS ?all) $ { { SELECT ?y { ?x :p ?y } ORDER BY DESC(?y) } }"
    )
    assert rows(text, [ONE, TEN, TWO]) == [('"10 2.5 1"',)]
