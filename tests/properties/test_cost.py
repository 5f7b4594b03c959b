"""What a tick costs and what memory holds follow the change and the live facts: DESIGN 7.4, 7.5.

Counted, not timed: the derivations the kernel made, the facts, terms and bytes it holds. Times are
measured by `ebbtide bench imars`.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.engines.native import NativeEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.program import TRIPLE
from ebbtide.testing.workloads.isin_arrow import TERMS, TIME, IsInTables
from ebbtide.time import Count, Sliding, Tumbling, Window

STEP = 1_000
CHURN = 100
SMALL, LARGE = 1_000, 10_000

RULES = parse_rules(
    """
    @prefix ex: <http://example/>.
    [transitive: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]
    """
)
WITH_NEGATION = parse_rules(
    """
    @prefix ex: <http://example/>.
    [transitive: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]
    [root:       (?x ex:isIn ?y), not (?y ex:isIn ?any) -> root(?y)]
    """
)

# Trees of at most 155 edges: each arrives within two ticks, so all of it is in the small window.
trees = st.builds(
    IsInTables,
    depth=st.integers(1, 3),
    fanout=st.integers(1, 5),
    background=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 5),
)


def sliding(facts: int) -> Sliding:
    """A window of so many facts, at `CHURN` facts a tick."""
    return Sliding(facts // CHURN * STEP)


def derivations(tables: IsInTables, window: int, strategy: str, ticks: int = 8) -> list[int]:
    """The derivations of each tick after the large window would be full."""
    filled = LARGE // CHURN * STEP
    engine = NativeEngine(RULES, {"default": sliding(window)}, strategy=strategy, step=STEP)
    engine.add_arrow(tables.background(LARGE + ticks * CHURN), TRIPLE, TERMS)
    push(engine, tables, 0, LARGE, 0, filled)
    totals = [engine.stats()["derivations"]]
    for tick in range(ticks):
        start = filled + tick * STEP
        push(engine, tables, LARGE + tick * CHURN, CHURN, start, start + STEP)
        totals.append(engine.stats()["derivations"])
    return [after - before for before, after in pairwise(totals)]


def push(
    engine: NativeEngine, tables: IsInTables, first: int, count: int, after: int, tick: int
) -> None:
    engine.push_arrow(tables.stream(first, count, after, tick), "default", TRIPLE, TIME, TERMS)
    engine.evaluate(tick)


@settings(max_examples=10)
@given(trees)
def test_a_tick_makes_the_same_derivations_in_a_larger_window(tables: IsInTables) -> None:
    assert derivations(tables, LARGE, "expiry") == derivations(tables, SMALL, "expiry")


def test_derivations_count_what_naive_does_over() -> None:
    """The count is one that a larger window could move: it does so under naive."""
    tables = IsInTables(depth=3, fanout=3)
    small = derivations(tables, SMALL, "naive", ticks=1)
    large = derivations(tables, LARGE, "naive", ticks=1)
    assert large[0] > 5 * small[0] > 5 * derivations(tables, SMALL, "expiry", ticks=1)[0]


KINDS: dict[str, tuple[Window, str]] = {
    "sliding-expiry": (sliding(SMALL), "expiry"),
    "sliding-dred": (sliding(SMALL), "dred"),
    "sliding-naive": (sliding(SMALL), "naive"),
    "tumbling": (Tumbling(SMALL // CHURN * STEP), "expiry"),
    "count": (Count(SMALL), "expiry"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_flat_under_ever_new_terms(kind: str) -> None:
    window, strategy = KINDS[kind]
    tables = IsInTables(depth=3, fanout=3, seed=4)
    engine = NativeEngine(WITH_NEGATION, {"default": window}, strategy=strategy, step=STEP)
    seen: dict[str, list[int]] = {"terms": [], "facts": [], "bytes": []}
    for tick in range(400):
        push(engine, tables, tick * CHURN, CHURN, tick * STEP, (tick + 1) * STEP)
        stats = engine.stats()
        for name, values in seen.items():
            values.append(stats[name])
    for name, values in seen.items():
        early, late = max(values[20:60]), max(values[-40:])
        assert late <= 1.05 * early, f"{name} grew from {early} to {late}"


@pytest.mark.parametrize("strategy", ["expiry", "dred", "naive"])
def test_terms_are_given_back_with_the_last_fact(strategy: str) -> None:
    tables = IsInTables(depth=3, fanout=3, background=0.1)
    engine = NativeEngine(WITH_NEGATION, {"default": sliding(SMALL)}, strategy=strategy, step=STEP)
    engine.add_arrow(tables.background(SMALL), TRIPLE, TERMS)
    engine.evaluate(0)
    before = engine.stats()
    push(engine, tables, 0, SMALL, 0, 10 * STEP)
    assert engine.stats()["terms"] > 2 * before["terms"]
    engine.evaluate(20 * STEP)
    assert engine.change_counts()[2] > SMALL
    # The delta of a tick still names what left; the next tick forgets it.
    engine.evaluate(21 * STEP)
    after = engine.stats()
    assert (after["facts"], after["terms"]) == (before["facts"], before["terms"])
