"""A jump of the clock: ticks that would tell nothing cost nothing, and many that tell are said."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from ebbtide.queries import QueryEngine
from ebbtide.queries.task import Task

PREFIX = "PREFIX ex: <http://e/> "
S = "http://e/s"
P = "<http://e/p>"
#: About thirty years, in milliseconds.
FAR = 10**12
WINDOW = "FROM STREAM ex:s [RANGE 20ms STEP 10ms]"
BODY = f"SELECT ?s {WINDOW} {{ ?s ex:p ?o }}"
GROUPS = f"SELECT ?s (COUNT(*) AS ?n) {WINDOW} {{ ?s ex:p ?o }} GROUP BY ?s"
PART = f"SELECT ?s (SAMPLE(?o) AS ?n) {WINDOW} {{ ?s ex:p ?o . ?s ex:p ?z }} GROUP BY ?s"


def node(name: object) -> str:
    return f"<http://e/{name}>"


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ticks that were evaluated."""
    ticks: list[int] = []
    evaluate = Task.evaluate

    def counted(task: Task, tick: int) -> Any:
        ticks.append(tick)
        return evaluate(task, tick)

    monkeypatch.setattr(Task, "evaluate", counted)
    return ticks


@pytest.mark.parametrize("body", [BODY, GROUPS, PART])
@pytest.mark.parametrize(
    ("emits", "report"),
    [
        ("ISTREAM", "window-close"),
        ("DSTREAM", "window-close"),
        ("QUERY", "content-change"),
        ("QUERY", "non-empty"),
        ("DSTREAM", "content-change,non-empty"),
    ],
)
def test_silent_ticks_are_left_out(
    body: str, emits: str, report: str, evaluated: list[int]
) -> None:
    def told(far: int) -> list[Any]:
        engine = QueryEngine(report=report)
        query = engine.register(f"{PREFIX} REGISTER {emits} q AS {body}")
        for at in (3, 14, far + 5, far + 17):
            engine.push(S, [(node(at % 10), P, 1), (node(at % 10), P, 2)], at)
        engine.advance(far + 100)
        late = engine.late
        engine.push(S, (node("late"), P, 1), far + 100)
        assert (late, engine.late) == (0, 1)
        return [(each.tick if each.tick < 100 else each.tick - far, each.rows) for each in query]

    near = told(200)
    evaluated.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert told(FAR) == near
    assert len(evaluated) < 20


def test_ticks_before_the_first_fact_are_left_out(evaluated: list[int]) -> None:
    engine = QueryEngine(t0=0)
    query = engine.register(f"{PREFIX} REGISTER ISTREAM q AS {BODY}")
    engine.push(S, (node("a"), P, 1), FAR + 5)
    engine.finish()
    assert [(each.tick, len(each)) for each in query] == [(FAR + 10, 1)]
    assert len(evaluated) < 5


def test_windows_of_different_steps_leave_ticks_out_together(evaluated: list[int]) -> None:
    engine = QueryEngine()
    text = f"{PREFIX} REGISTER ISTREAM q{{0}} AS SELECT ?s FROM STREAM ex:s "
    text += "[RANGE {0}ms STEP {1}ms] {{ ?s ex:p ?o }}"
    queries = [engine.register(text.format(*each)) for each in ((20, 10), (30, 15), (50, 7))]
    for at in (3, FAR):
        engine.push(S, (node(at), P, 1), at)
    engine.finish()
    assert [len(list(query)) for query in queries] == [2, 2, 2]
    assert len(evaluated) < 60


def test_paused_queries_leave_ticks_out(evaluated: list[int]) -> None:
    engine = QueryEngine()
    query = engine.register(PREFIX + BODY)
    engine.push(S, (node("a"), P, 1), 3)
    engine.advance(10)
    query.pause()
    engine.advance(FAR)
    query.resume()
    engine.push(S, (node("b"), P, 1), FAR + 5)
    engine.finish()
    assert [(each.tick, len(each)) for each in query] == [(10, 1), (FAR + 10, 1)]
    assert len(evaluated) < 10


def test_a_network_leaves_ticks_out_and_misses_nothing(evaluated: list[int]) -> None:
    def told(far: int) -> list[Any]:
        engine = QueryEngine(lateness=3 * far)
        engine.register(
            f"{PREFIX} REGISTER STREAM <http://e/made> AS CONSTRUCT {{ ?s ex:q ?o }} "
            "FROM STREAM ex:s [RANGE 20ms STEP 10ms] WHERE { ?s ex:p ?o }",
            report="non-empty",
        )
        reader = engine.register(
            f"{PREFIX} REGISTER ISTREAM r AS SELECT ?s "
            "FROM STREAM <http://e/made> [RANGE 5ms STEP 5ms] WHERE { ?s ex:q ?o }"
        )
        for at in (3, far + 3, 2 * far + 3):
            engine.push(S, (node("a"), P, at), at)
        engine.advance(2 * far + 100)
        return [(each.tick % far, each.rows) for each in reader]

    near = told(1_000)
    evaluated.clear()
    assert told(FAR) == near
    assert len(near) > 3
    assert len(evaluated) < 60


@pytest.mark.parametrize(
    ("says", "tick"),
    [
        (lambda engine: engine.push(S, (node("b"), P, 1), 500), 500),
        (lambda engine: engine.add((node("b"), P, 1)), 20),
    ],
)
def test_who_is_told_may_say_something_of_ticks_left_out(
    says: Callable[[QueryEngine], None], tick: int
) -> None:
    engine = QueryEngine(lateness=1_000)
    quiet = engine.register(f"{PREFIX} REGISTER ISTREAM q AS {BODY}")
    other = engine.register(
        f"{PREFIX} REGISTER ISTREAM o AS SELECT ?s FROM STREAM ex:s [RANGE 10ms STEP 10ms] "
        "{ ?s ex:p ?o }"
    )
    other.subscribe(lambda answers: says(engine) if answers.tick == 10 else None)
    engine.push(S, (node("a"), P, 1), 3)
    engine.advance(2_000)
    assert [(each.tick, each.bindings[0]["s"].value) for each in quiet] == [
        (10, "http://e/a"),
        (tick, "http://e/b"),
    ]


def test_many_ticks_that_tell_are_said(evaluated: list[int]) -> None:
    engine = QueryEngine()
    query = engine.register(PREFIX + BODY)
    query.subscribe(len)
    engine.push(S, (node("a"), P, 1), 3)
    with pytest.warns(RuntimeWarning, match="100002 ticks of query are due at once") as told:
        engine.push(S, (node("a"), P, 1), 1_000_025)
    assert len(told) == 1
    assert len(evaluated) == 100_002
