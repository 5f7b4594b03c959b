"""What Spark reports of a query, batch by batch, taken over into the progress of a run.

    sources            offsets, from which the lag follows
    observed metrics   how many facts each stream brought, where the driver does not see them

Then all numbers of the run go into Spark's metrics system (`gauges`).
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Condition
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.streaming.listener import StreamingQueryListener

from ebbtide.pipeline.gauges import Gauges
from ebbtide.pipeline.progress import Progress
from ebbtide.time import Instant

#: Seconds that the end of a run waits for the last report; a busy machine can be that far behind.
PATIENCE: Final = 30.0
#: The name of what is observed of the facts of a batch.
OBSERVED: Final = "ebbtide"


def observed(facts: DataFrame, streams: Iterable[str]) -> DataFrame:
    """Facts that Spark counts, stream by stream, while they pass."""
    metrics: list[Column] = []
    for place, name in enumerate(streams):
        of_stream = F.when((F.col("stream") == name) & F.col("error").isNull(), F.col("t"))
        metrics += [
            F.count(of_stream).alias(f"count_{place}"),
            F.max(of_stream).alias(f"latest_{place}"),
        ]
    return facts.observe(OBSERVED, *metrics)


def counts_of(row: Any, streams: Iterable[str]) -> dict[str, tuple[int, Instant | None]]:
    """How many facts each stream brought, and their latest instant."""
    return {
        name: (row[f"count_{place}"], row[f"latest_{place}"]) for place, name in enumerate(streams)
    }


class ProgressListener(StreamingQueryListener):
    """Listens to the query of one name."""

    def __init__(self, progress: Progress, query: str, gauges: Gauges) -> None:
        self._progress = progress
        self._query = query
        self._gauges = gauges
        self._last = Condition()
        self._batch = -1

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802  (Spark's name)
        """It begins."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """A batch is done."""
        if event.progress.name != self._query:
            return
        # Spark names sources by what they read; they come in the order of the streams.
        streams = self._progress.streams.values()
        for stream, source in zip(streams, event.progress.sources, strict=False):
            stream.heard(source.endOffset, source.latestOffset)
        if (row := event.progress.observedMetrics.get(OBSERVED)) is not None:
            self._progress.heard(counts_of(row, self._progress.streams))
        self._gauges.set(self._progress)
        with self._last:
            self._batch = event.progress.batchId
            self._last.notify_all()

    def wait_for(self, batch: int) -> None:
        """Wait, not for ever, until Spark has reported of a batch: it does so in its own time."""
        with self._last:
            self._last.wait_for(lambda: self._batch >= batch, PATIENCE)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """There is nothing to read."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """It is over."""
