"""Parcels to a function of this process, batch by batch: foreachBatch for those in a hurry.

    JVM       plan of the batch ─► call(number, what it reads)                    ParcelSink
    Python    few documents, and here ─► their rows ─► take(rows, number) ─► True, and it is done
    JVM       else: run the plan ─► a file of parcels ─► call(number, None)
    Python    the file ─► their rows ─► take(rows, number)

foreachBatch hands over a DataFrame, whose rows have to be planned, run, and asked for. Bytes go
through a file, because Py4J would write them as text.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ebbtide.pipeline.jvm import load_java
from ebbtide.pipeline.sources.here import Home, few_rows
from ebbtide.pipeline.stages.parcels import unpacked_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

#: Bytes that say how many follow.
_LENGTH: Final = 4


class _Taker:
    """What the JVM calls."""

    def __init__(self, file: Path, take: Callable[[Any, int], None], homes: Sequence[Home]) -> None:
        self._file = file
        self._take = take
        self._homes = homes

    def call(self, number: int, read: str | None) -> bool:
        """Take a batch: of the documents that it reads, if they are few, or of the file."""
        if read is None:
            parts = list(_parts(self._file.read_bytes()))
            streams = (part.decode() for part in parts[::2])
            rows = unpacked_rows(zip(streams, parts[1::2], strict=True))
        else:
            rows = few_rows(read, self._homes)
        if rows is not None:
            self._take(rows, number)
        return rows is not None

    class Java:
        """Py4J's way to say which interface this is."""

        implements = ("org.apache.spark.api.java.function.Function2",)


def _parts(content: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(content):
        first = place + _LENGTH
        place = first + int.from_bytes(content[place:first], "big")
        yield content[first:place]


def handing_over(
    parcels: DataFrame,
    file: Path,
    take: Callable[[Any, int], None],
    homes: Sequence[Home] = (),
) -> DataStreamWriter:
    """What writes a stream of parcels to a function, by way of a file.

    `homes` are where this process can read documents itself.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    context = parcels.sparkSession.sparkContext
    load_java(context._jvm, "ParcelSink")
    ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
    name = secrets.token_hex(8)
    context._jvm.ebbtide.ParcelSink.know(name, _Taker(file, take, homes))  # type: ignore[union-attr]
    return parcels.writeStream.format("ebbtide.ParcelSink").options(taker=name, file=str(file))
