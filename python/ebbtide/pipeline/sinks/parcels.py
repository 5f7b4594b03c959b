"""Parcels to a function of this process, batch by batch: foreachBatch for those in a hurry.

    JVM       plan of the batch ─► run ─► a file of parcels ─► call(number)     ParcelSink
    Python    the file ─► a table of the columns stream and parcel ─► take(table, number)

foreachBatch hands over a DataFrame, whose rows have to be planned, run, and asked for. Bytes go
through a file, because Py4J would write them as text.

Where all streams are of files, a few documents come unparsed, and are parsed here: then the table
has the rows of `stages.parse`, and the streams' names.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.pipeline.jvm import load_java
from ebbtide.pipeline.stages.parcels import PARCEL, Parse
from ebbtide.pipeline.stages.parse import path_of, rows_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

#: Bytes that say how many follow.
_LENGTH: Final = 4
#: Bytes of documents that are parsed sooner than a worker is told of them.
FEW: Final = 65_536


class Parser(NamedTuple):
    """What parses the documents of a stream, which are in a folder, in this process."""

    stream: str
    folder: Path
    parse: Parse


class _Taker:
    """What the JVM calls."""

    def __init__(
        self, file: Path, take: Callable[[Any, int], None], parsers: Sequence[Parser]
    ) -> None:
        self._file = file
        self._take = take
        self._parsers = parsers

    def call(self, number: int) -> None:
        """The file has the parcels of a batch, or its documents."""
        content = self._file.read_bytes()
        parts = list(_parts(content))
        texts, values = (parts[place::2] for place in range(2))
        columns = [pa.array(texts, pa.binary()).cast(pa.string()), pa.array(values, pa.binary())]
        if content[0]:
            table = self._parsed(pa.record_batch(columns, ["path", "content"]))
        else:
            table = pa.table(columns, ["stream", PARCEL])
        self._take(table, number)

    def _parsed(self, documents: Any) -> Any:
        paths = [Path(path_of(uri)) for uri in documents["path"].to_pylist()]
        homes = pa.array([self._home(path) for path in paths], pa.string())
        tables = []
        for stream, _, parse in self._parsers:
            rows = rows_table(parse([documents.filter(pc.equal(homes, stream))]))
            tables.append(rows.add_column(0, "stream", pa.repeat(stream, rows.num_rows)))
        return pa.concat_tables(tables)

    def _home(self, path: Path) -> str:
        """The stream of a document: that of the innermost folder it is in."""
        around = [each for each in self._parsers if path.is_relative_to(each.folder)]
        return max(around, key=lambda each: len(each.folder.parts)).stream

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
    parsers: Sequence[Parser] = (),
) -> DataStreamWriter:
    """What writes a stream of parcels to a function, by way of a file.

    `parsers` are those of all streams, if they are of files.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    context = parcels.sparkSession.sparkContext
    load_java(context._jvm, "ParcelSink")
    ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
    name = secrets.token_hex(8)
    context._jvm.ebbtide.ParcelSink.know(name, _Taker(file, take, parsers))  # type: ignore[union-attr]
    return parcels.writeStream.format("ebbtide.ParcelSink").options(
        taker=name, file=str(file), few=FEW if parsers else -1
    )
