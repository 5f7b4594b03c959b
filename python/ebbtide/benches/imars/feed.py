"""An engine under the isIn rule, and the trees it is fed, one tick after another.

The window is filled in one tick, whatever the strategy: a tick of naive maintenance costs the whole
window, and a thousand of them would measure patience. Then every tick `churn` facts come, spread
evenly over its second, and as many leave. Clocks run around `push_arrow` and around `evaluate`
alone; making the tables and counting the changes is nobody's cost.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any, Final

from ebbtide.benches.imars.settings import Settings
from ebbtide.engines.native import NativeEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.program import TRIPLE
from ebbtide.testing.workloads.isin_arrow import TERMS, TIME, IsInTables
from ebbtide.time import Instant, Sliding

STREAM: Final = "default"
STEP: Final = 1_000

RULES: Final = """
    @prefix ex: <http://example/>.
    [transitive: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]
"""


@dataclass(frozen=True, slots=True)
class Tick:
    """What one tick took, in nanoseconds, what it changed, and the facts that hold after it."""

    push: int
    evaluate: int
    entered: int
    left: int
    facts: int

    @property
    def per_fact(self) -> float:
        """Nanoseconds per fact derived and expired: in a steady window as many leave as enter."""
        return self.evaluate / self.entered


class Feed:
    """A stream for at most `ticks` ticks after the window is filled."""

    def __init__(
        self,
        settings: Settings,
        *,
        window: int,
        churn: int,
        ticks: int,
        strategy: str = "expiry",
        parents: int = 1,
        mixed: int = 1,
    ) -> None:
        streamed = window + churn * ticks
        self._tables = IsInTables(
            depth=settings.depth,
            fanout=settings.fanout,
            background=settings.background / (settings.background + streamed),
            seed=settings.seed,
            parents=parents,
            mixed=mixed,
        )
        self._range = round(window * STEP / churn)
        self._window = window
        self._churn = churn
        self._sent = 0
        self._tick: Instant = 0
        self.engine = NativeEngine(
            parse_rules(RULES), {STREAM: Sliding(self._range)}, strategy=strategy, step=STEP
        )
        self.engine.add_arrow(self._tables.background(streamed), TRIPLE, TERMS)

    def fill(self) -> Tick:
        """Fill the window in one tick."""
        tick = -(-self._range // STEP) * STEP
        return self._next(self._window, tick - self._range, tick)

    def tick(self) -> Tick:
        """Let one tick's facts come, and as many leave."""
        return self._next(self._churn, self._tick, self._tick + STEP)

    def _next(self, count: int, after: Instant, tick: Instant) -> Tick:
        table = self._tables.stream(self._sent, count, after, tick)
        self._sent += count
        self._tick = tick
        return timed_tick(self.engine, table, tick)


def timed_tick(engine: NativeEngine, table: Any, tick: Instant) -> Tick:
    """Push a table and evaluate the tick."""
    before = perf_counter_ns()
    engine.push_arrow(table, STREAM, TRIPLE, TIME, TERMS)
    pushed = perf_counter_ns()
    engine.evaluate(tick)
    evaluated = perf_counter_ns()
    entered, _, left = engine.change_counts()
    return Tick(pushed - before, evaluated - pushed, entered, left, len(engine))


@contextmanager
def no_collector() -> Iterator[None]:
    """Python's garbage collector stands still, so that no tick pays for it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
