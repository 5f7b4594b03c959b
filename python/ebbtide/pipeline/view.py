"""A running pipeline in the terminal: streams, rows, latency, and the last lines of its log."""

from __future__ import annotations

from collections import deque
from typing import Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from ebbtide.pipeline.progress import Latency, Progress
from ebbtide.pipeline.sinks.console import seconds
from ebbtide.pipeline.streams import StreamProgress
from ebbtide.time import Instant

LAST_LINES: Final = 6


class View:
    """What `rich.live.Live` shows, again and again."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._log: deque[str] = deque(maxlen=LAST_LINES)

    def say(self, sentence: str) -> None:
        """Add a line to the log."""
        self._log.append(sentence)

    def __rich__(self) -> Group:
        progress = self._progress
        streams = Table("stream", "facts", "a second", "lag", "watermark", expand=True)
        slowest = progress.slowest
        for name, stream in progress.streams.items():
            rate, watermark = f"{stream.rate:,.0f}", _time(stream.watermark)
            if name in slowest:
                watermark += ", others wait"
            streams.add_row(Text(name), f"{stream.facts:,}", rate, _lag(stream), watermark)
        rows = Table("rows of", "so far", expand=True)
        for name, count in sorted(progress.rows.items()):
            rows.add_row(Text(name), f"{count:,}")
        dead = f", {progress.bad} bad, {progress.late} late" if progress.bad + progress.late else ""
        latency = Latency.of(tuple(progress.tick_milliseconds))
        sums = f"tick {_time(progress.tick)}, {progress.holding:,} facts hold{dead}"
        log = [Text(line, style="dim", no_wrap=True) for line in tuple(self._log)]
        return Group(streams, rows, Text(f"{sums}; tick latency {latency}"), *log)


def _time(instant: Instant | None) -> str:
    return "-" if instant is None else seconds(instant)


def _lag(stream: StreamProgress) -> str:
    return "-" if stream.lag is None else f"{stream.lag:,} {stream.lag_unit}"
