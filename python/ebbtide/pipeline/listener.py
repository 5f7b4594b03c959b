"""What Spark reports of a query, batch by batch, taken over into the progress of a run."""

from __future__ import annotations

from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from ebbtide.pipeline.progress import Progress


class ProgressListener(StreamingQueryListener):
    """Listens to the query of one name."""

    def __init__(self, progress: Progress, query: str) -> None:
        self._progress = progress
        self._query = query

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

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """There is nothing to read."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """It is over."""
