"""Placement `driver`: executors parse, one reasoner lives in the driver process.

Each micro-batch comes over as Arrow columns, is pushed, and every tick that it completes is
evaluated and written to the sink, in order. Lowest latency; for state that fits one machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from ebbtide.pipeline.sinks import Sink
from ebbtide.reasoner import Reasoner


@dataclass
class Progress:
    """What has passed through so far."""

    facts_in: int = 0
    bad_lines: int = 0
    tick_seconds: list[float] = field(default_factory=list)


class DriverPlacement:
    """One reasoner and its sink, fed by micro-batches."""

    def __init__(self, reasoner: Reasoner, sink: Sink) -> None:
        self.progress = Progress()
        self._reasoner = reasoner
        self._sink = sink

    def start(self, facts: DataFrame, checkpoint: Path) -> StreamingQuery:
        """Start the streaming query over the facts (the output of `stages.parse`)."""
        writer = facts.writeStream.foreachBatch(self._reason)
        return writer.option("checkpointLocation", str(checkpoint)).start()

    def finish(self) -> None:
        """The stream has ended: evaluate the ticks that waited for later facts."""
        for delta in self._reasoner.finish():
            self._sink.write(delta)

    def _reason(self, batch: DataFrame, batch_id: int) -> None:
        import pyarrow.compute as pc

        table = batch.toArrow()
        good = table.filter(pc.is_null(table["error"]))
        self.progress.facts_in += good.num_rows
        self.progress.bad_lines += table.num_rows - good.num_rows
        self._reasoner.push_all(good)
        before = time.perf_counter()
        for delta in self._reasoner.deltas():
            self.progress.tick_seconds.append(time.perf_counter() - before)
            self._sink.write(delta)
            before = time.perf_counter()
