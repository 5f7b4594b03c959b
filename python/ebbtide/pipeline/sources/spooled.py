"""The pieces of a spool as a data source of Spark: replayable, bounded, and pruned when committed.

    offset   {"last": the name of the last piece read, "bytes": how many were read up to it,
              "stream": whose spool it is}
    row      path, content: a piece, as the binaryFile source would give it

The driver reads the pieces and hands them to the tasks, so executors on other machines need not see
its disk. Invariant: the names of pieces sort as time goes. A piece is taken away when Spark has
committed a later one; the last one stays, so that a spool knows where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxBytes

from ebbtide.pipeline.sources.spool import pieces_of


def read_spool(spark: SparkSession, folder: Path, bytes_a_batch: int) -> DataFrame:
    """The pieces of a spool, those of the future included: path and content."""
    spark.dataSource.register(SpoolSource)
    reader = spark.readStream.format(SpoolSource.name()).option("folder", str(folder))
    return reader.option("bytes_a_batch", bytes_a_batch).load()


def read_lines(spark: SparkSession, folder: Path, bytes_a_batch: int) -> DataFrame:
    """The lines of the pieces of a spool as messages: source, number and value."""
    pieces = read_spool(spark, folder, bytes_a_batch)
    lines = F.posexplode(F.split(F.col("content").cast("string"), "\n")).alias("before", "value")
    each = pieces.select(F.col("path").alias("source"), lines).where("value <> ''")
    return each.select("source", (F.col("before") + 1).alias("number"), "value")


class SpoolSource(DataSource):
    """What Spark knows the source by."""

    @classmethod
    def name(cls) -> str:
        """As `readStream.format` calls it."""
        return "ebbtide-spool"

    def schema(self) -> str:
        """A row is a piece."""
        return "path string, content binary"

    def streamReader(self, schema: Any) -> SpoolReader:  # noqa: N802  (Spark's name)
        """The reader of a folder."""
        return SpoolReader(Path(self.options["folder"]), int(self.options["bytes_a_batch"]))


class SpooledPiece(InputPartition):
    """A piece on its way to a task."""

    def __init__(self, path: str, content: bytes) -> None:
        super().__init__(path)
        self.content = content


class SpoolReader(DataSourceStreamReader):
    """Reads a folder of pieces."""

    def __init__(self, folder: Path, bytes_a_batch: int) -> None:
        self._folder = folder
        self._bytes_a_batch = bytes_a_batch
        self._start: dict[str, Any] = self.initialOffset()

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Before the first piece."""
        return {"last": "", "bytes": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """So many bytes, or one piece if that is larger."""
        return ReadMaxBytes(self._bytes_a_batch)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The last piece within the limit."""
        self._start = start
        most = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        return self._offset(start, most)

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """The last piece there is."""
        return self._offset(self._start, None)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A task a piece."""
        return [
            SpooledPiece(piece.name, piece.read_bytes())
            for piece in pieces_of(self._folder, start["last"], end["last"])
        ]

    def read(self, partition: InputPartition) -> Iterator[tuple[str, bytes]]:
        """The one row of a piece."""
        assert isinstance(partition, SpooledPiece)
        yield partition.value, partition.content

    def commit(self, end: dict[str, Any]) -> None:
        """Take away what will not be asked for again."""
        for piece in pieces_of(self._folder):
            if piece.name < end["last"]:
                piece.unlink()

    def _offset(self, start: dict[str, Any], most: int | None) -> dict[str, Any]:
        offset, begun = start, start["bytes"]
        for piece in pieces_of(self._folder, start["last"]):
            bytes_ = offset["bytes"] + piece.stat().st_size
            if offset is not start and most is not None and bytes_ - begun > most:
                break
            offset = {"last": piece.name, "bytes": bytes_, "stream": self._folder.name}
        return offset
