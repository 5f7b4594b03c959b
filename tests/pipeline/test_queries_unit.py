"""The unit of queries: after a restore it answers as if nothing had happened."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.pipeline.units.queries import Queries
from ebbtide.pipeline.units.queries import table_of as table_of_answers

CARS = "http://e/cars"
QUERIES = {
    "all": "SELECT ?car ?v FROM STREAM ex:cars [RANGE 6s STEP 2s] WHERE { ?car ex:speed ?v }",
    "count": "SELECT ?car (COUNT(*) AS ?n) FROM STREAM ex:cars [RANGE 4s STEP 2s]"
    " WHERE { ?car ex:speed ?v } GROUP BY ?car",
    "fast": "SELECT ?v FROM STREAM ex:cars [RANGE 6s STEP 2s] WHERE { ?car ex:speed ?v }",
    "first": "SELECT ?car FROM STREAM ex:cars [RANGE 6s STEP 2s]"
    " WHERE { ?car ex:speed ?v } ORDER BY ?v",
    "made": "CONSTRUCT { ?car ex:has [ ex:speed ?v ] } FROM STREAM ex:cars [RANGE 6s STEP 2s]"
    " WHERE { ?car ex:speed ?v }",
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


def unit_of(made: list[Any], start: int | None = None) -> Queries:
    unit = Queries(made, {"cars": CARS}, lateness=500, start=start)
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
    """The lines that sinks get, letter by letter."""
    return table_of_answers(fed).to_pylist()


steps = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.integers(-2_500, 2_000), st.integers(0, 3), st.integers(0, 9)),
            min_size=1,
            max_size=4,
        ),
        st.booleans(),
        # As a rule less than a window, now and then more than all that is kept.
        st.sampled_from((1_500, 1_500, 1_500, 90_000)),
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=60)
@given(steps=steps, start=st.sampled_from((None, None, 0, 9_000)))
def test_a_restored_unit_answers_as_if_nothing_had_happened(
    steps: list[Any], start: int | None
) -> None:
    made = queries()
    whole, other = unit_of(made, start), unit_of(made, start)
    now = 10_000
    for facts, is_restored, gap in steps:
        if is_restored:
            snapshot = other.snapshot()
            other = unit_of(made, start)
            other.restore(snapshot)
        batch = {"cars": table_of([(now + t, c, v) for t, c, v in facts])}
        expected, found = whole.feed(batch), other.feed(batch)
        assert said(found) == said(expected)
        assert found.late == expected.late
        now += gap
    assert said(other.finish()) == said(whole.finish())


def test_a_restored_unit_does_not_begin_at_the_start_again() -> None:
    """That may be a year ago: so many ticks at once are warned of."""
    text = "SELECT (COUNT(*) AS ?n) FROM STREAM ex:cars [RANGE 20ms STEP 10ms] WHERE { ?c ?p ?v }"
    made = [parse_continuous_query(f"PREFIX ex: <http://e/> REGISTER QUERY q AS {text}")]
    whole, other = unit_of(made, start=0), unit_of(made, start=0)
    batch = {"cars": table_of([(1_100_000, 1, 1), (1_101_000, 1, 2)])}
    with pytest.warns(RuntimeWarning, match="ticks of q are due at once"):
        whole.feed(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.restore(whole.snapshot())
    batch = {"cars": table_of([(1_102_000, 2, 1)])}
    expected = said(whole.feed(batch))
    assert len(expected) == 100
    assert said(other.feed(batch)) == expected
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


def test_a_chain_of_queries_is_restored_as_far_back_as_all_its_windows_reach() -> None:
    text = """PREFIX ex: <http://e/> REGISTER STREAM s{} AS CONSTRUCT {{ ?x ex:speed ?v }}
    FROM STREAM {} [RANGE 5s STEP 1s] WHERE {{ ?x ex:speed ?v }}"""
    read = ["ex:cars", *(f"<s{number}>" for number in range(4))]
    made = [parse_continuous_query(text.format(*each)) for each in enumerate(read)]
    whole, other = unit_of(made), unit_of(made)
    for second in range(1, 22):
        batch = {"cars": table_of([(1_000 * second, int(second > 1), 7)])}
        assert said(other.feed(batch)) == said(whole.feed(batch))
        snapshot = other.snapshot()
        other = unit_of(made)
        other.restore(snapshot)


@pytest.mark.parametrize(
    ("story", "report", "start"),
    [
        ([(1, 9), (7, 1), (107, 1), (207, 1)], "window-close", None),
        ([(1, 9), (101, 1), (201, 1), (204, 9)], "window-close", None),
        ([(1, 9), (2, 1), (102, 9)], "content-change", 0),
    ],
)
def test_who_reads_what_is_made_no_more_is_asked_after_a_restore(
    story: list[tuple[int, int]], report: str, start: int | None
) -> None:
    """A story is of seconds and speeds, of which only 9 is an alarm."""
    alarms = """PREFIX ex: <http://e/> REGISTER STREAM alarms AS CONSTRUCT { ?x ex:is ex:fast }
    FROM STREAM ex:cars [RANGE 5s STEP 1s] WHERE { ?x ex:speed 9 }"""
    count = """REGISTER QUERY count AS SELECT (COUNT(*) AS ?n)
    FROM STREAM <alarms> [RANGE 5s STEP 1s] WHERE { ?x ?p ?o }"""
    made = [parse_continuous_query(text) for text in (alarms, count)]

    def begun() -> Queries:
        unit = Queries(made, {"cars": CARS}, report=report, start=start)
        unit.begin()
        return unit

    whole, other = begun(), begun()
    for second, speed in story:
        batch = {"cars": table_of([(1_000 * second, 1, speed)])}
        expected = said(whole.feed(batch))
        assert said(other.feed(batch)) == expected
        snapshot = other.snapshot()
        other = begun()
        other.restore(snapshot)
    assert "count" in {row["query"] for row in expected}
    assert said(other.finish()) == said(whole.finish())


@pytest.mark.parametrize("emits", ["ISTREAM", "DSTREAM"])
@pytest.mark.parametrize("report", ["non-empty", "content-change,non-empty"])
def test_changes_are_since_the_last_report_however_long_ago(emits: str, report: str) -> None:
    """Nothing is reported while all windows are empty."""
    text = f"""PREFIX ex: <http://e/> REGISTER {emits} changes AS SELECT ?car
    FROM STREAM ex:cars [RANGE 10s STEP 5s] WHERE {{ ?car ex:speed ?v }}"""
    made = [parse_continuous_query(text)]

    def begun() -> Queries:
        unit = Queries(made, {"cars": CARS}, report=report)
        unit.begin()
        return unit

    whole, other = begun(), begun()
    told = []
    batches = [
        [(11_000, 1, 1), (12_000, 2, 1), (14_000, 3, 1)],
        [(100_000, 1, 1)],
        [(200_000, 2, 2)],
    ]
    for facts in batches:
        batch = {"cars": table_of(facts)}
        expected = said(whole.feed(batch))
        assert said(other.feed(batch)) == expected
        told += [json.loads(row["answer"])["t"] for row in expected]
        snapshot = other.snapshot()
        other = begun()
        other.restore(snapshot)
    assert told[-1:] == ([100_000] if emits == "DSTREAM" else [15_000])
    assert said(other.finish()) == said(whole.finish())


def test_late_facts_of_one_stream_while_another_is_silent() -> None:
    text = """PREFIX ex: <http://e/> REGISTER QUERY both AS SELECT ?car
    FROM STREAM ex:cars [RANGE 2s STEP 1s] FROM STREAM ex:bikes [RANGE 2s STEP 1s]
    WHERE { ?car ex:speed ?v }"""
    streams = {"cars": CARS, "bikes": "http://e/bikes"}
    unit = Queries([parse_continuous_query(text)], streams)
    unit.begin()
    both = [(1_000, 0, 1), (9_000, 0, 1)]
    unit.feed({"cars": table_of(both), "bikes": table_of(both)})
    fed = unit.feed({"cars": table_of([(2_000, 1, 1), (9_500, 1, 1)]), "bikes": table_of([])})
    assert fed.late == {"cars": [0], "bikes": []}


def test_each_of_many_late_facts_is_a_letter_and_none_is_kept() -> None:
    unit = unit_of(queries()[:1])
    unit.feed({"cars": table_of([(1_000, 0, 1), (50_000, 0, 1)])})
    fed = unit.feed({"cars": table_of([(45_000, car, 1) for car in range(12_000)])})
    assert fed.late == {"cars": [*range(12_000)]}
    restored = unit_of(queries()[:1])
    restored.restore(unit.snapshot())
    last = {"cars": table_of([(60_000, 0, 1)])}
    assert said(restored.feed(last)) == said(unit.feed(last))


def test_the_identity_of_a_query_is_its_text() -> None:
    text = f"PREFIX ex: <http://e/> REGISTER QUERY count AS {QUERIES['count']}"
    one, other = (unit_of([parse_continuous_query(text)]).identity for _ in range(2))
    assert one == other
    changed = unit_of([parse_continuous_query(text.replace("COUNT(*)", "MAX(?v)"))]).identity
    assert changed != one
