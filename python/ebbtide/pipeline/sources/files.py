"""A folder of stream files: every file that appears in it is read once, in order of its time."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession


def timed_lines(spark: SparkSession, folder: Path, *, files_a_batch: int = 1000) -> DataFrame:
    """A streaming DataFrame with a column `value`, one row a line.

    Whoever writes to the folder moves finished files into it: what is there is read as it is.
    """
    reader = spark.readStream.format("text").option("maxFilesPerTrigger", files_a_batch)
    return reader.load(str(folder))
