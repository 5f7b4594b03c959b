"""What a run has done so far, batch by batch, and what it says at its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Final

from ebbtide.pipeline.streams import StreamProgress
from ebbtide.time import Instant

KEPT: Final = 10_000
#: The numbers of a run that only grow.
COUNTERS: Final = ("facts", "bad", "late", "ticks", "entered", "left", "answers", "batches")
#: The numbers of every stream.
OF_STREAMS: Final[Mapping[str, Callable[[StreamProgress], int | float | None]]] = {
    "stream_facts": lambda stream: stream.facts,
    "stream_facts_per_second": lambda stream: stream.rate,
    "stream_event_time": lambda stream: stream.latest,
    "stream_watermark": lambda stream: stream.watermark,
    "stream_lag": lambda stream: stream.lag,
}


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
    """What one batch did. `tick` is the last one evaluated, if any was.

    How many facts came in only Spark knows, if it was in shards; there, what holds in several of
    them counts in each.
    """

    batch: int
    facts: int | None
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
        parts = (
            None if self.facts is None else f"{self.facts} facts",
            f"{self.bad} bad, {self.late} late" if self.bad or self.late else None,
            f"{self.ticks} ticks" + ("" if self.tick is None else f" to {self.tick}"),
            f"+{self.entered} -{self.left}",
            f"{self.answers} answers" if self.answers else None,
            f"{self.holding} hold",
            f"{self.milliseconds:.0f} ms",
        )
        return f"batch {self.batch}: {', '.join(filter(None, parts))}"


@dataclass
class Progress:
    """The sums of a run, by stream and by rules or query, and how long its latest ticks took."""

    facts: int | None = 0
    bad: int = 0
    late: int = 0
    ticks: int = 0
    entered: int = 0
    left: int = 0
    answers: int = 0
    holding: int = 0
    batches: int = 0
    tick: Instant | None = None
    streams: dict[str, StreamProgress] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    tick_milliseconds: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    batch_milliseconds: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, batch: BatchProgress) -> None:
        """Count a batch."""
        known = self.facts is not None and batch.facts is not None
        self.facts = (self.facts or 0) + (batch.facts or 0) if known else None
        for name in ("bad", "late", "ticks", "entered", "left", "answers"):
            setattr(self, name, getattr(self, name) + getattr(batch, name))
        self.holding = batch.holding
        self.batches += 1
        self.tick = self.tick if batch.tick is None else batch.tick

    def saw(self, facts: Any) -> None:
        """Count the facts of a batch by stream: a table with the columns stream and t."""
        spans = facts.group_by("stream").aggregate([("t", "max"), ("t", "count")]).to_pylist()
        self.heard({span["stream"]: (span["t_count"], span["t_max"]) for span in spans})

    def told(self, rows: Mapping[str, Any]) -> None:
        """Count the rows of a batch, by the rules or the query they are of."""
        for name, of_name in rows.items():
            self.rows[name] = self.rows.get(name, 0) + len(of_name)

    def heard(self, counts: Mapping[str, tuple[int, Instant | None]]) -> None:
        """Count facts by stream, given how many there were and their latest instant."""
        for name, (count, latest) in counts.items():
            if count and latest is not None:
                self.streams.setdefault(name, StreamProgress()).add(count, latest)

    @property
    def slowest(self) -> frozenset[str]:
        """Of several streams those that the ticks wait for: with the lowest watermark, or none yet.

        >>> trains, buses = StreamProgress(latest=9_000), StreamProgress(latest=5_000)
        >>> sorted(Progress(streams={"trains": trains, "buses": buses}).slowest)
        ['buses']
        >>> sorted(Progress(streams={"trains": trains, "boats": StreamProgress()}).slowest)
        ['boats']
        """
        known = {name: each.watermark for name, each in tuple(self.streams.items())}
        marks = [mark for mark in known.values() if mark is not None]
        lowest = None if len(marks) < len(known) else min(marks, default=None)
        found = frozenset(name for name, mark in known.items() if mark == lowest)
        return frozenset() if len(found) == len(known) else found

    @property
    def _facts_in(self) -> str:
        # Shards do not tell batch by batch, but the streams are counted.
        return str(
            sum(each.facts for each in self.streams.values()) if self.facts is None else self.facts
        )

    def __str__(self) -> str:
        return "\n".join(
            (
                f"facts in         {self._facts_in} ({self.late} late, {self.bad} bad lines)",
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


def numbers(progress: Progress) -> Iterator[tuple[str, Mapping[str, str], int | float | None]]:
    """All numbers of a run: the name, what it is of (a stream, rules or a query), and the value.

    Those of one name follow each other, as Prometheus wants them.

    >>> next(numbers(Progress(facts=3)))
    ('facts', {}, 3)
    """
    for name in COUNTERS:
        yield name, {}, getattr(progress, name)
    for name in ("holding", "tick"):
        yield name, {}, getattr(progress, name)
    streams = tuple(progress.streams.items())
    for name, of_stream in OF_STREAMS.items():
        for stream, known in streams:
            yield name, {"stream": stream}, of_stream(known)
    for name, count in tuple(progress.rows.items()):
        yield "rows", {"of": name}, count
    latency = Latency.of(tuple(progress.tick_milliseconds))
    yield "tick_milliseconds", {"quantile": "0.5"}, latency.p50
    yield "tick_milliseconds", {"quantile": "0.95"}, latency.p95
