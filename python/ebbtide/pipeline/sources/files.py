"""A folder of stream files: every file that appears in it is read once, in order of its time.

A file is read whole, by the executor that parses it: any format, gzip'd or not, and a bad line is
known by its number. So a file must fit in memory; what is larger is cut by whoever writes it.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from ebbtide.pipeline.stages.parse import ANY, Documents, parse_files

SCHEMA = "path string, modificationTime timestamp, length long, content binary"


def read_files(
    spark: SparkSession, folder: Path, documents: Documents = ANY, *, files_a_batch: int = 1_000
) -> DataFrame:
    """The facts of the files of a folder, those of the future included.

    Whoever writes to the folder moves finished files into it: what is there is read as it is.
    """
    reader = spark.readStream.format("binaryFile").schema(SCHEMA)
    files = reader.option("maxFilesPerTrigger", files_a_batch).load(str(folder))
    return parse_files(files, folder, documents)
