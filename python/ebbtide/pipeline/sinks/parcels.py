"""Parcels to a function of this process, batch by batch: foreachBatch for those in a hurry.

    JVM       plan of the batch ─► run ─► a file of parcels ─► call(number)     ParcelSink
    Python    the file ─► a table of the columns stream and parcel ─► take(table, number)

foreachBatch hands over a DataFrame, whose rows have to be planned, run, and asked for. Bytes go
through a file, because Py4J would write them as text.

Of a stream that is alone a few documents come unparsed, and are parsed here: then the table has the
rows of `stages.parse`, and the stream's name.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from ebbtide.pipeline.jvm import load_java
from ebbtide.pipeline.stages.parcels import PARCEL, Parse
from ebbtide.pipeline.stages.parse import rows_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

#: Bytes that say how many follow.
_LENGTH: Final = 4
#: Bytes of documents that are parsed sooner than a worker is told of them.
FEW: Final = 65_536


class Parser(NamedTuple):
    """What parses the documents of a stream in this process."""

    stream: str
    parse: Parse


class _Taker:
    """What the JVM calls."""

    def __init__(self, file: Path, take: Callable[[Any, int], None], parser: Parser | None) -> None:
        self._file = file
        self._take = take
        self._parser = parser

    def call(self, number: int) -> None:
        """The file has the parcels of a batch, or its documents."""
        content = self._file.read_bytes()
        parts = list(_parts(content))
        texts, values = (parts[place::2] for place in range(2))
        columns = [pa.array(texts, pa.binary()).cast(pa.string()), pa.array(values, pa.binary())]
        if content[0]:
            assert self._parser is not None
            documents = pa.record_batch(columns, ["path", "content"])
            rows = rows_table(self._parser.parse([documents]))
            table = rows.add_column(0, "stream", pa.repeat(self._parser.stream, rows.num_rows))
        else:
            table = pa.table(columns, ["stream", PARCEL])
        self._take(table, number)

    class Java:
        """Py4J's way to say which interface this is."""

        implements = ("org.apache.spark.api.java.function.VoidFunction",)


def _parts(content: bytes) -> Iterator[bytes]:
    place = 1
    while place < len(content):
        first = place + _LENGTH
        place = first + int.from_bytes(content[place:first], "big")
        yield content[first:place]


def handing_over(
    parcels: DataFrame,
    file: Path,
    take: Callable[[Any, int], None],
    parser: Parser | None = None,
) -> DataStreamWriter:
    """What writes a stream of parcels to a function, by way of a file.

    The `parser` is that of the stream, if there is but one and its documents have a size.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    context = parcels.sparkSession.sparkContext
    load_java(context._jvm, "ParcelSink")
    ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
    name = secrets.token_hex(8)
    context._jvm.ebbtide.ParcelSink.know(name, _Taker(file, take, parser))  # type: ignore[union-attr]
    return parcels.writeStream.format("ebbtide.ParcelSink").options(
        taker=name, file=str(file), few=-1 if parser is None else FEW
    )
