"""What a run has done so far, batch by batch, and what it says at its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from ebbtide.time import Instant

KEPT: Final = 10_000


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
        """The latency of what was measured; none of nothing."""
        ordered = sorted(milliseconds) or [0.0]
        return cls(*(ordered[ceil(share * len(ordered)) - 1] for share in (0.50, 0.95)))

    def __str__(self) -> str:
        return f"p50 {self.p50:.1f} ms, p95 {self.p95:.1f} ms"


@dataclass(frozen=True)
class BatchProgress:
    """What one batch did. `tick` is the last one evaluated, if any was."""

    batch: int
    facts: int
    bad: int
    late: int
    ticks: int
    tick: Instant | None
    entered: int
    left: int
    answers: int
    holding: int
    milliseconds: float

    def __str__(self) -> str:
        tick = f" to {self.tick}" if self.tick is not None else ""
        dead = f", {self.bad} bad, {self.late} late" if self.bad or self.late else ""
        answers = f", {self.answers} answers" if self.answers else ""
        return (
            f"batch {self.batch}: {self.facts} facts{dead}, {self.ticks} ticks{tick}, "
            f"+{self.entered} -{self.left}{answers}, {self.holding} hold, "
            f"{self.milliseconds:.0f} ms"
        )


@dataclass
class Progress:
    """The sums of a run, and how long its latest ticks and batches took."""

    facts: int = 0
    bad: int = 0
    late: int = 0
    ticks: int = 0
    entered: int = 0
    left: int = 0
    answers: int = 0
    holding: int = 0
    batches: int = 0
    tick: Instant | None = None
    tick_milliseconds: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    batch_milliseconds: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, batch: BatchProgress) -> None:
        """Count a batch."""
        for name in ("facts", "bad", "late", "ticks", "entered", "left", "answers"):
            setattr(self, name, getattr(self, name) + getattr(batch, name))
        self.holding = batch.holding
        self.batches += 1
        self.tick = self.tick if batch.tick is None else batch.tick

    def __str__(self) -> str:
        return "\n".join(
            (
                f"facts in         {self.facts} ({self.late} late, {self.bad} bad lines)",
                f"entered          {self.entered}",
                f"left             {self.left}",
                *([f"answers          {self.answers}"] if self.answers else []),
                f"hold at the end  {self.holding}",
                f"ticks            {self.ticks}",
                f"tick latency     {Latency.of(self.tick_milliseconds)} (reasoning)",
                f"batch latency    {Latency.of(self.batch_milliseconds)} "
                "(Spark: read, parse, reason, commit)",
            )
        )
