"""A sink that gets some of the rows: those of some predicates and some kinds of change."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.pipeline.sinks.sink import Sink


class Selected:
    """Passes on what an output asks for."""

    def __init__(
        self, sink: Sink, column: str, predicates: Collection[str], changes: Collection[str]
    ) -> None:
        self._sink = sink
        self._column = column
        self._predicates = pa.array(list(predicates), pa.string())
        self._changes = pa.array(list(changes), pa.string())

    def write(self, batch: int, rows: Any) -> None:
        """Pass on the rows of a batch that are asked for."""
        wanted = pc.is_in(rows["op"], self._changes)
        if len(self._predicates):
            wanted = pc.and_(wanted, pc.is_in(rows[self._column], self._predicates))
        self._sink.write(batch, rows.filter(wanted))

    def close(self) -> None:
        """Close the sink."""
        self._sink.close()
