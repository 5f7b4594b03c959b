"""The sink that hands parcels to a function of this process."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.sinks.parcels import handing_over
from ebbtide.pipeline.sources.files import read_files
from ebbtide.pipeline.sources.here import FEW, Home, few_rows
from ebbtide.pipeline.sources.spooled import read_spool
from ebbtide.pipeline.stages.parse import Documents, parse_files, parsed, parser

pytestmark = pytest.mark.spark


def started(spark: SparkSession, folder: Path, take: Any) -> StreamingQuery:
    """A query over two streams, a file of each a batch."""
    whole = None
    for name in ("one", "two"):
        facts = read_files(spark, folder / name, Documents(parcels=True), files_a_batch=1)
        named = facts.selectExpr(f"'{name}' AS stream", "*")
        whole = named if whole is None else whole.unionByName(named)
    assert whole is not None
    writer = handing_over(whole, folder / "parcels", take)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    return writer.start()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for number in range(2):
            facts = (f"{number}\t<a:{name}> <a:p> <a:{each}> .\n" for each in range(2_000))
            (tmp_path / name / f"{number}.tnt").write_text("".join(facts))
    return tmp_path


def test_every_parcel_comes_with_its_batch(spark: SparkSession, folder: Path) -> None:
    taken: list[tuple[int, pa.Table]] = []
    query = started(spark, folder, lambda table, number: taken.append((number, table)))
    query.processAllAvailable()
    query.stop()
    assert [number for number, _ in taken] == [0, 1]
    for _, rows in taken:
        assert rows.num_rows == 4_000
        assert set(rows["stream"].to_pylist()) == {"one", "two"}


def test_a_batch_that_fails_comes_again(spark: SparkSession, folder: Path) -> None:
    numbers: list[int] = []

    def take(table: pa.Table, number: int) -> None:
        numbers.append(number)
        if numbers == [0, 1]:
            raise ValueError("not now")

    with pytest.raises(StreamingQueryException, match="not now"):
        started(spark, folder, take).processAllAvailable()
    query = started(spark, folder, take)
    query.processAllAvailable()
    query.stop()
    assert numbers == [0, 1, 1]


class Batch(NamedTuple):
    rows: pa.Table
    by_workers: bool


def taken_by(
    spark: SparkSession, parcels: DataFrame, folder: Path, homes: Sequence[Home]
) -> tuple[list[Batch], list[int]]:
    """The batches of a stream, and how many rows Spark says that it read in each."""
    batches: list[Batch] = []
    file = folder / "parcels"

    def take(rows: pa.Table, number: int) -> None:
        batches.append(Batch(rows, file.exists()))
        file.unlink(missing_ok=True)

    writer = handing_over(parcels, file, take, homes)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    query.processAllAvailable()
    query.stop()
    shutil.rmtree(folder / "checkpoint")
    return batches, [each.numInputRows for each in query.recentProgress if each.numInputRows]


def test_a_few_documents_are_parsed_here_and_alike(spark: SparkSession, tmp_path: Path) -> None:
    """Files of no lines, of some, a bad one among them, and of more than a few; of two streams."""
    line = "1\t<a:s> <a:p> <a:o> .\n"
    documents = ["", f"{line}what?\n{line}", line * (1 + FEW // len(line)), line]
    folders = {"one": tmp_path / "incoming", "two": tmp_path / "incoming/#1 and %20?"}
    whole: DataFrame | None = None
    for stream, folder in folders.items():
        folder.mkdir()
        # The second stream has nothing after its first two files.
        for number, document in enumerate(documents if stream == "one" else ["", line * 2]):
            (folder / f"{number}.tnt").write_text(document)
            # Read in the order of their times.
            os.utime(folder / f"{number}.tnt", (number, number))
        facts = read_files(spark, folder, Documents(parcels=True), files_a_batch=1)
        named = facts.selectExpr(f"'{stream}' AS stream", "*")
        whole = named if whole is None else whole.unionByName(named)
    assert whole is not None
    homes = [
        Home(stream, folder, parser(str(folder), Documents())) for stream, folder in folders.items()
    ]
    by_workers, read = taken_by(spark, whole, tmp_path, ())
    here, read_here = taken_by(spark, whole, tmp_path, homes)
    assert read == read_here == [2, 1, 1]  # Spark leaves out files that are empty.
    assert [each.by_workers for each in by_workers] == [True] * 4
    assert [each.by_workers for each in here] == [False, False, True, False]
    for theirs, ours in zip(by_workers, here, strict=True):
        assert theirs.rows.equals(ours.rows)
    # Whose documents are not all known here, workers parse them.
    others, _ = taken_by(spark, whole, tmp_path, homes[1:])
    assert [each.by_workers for each in others] == [False, True, True, True]


def test_a_few_pieces_of_a_spool_are_parsed_here_and_alike(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of a folder beside it, too, of which files of another kind are no documents."""
    line = "1\t<a:s> <a:p> <a:o> .\n"
    (tmp_path / "spool").mkdir()
    for number, text in enumerate([f"{line}what?\n", line * FEW, line, line * 2]):
        (tmp_path / f"spool/{number}.tnt").write_text(text)
    (tmp_path / "files").mkdir()
    (tmp_path / "files/a.tnt").write_text(line)
    documents = Documents(parcels=True)
    pieces = read_spool(spark, tmp_path / "spool", 1)
    spooled = parse_files(pieces, tmp_path / "spool", documents)
    files = read_files(spark, tmp_path / "files", documents)
    whole = spooled.selectExpr("'spool' AS stream", "*").unionByName(
        files.selectExpr("'files' AS stream", "*")
    )
    homes = [
        Home(name, tmp_path / name, parser(str(tmp_path / name), Documents()))
        for name in ("spool", "files")
    ]
    kept = shutil.copytree(tmp_path / "spool", tmp_path / "kept")
    by_workers, read = taken_by(spark, whole, tmp_path, ())
    shutil.copytree(kept, tmp_path / "spool", dirs_exist_ok=True)
    here, read_here = taken_by(spark, whole, tmp_path, homes)
    assert read == read_here == [2, 1, 1, 1]
    assert [each.by_workers for each in here] == [False, True, False, False]
    for theirs, ours in zip(by_workers, here, strict=True):
        assert theirs.rows.sort_by("source").equals(ours.rows.sort_by("source"))

    # Lines of text in the folder of documents are somebody else's.
    texts = spark.readStream.text(str(tmp_path / "files"))
    foreign = parsed(
        texts.selectExpr("'a' AS path", "CAST(value || '\n' AS BINARY) AS content"),
        parser("", Documents()),
        parcels=True,
    )
    batches, _ = taken_by(spark, foreign.selectExpr("'foreign' AS stream", "*"), tmp_path, homes)
    assert [each.rows["stream"].to_pylist() for each in batches] == [["foreign"]]


def test_a_file_that_is_gone_is_named(spark: SparkSession, tmp_path: Path) -> None:
    """Between the moment in which Spark sees it and that in which it is read."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/1.tnt").write_text("")
    home = Home("in", tmp_path / "in", parser(str(tmp_path / "in"), Documents()))
    gone = tmp_path / "in/2.tnt"
    with pytest.raises(PipelineError) as caught:
        few_rows(gone.as_uri(), [home])
    assert str(caught.value).startswith(f"{gone} cannot be read: No such file or directory; when")


def test_what_is_packed_is_for_workers(tmp_path: Path) -> None:
    """Few bytes may be many lines."""
    home = Home("in", tmp_path, parser(str(tmp_path), Documents()))
    packed, plain = tmp_path / "1.tnt.gz", tmp_path / "2.tnt.gz"
    packed.write_bytes(gzip.compress(b"what?\n" * 1_000_000))
    plain.write_text("1\t<a:s> <a:p> <a:o> .\n")
    assert packed.stat().st_size < FEW
    assert few_rows(f"{packed.as_uri()}\n{plain.as_uri()}", [home]) is None
    assert few_rows(plain.as_uri(), [home]).num_rows == 1


def test_what_is_not_known_is_not_taken(tmp_path: Path) -> None:
    """Another file system, another folder, another source, a spool of before, another stream's."""
    home = Home("in", tmp_path, parser(str(tmp_path), Documents()))
    (tmp_path / "1.tnt").write_text("1\t<a:s> <a:p> <a:o> .\n")
    known = (tmp_path / "1.tnt").as_uri()
    assert few_rows(known, [home]).num_rows == 1
    assert few_rows("", [home]).num_rows == 0
    assert few_rows("", []) is None
    for other in (
        f"hdfs:{tmp_path}/1.tnt",
        "file:///elsewhere/1.tnt",
        '{"stream": {"0": 1}}\t{"stream": {"0": 2}}',
        '{"last": "", "bytes": 0}\t{"last": "1.tnt", "bytes": 23}',
        '{"last": "", "bytes": 0}\t{"last": "1.tnt", "bytes": 23, "stream": "out"}',
        "Scan ExistingRDD",
    ):
        assert few_rows(f"{known}\n{other}\n", [home]) is None
