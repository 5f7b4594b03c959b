"""How one stream of a run is doing: what it brought, how fast, how far, and what still waits."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from ebbtide.pipeline.waiting import Waiting
from ebbtide.time import Instant

#: Over so many seconds the rate is told.
RATE_SECONDS: Final = 10.0


@dataclass
class StreamProgress:
    """The numbers of a stream.

    `latest` is the latest event time; `lag` what waits to be read, in messages of Kafka, bytes of a
    spool or files of a folder, None where nobody can tell. Of a folder `waiting` does, not Spark.
    """

    lateness: int = 0
    facts: int = 0
    latest: Instant | None = None
    lag: int | None = None
    lag_unit: str = ""
    waiting: Waiting | None = None
    _recent: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, facts: int, latest: Instant) -> None:
        """Count what a batch brought."""
        self.facts += facts
        self._recent.append((time.monotonic(), facts))
        self.latest = latest if self.latest is None else max(latest, self.latest)

    def heard(self, end: Any, latest: Any) -> None:
        """Take over what Spark reports: the offset that was read, and the latest there is."""
        if self.waiting is None:
            self.lag, self.lag_unit = lag(end, latest)
        else:
            self.lag, self.lag_unit = self.waiting.count(), "files"

    @property
    def watermark(self) -> Instant | None:
        """The event time up to which nothing more is waited for."""
        return None if self.latest is None else self.latest - self.lateness

    @property
    def rate(self) -> float:
        """Facts a second, of the last ten seconds."""
        now = time.monotonic()
        while self._recent and now - self._recent[0][0] > RATE_SECONDS:
            self._recent.popleft()
        return sum(facts for _, facts in tuple(self._recent)) / RATE_SECONDS


def lag(end: Any, latest: Any) -> tuple[int | None, str]:
    """What is between two offsets, if they are of a kind that can be counted.

    >>> lag('{"last": "5.tnt", "bytes": 300}', '{"last": "9.tnt", "bytes": 1300}')
    (1000, 'bytes')
    >>> lag('{"trains": {"0": 17, "1": 4}}', '{"trains": {"0": 20, "1": 4}}')
    (3, 'messages')
    >>> lag('{"logOffset": 3}', None)
    (None, '')
    """
    read, there = _offset(end), _offset(latest)
    if "bytes" in read and "bytes" in there:
        return max(0, there["bytes"] - read["bytes"]), "bytes"
    if there and all(isinstance(partitions, dict) for partitions in there.values()):
        behind = (
            offset - read.get(topic, {}).get(partition, 0)
            for topic, partitions in there.items()
            for partition, offset in partitions.items()
        )
        return sum(behind), "messages"
    return None, ""


def _offset(told: Any) -> dict[str, Any]:
    """An offset as Spark tells it: JSON, as text or read already."""
    found = json.loads(told) if isinstance(told, str) and told.startswith("{") else told
    return found if isinstance(found, dict) else {}
