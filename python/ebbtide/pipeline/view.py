"""A running pipeline in the terminal: streams, rows, latency, and the last lines of its log."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ebbtide.pipeline.progress import Latency, Progress
from ebbtide.pipeline.sinks.console import seconds
from ebbtide.pipeline.streams import StreamProgress
from ebbtide.time import Instant

LAST_LINES: Final = 6
#: Lines that are neither rows of the tables nor the log: borders, heads, the sums.
FRAME: Final = 9

Row: TypeAlias = tuple[RenderableType, ...]


class View:
    """What `rich.live.Live` shows, again and again."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._log: deque[str] = deque(maxlen=LAST_LINES)

    def say(self, sentence: str) -> None:
        """Add a line to the log."""
        self._log.append(sentence)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        progress, slowest = self._progress, self._progress.slowest
        streams = list(progress.streams.items())
        of_rows = [(Text(name), f"{count:,}") for name, count in sorted(progress.rows.items())]
        room = max(4, console.height - FRAME - LAST_LINES)
        for_rows = min(len(of_rows), max(room // 2, room - len(streams)))
        if len(streams) > room - for_rows:
            # Those that the others wait for are shown on any terminal.
            streams.sort(key=lambda each: each[0] not in slowest)
        of_streams = [_of_stream(name, each, name in slowest) for name, each in streams]
        columns = ("stream", "facts", "a second", "lag", "watermark")
        yield _table(columns, of_streams, room - for_rows)
        yield _table(("rows of", "so far"), of_rows, for_rows)
        dead = f", {progress.bad} bad, {progress.late} late" if progress.bad + progress.late else ""
        latency = Latency.of(tuple(progress.tick_milliseconds))
        sums = f"tick {_time(progress.tick)}, {progress.holding:,} facts hold{dead}"
        yield Text(f"{sums}; tick latency {latency}")
        for line in tuple(self._log):
            yield Text(line, style="dim", no_wrap=True)


def _table(columns: Sequence[str], rows: Sequence[Row], room: int) -> Table:
    """As many rows as there is room for."""
    table = Table(*columns, expand=True)
    shown = rows if len(rows) <= room else rows[: max(0, room - 1)]
    for row in shown:
        table.add_row(*row)
    if left := len(rows) - len(shown):
        table.add_row(f"and {left} more")
    return table


def _of_stream(name: str, stream: StreamProgress, is_waited_for: bool) -> Row:
    rate, watermark = f"{stream.rate:,.0f}", _time(stream.watermark)
    if is_waited_for:
        watermark += ", others wait"
    return (Text(name), f"{stream.facts:,}", rate, _lag(stream), watermark)


def _time(instant: Instant | None) -> str:
    return "-" if instant is None else seconds(instant)


def _lag(stream: StreamProgress) -> str:
    return "-" if stream.lag is None else f"{stream.lag:,} {stream.lag_unit}"
