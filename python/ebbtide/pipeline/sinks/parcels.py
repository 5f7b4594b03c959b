"""Parcels to a function of this process, batch by batch: foreachBatch for those in a hurry.

    JVM       plan of the batch ─► run ─► call(stream, parcel) ... call(null, number)     ParcelSink
    Python    a table of the columns stream and parcel ─► take(table, number)

foreachBatch hands over a DataFrame, whose rows have to be planned, run, and asked for.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ebbtide.pipeline.jvm import load_java
from ebbtide.pipeline.stages.parcels import PARCEL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class _Taker:
    """What the JVM calls."""

    def __init__(self, take: Callable[[Any, int], None]) -> None:
        self._take = take
        self._streams: list[str] = []
        self._parcels: list[bytes] = []

    def call(self, stream: str | None, content: Any) -> None:
        """A parcel of a stream; or, without a stream, the number of the batch that has ended."""
        if stream is not None:
            self._streams.append(stream)
            self._parcels.append(content)
            return
        columns = [pa.array(self._streams, pa.string()), pa.array(self._parcels, pa.binary())]
        self._streams, self._parcels = [], []
        self._take(pa.table(columns, ["stream", PARCEL]), content)

    class Java:
        """Py4J's way to say which interface this is."""

        implements = ("org.apache.spark.api.java.function.VoidFunction2",)


def handing_over(parcels: DataFrame, take: Callable[[Any, int], None]) -> DataStreamWriter:
    """What writes a stream of parcels to a function."""
    from pyspark.java_gateway import ensure_callback_server_started

    context = parcels.sparkSession.sparkContext
    load_java(context._jvm, "ParcelSink")
    ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
    name = secrets.token_hex(8)
    context._jvm.ebbtide.ParcelSink.know(name, _Taker(take))  # type: ignore[union-attr]
    return parcels.writeStream.format("ebbtide.ParcelSink").option("taker", name)
