"""The local file system of our sessions: as Hadoop's, and no process is forked for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

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
