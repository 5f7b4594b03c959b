"""The sink that hands parcels to a function of this process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ebbtide.pipeline.sinks.parcels import FEW, Parser, handing_over
from ebbtide.pipeline.sources.files import read_files
from ebbtide.pipeline.stages.parcels import PARCEL, unpacked_rows
from ebbtide.pipeline.stages.parse import Documents, parser

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
    for _, table in taken:
        rows = unpacked_rows(table)
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


def test_a_few_documents_are_parsed_here_and_alike(spark: SparkSession, tmp_path: Path) -> None:
    """Files of no lines, of some, a bad one among them, and of more than a few; of two streams."""
    line = "1\t<a:s> <a:p> <a:o> .\n"
    documents = ["", f"{line}what?\n{line}", line * (1 + FEW // len(line)), line]
    folders = {"one": tmp_path / "incoming", "two": tmp_path / "incoming/more"}
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
    here = [
        Parser(stream, folder, parser(str(folder), Documents()))
        for stream, folder in folders.items()
    ]
    taken: dict[str, list[pa.Table]] = {"by workers": [], "here": []}
    for where, tables in taken.items():
        writer = handing_over(
            whole,
            tmp_path / "parcels",
            lambda table, _, tables=tables: tables.append(table),
            here if where == "here" else (),
        )
        query = writer.option("checkpointLocation", str(tmp_path / where)).start()
        query.processAllAvailable()
        query.stop()
    assert [PARCEL in each.column_names for each in taken["by workers"]] == [True] * 4
    assert [PARCEL in each.column_names for each in taken["here"]] == [False, False, True, False]
    # Of a file without lines there is no parcel either.
    for theirs, ours in zip(taken["by workers"][1:], taken["here"][1:], strict=True):
        assert unpacked_rows(theirs).equals(unpacked_rows(ours))
    assert taken["by workers"][0].num_rows == taken["here"][0].num_rows == 0
