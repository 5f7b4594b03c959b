"""What the demo says at its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from ebbtide.engines.protocol import Delta
from ebbtide.program import Fact
from ebbtide.testing.workloads import Workload
from ebbtide.time import Instant, Sliding


class Tally:
    """A sink that counts what enters and leaves, and tells conclusions from what was stated."""

    def __init__(self, workload: Workload, window: Sliding) -> None:
        self.ticks = self.derived = self.expired = 0
        self._range = window.range
        self._stated: defaultdict[Fact, list[Instant]] = defaultdict(list)
        self._background = frozenset(workload.background())
        for fact, at in workload.stream():
            self._stated[fact].append(at)

    def write(self, delta: Delta) -> None:
        """Count what one tick changed."""
        self.ticks += 1
        self.derived += sum(not self._is_stated(fact, delta.tick) for fact in delta.entered)
        self.expired += len(delta.left)

    def _is_stated(self, fact: Fact, tick: Instant) -> bool:
        in_window = (tick - self._range < at <= tick for at in self._stated.get(fact, ()))
        return fact in self._background or any(in_window)


@dataclass(frozen=True)
class Latency:
    """The median and the 95th percentile (nearest rank) of some durations, in milliseconds.

    >>> print(Latency.of([3.0, 1.0, 2.0]))
    p50 2.0 ms, p95 3.0 ms
    """

    p50: float
    p95: float

    @classmethod
    def of(cls, milliseconds: Iterable[float]) -> Latency:
        """The latency of what was measured, at least once."""
        ordered = sorted(milliseconds)
        return cls(*(ordered[ceil(share * len(ordered)) - 1] for share in (0.50, 0.95)))

    def __str__(self) -> str:
        return f"p50 {self.p50:.1f} ms, p95 {self.p95:.1f} ms"


@dataclass(frozen=True)
class Summary:
    """The numbers of a finished demo. Latencies in milliseconds."""

    facts_in: int
    bad_lines: int
    late: int
    ticks: int
    derived: int
    expired: int
    live: int
    tick_latency: Latency
    batch_latency: Latency

    def __str__(self) -> str:
        return "\n".join(
            (
                f"facts in         {self.facts_in} ({self.late} late, {self.bad_lines} bad lines)",
                f"derived          {self.derived}",
                f"expired          {self.expired}",
                f"hold at the end  {self.live}",
                f"ticks            {self.ticks}",
                f"tick latency     {self.tick_latency} (reasoning)",
                f"batch latency    {self.batch_latency} (Spark: read, parse, reason, commit)",
            )
        )
