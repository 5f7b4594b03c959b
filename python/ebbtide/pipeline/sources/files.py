"""A folder of stream files: every file that appears in it is read once, in order of its time.

A file is read whole, by the executor that parses it: any format, gzip'd or not, and a bad line is
known by its number. So a file must fit in memory; what is larger is cut by whoever writes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader

from ebbtide.pipeline.stages.parse import ANY, Documents, parse_files

SCHEMA = "path string, modificationTime timestamp, length long, content binary"
#: Spark passes over files that are so much older than the latest it has read, a week if nobody says
#: so, and files keep their time when they are moved. Its log knows for ever what was read.
OLDEST: Final = "36500d"


def read_files(
    spark: SparkSession, folder: Path, documents: Documents = ANY, *, files_a_batch: int = 1_000
) -> DataFrame:
    """The facts of the files of a folder, those of the future included.

    Whoever writes to the folder moves finished files into it: what is there is read as it is.
    """
    files = folder_reader(spark, files_a_batch).format("binaryFile").schema(SCHEMA)
    return parse_files(files.load(str(folder)), folder, documents)


def folder_reader(spark: SparkSession, files_a_batch: int) -> DataStreamReader:
    """What reads every file of a folder, so many a batch."""
    reader = spark.readStream.option("maxFilesPerTrigger", files_a_batch)
    return reader.option("maxFileAge", OLDEST)
