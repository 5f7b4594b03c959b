"""The local file system of our sessions: as Hadoop's, and no process is forked for it."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ebbtide.pipeline.sources.files import read_files
from ebbtide.pipeline.stages.parse import ANY, parse_files

pytestmark = pytest.mark.spark


def write(spark: SparkSession, path: Path, text: str) -> None:
    """Write a file aside and rename it, as a checkpoint does, through `FileContext`."""
    jvm: Any = spark._jvm
    hadoop = jvm.org.apache.hadoop.fs
    context = hadoop.FileContext.getFileContext(spark._jsc.hadoopConfiguration())
    aside, there = (hadoop.Path(f"file://{name}") for name in (f"{path}.tmp", path))
    flags = jvm.java.util.EnumSet.of(hadoop.CreateFlag.CREATE)
    options = spark.sparkContext._gateway.new_array(hadoop.Options.CreateOpts, 0)
    with_overwrite = spark.sparkContext._gateway.new_array(hadoop.Options.Rename, 1)
    with_overwrite[0] = hadoop.Options.Rename.OVERWRITE
    stream = context.create(aside, flags, options)
    stream.writeBytes(text)
    stream.close()
    context.rename(aside, there, with_overwrite)


def faults_of_children(spark: SparkSession) -> int:
    """The page faults of all processes that the JVM has started and seen the end of."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[8])


def test_a_file_is_replaced_without_a_fork(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "7"
    faults = []
    for text in ("one", "two", "three", "four"):
        before = faults_of_children(spark)
        write(spark, file, text)
        faults.append(faults_of_children(spark) - before)
        assert file.read_text() == text
    # A process of another test may have ended meanwhile; a fork would be seen every time.
    assert 0 in faults
    assert [each.name for each in tmp_path.iterdir()] == ["7"]


def test_permissions_are_those_of_the_mask(spark: SparkSession, tmp_path: Path) -> None:
    configuration = spark._jsc.hadoopConfiguration()
    configuration.set("fs.permissions.umask-mode", "027")
    try:
        write(spark, tmp_path / "7", "text")
    finally:
        configuration.unset("fs.permissions.umask-mode")
    assert (tmp_path / "7").stat().st_mode & 0o777 == 0o640


def test_files_of_one_time_are_read_by_name(spark: SparkSession, tmp_path: Path) -> None:
    """As an archive that was unpacked has them: whatever order they were made in."""
    folder = tmp_path / "in"
    folder.mkdir()
    names = [f"{number:02d}.tnt" for number in range(12)]
    for name in random.Random(7).sample(names, len(names)):
        at = 1_000 * int(name[:2])
        (folder / name).write_text(f"{at}\t<http://e/s> <http://e/p> <http://e/o> .\n")
        os.utime(folder / name, (10**9, 10**9))
    read: list[list[int]] = []
    query = (
        read_files(spark, folder, files_a_batch=4)
        .writeStream.foreachBatch(lambda rows, _: read.append(rows.toArrow()["t"].to_pylist()))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    assert list(map(sorted, read)) == [
        [1_000 * number for number in range(first, first + 4)] for first in (0, 4, 8)
    ]


def test_a_file_may_be_called_by_a_time(spark: SparkSession, tmp_path: Path) -> None:
    """What is before a colon is no scheme."""
    (tmp_path / "12:30.tnt").write_text("1000\t<http://e/s> <http://e/p> <http://e/o> .\n")
    files = spark.read.format("binaryFile").load(str(tmp_path))
    rows = parse_files(files, tmp_path, ANY).toArrow()
    assert rows.select(["source", "t"]).to_pylist() == [{"source": "12:30.tnt", "t": 1_000}]
