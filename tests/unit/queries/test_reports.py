"""When a query tells what it sees: the report policies, for windows of time and of count."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.unit.queries.seen import PREFIX, csparql, fact, rspql, seen

from ebbtide.queries import QueryEngine

#: When a policy reports.
TICKS = [
    ("window-close", [10, 20, 30, 40, 50]),
    ("content-change", [10, 30, 50]),
    ("non-empty", [10, 20, 50]),
    ("content-change,non-empty", [10, 50]),
    ("periodic:25ms", [25, 50]),
]


@pytest.mark.parametrize(
    ("report", "ticks"),
    [
        *TICKS,
        ("periodic:12ms,non-empty", [12, 24, 48]),
    ],
)
def test_report_policies_of_rspql(report: str, ticks: list[int]) -> None:
    #      0    5    10   15   20   25   30   35   40   45   50
    #           1                                       2
    #      [-------------------)                              closes at 20
    #                                    [-------------------) closes at 50
    events = [(5, 1), (45, 2)]
    assert list(seen(rspql("RANGE PT0.020S STEP PT0.010S"), events, report=report)) == ticks


@pytest.mark.parametrize(
    ("report", "ticks"),
    [("content-change", [0, 10, 30]), ("non-empty", [0, 5, 10, 15, 20, 25, 30])],
)
def test_report_policies_of_count_windows(report: str, ticks: list[int]) -> None:
    text = f"REGISTER QUERY q COMPUTE EVERY 5ms AS {csparql('RANGE TRIPLES 2')}"
    assert list(seen(text, [(0, 1), (7, 2), (28, 3)], report=report)) == ticks


@pytest.mark.parametrize("by_table", [True, False])
@pytest.mark.parametrize(
    ("report", "ticks"),
    [("non-empty", [30, 40, 50, 80, 90]), ("content-change", [30, 60, 80])],
)
def test_report_policies_know_what_happened_before(
    report: str, ticks: list[int], by_table: bool
) -> None:
    """Of a query that was registered later, and shares a view that still holds it."""
    engine = QueryEngine()
    window = csparql("RANGE 50ms STEP 10ms")
    engine.register(f"{PREFIX} REGISTER QUERY first AS {window}")
    for at in (5, 75):
        if at == 75:
            engine.heartbeat(22)
            late = engine.register(f"{PREFIX} REGISTER QUERY late AS {window}", report=report)
        if by_table:
            subject, predicate, value = fact(at)
            row = {"t": at, "s": subject, "p": predicate, "o": f'"{value}"'}
            engine.push_all("http://e/s", pa.Table.from_pylist([row]))
        else:
            engine.push("http://e/s", fact(at), at)
    engine.advance(90)
    assert [each.tick for each in late] == ticks


@pytest.mark.parametrize("until", [40, 400])
def test_what_changed_while_a_query_rested_is_told(until: int) -> None:
    engine = QueryEngine(report="content-change")
    query = engine.register(PREFIX + csparql("RANGE 20ms STEP 10ms"))
    engine.push("http://e/s", fact(1), 5)
    engine.advance(10)
    query.pause()
    engine.advance(until)
    query.resume()
    engine.advance(until + 20)
    assert [(each.tick, len(each)) for each in query] == [(10, 1), (until + 10, 0)]


def test_a_retraction_is_a_change_of_content() -> None:
    engine = QueryEngine(report="content-change")
    query = engine.register(PREFIX + csparql("RANGE 100ms STEP 10ms"))
    engine.push("http://e/s", fact(1), 5)
    engine.retract(fact(1), 25)
    engine.advance(50)
    assert [(each.tick, len(each)) for each in query] == [(10, 1), (30, 0)]


@pytest.mark.parametrize(("report", "ticks"), TICKS)
def test_report_policies(report: str, ticks: list[int]) -> None:
    events = [(5, 1), (45, 2)]
    assert list(seen(csparql("RANGE 20ms STEP 10ms"), events, report=report)) == ticks
