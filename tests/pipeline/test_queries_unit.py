"""The unit of queries: after a restore it answers as if nothing had happened."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.pipeline.units.queries import Queries

CARS = "http://e/cars"
QUERIES = {
    "all": "SELECT ?car ?v FROM STREAM ex:cars [RANGE 6s STEP 2s] WHERE { ?car ex:speed ?v }",
    "count": "SELECT ?car (COUNT(*) AS ?n) FROM STREAM ex:cars [RANGE 4s STEP 2s]"
    " WHERE { ?car ex:speed ?v } GROUP BY ?car",
    "last": "SELECT ?car FROM STREAM ex:cars [TRIPLES 2] WHERE { ?car ex:speed ?v }",
}
RSPQL = """PREFIX ex: <http://e/> PREFIX : <http://e/>
REGISTER {emits} :new AS SELECT ?car
FROM NAMED WINDOW :w ON ex:cars [RANGE PT6S STEP PT2S]
WHERE {{ WINDOW :w {{ ?car ex:speed ?v }} }}"""


def queries() -> list[Any]:
    plain = [
        parse_continuous_query(f"PREFIX ex: <http://e/> REGISTER QUERY {name} AS {text}")
        for name, text in QUERIES.items()
        if name != "last"
    ]
    return [*plain, parse_continuous_query(RSPQL.format(emits="ISTREAM"))]


def unit_of(made: list[Any]) -> Queries:
    unit = Queries(made, {"cars": CARS}, lateness=500)
    unit.begin()
    return unit


def table_of(facts: list[tuple[int, int, int]]) -> Any:
    speed = "<http://e/speed>"
    number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'.format
    rows = [
        {
            "stream": "cars",
            "source": "",
            "line": None,
            "t": t,
            "s": f"<http://e/c{c}>",
            "p": speed,
            "o": number(v),
        }
        for t, c, v in facts
    ]
    names = ("stream", "source", "line", "t", "s", "p", "o")
    kinds = {"line": pa.int32(), "t": pa.int64()}
    return pa.Table.from_pylist(rows, pa.schema([(n, kinds.get(n, pa.string())) for n in names]))


def said(fed: Any) -> list[Any]:
    return [
        (name, each.tick, each.op, sorted(zip(each.rows, _ends(each), strict=True), key=str))
        for name, answers in sorted(fed.rows.items())
        for each in answers
    ]


def _ends(answers: Any) -> Any:
    return answers.until or (None,) * len(answers.rows)


steps = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.integers(-2_500, 2_000), st.integers(0, 3), st.integers(0, 9)),
            min_size=1,
            max_size=4,
        ),
        st.booleans(),
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=40)
@given(steps=steps)
def test_a_restored_unit_answers_as_if_nothing_had_happened(steps: list[Any]) -> None:
    made = queries()
    whole, other = unit_of(made), unit_of(made)
    now = 10_000
    for facts, is_restored in steps:
        if is_restored:
            snapshot = other.snapshot()
            other = unit_of(made)
            other.restore(snapshot)
        batch = {"cars": table_of([(now + t, c, v) for t, c, v in facts])}
        expected, found = whole.feed(batch), other.feed(batch)
        assert said(found) == said(expected)
        assert found.late.num_rows == expected.late.num_rows
        now += 1_500
    assert said(other.finish()) == said(whole.finish())


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_what_is_kept_is_bounded_unless_facts_are_counted(name: str) -> None:
    text = f"PREFIX ex: <http://e/> REGISTER QUERY {name} AS {QUERIES[name]}"
    unit = unit_of([parse_continuous_query(text)])
    sizes = []
    for second in range(60):
        unit.feed({"cars": table_of([(1_000 * second, second % 5, second % 3)])})
        sizes.append(len(unit.snapshot()))
    is_bounded = max(sizes[30:]) <= max(sizes[:30]) + 64
    assert is_bounded == (name != "last")
