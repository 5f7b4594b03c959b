"""Reasoning in shards on a Spark cluster: an ordinary PySpark program, for spark-submit.

    ebbtide package ebbtide.tar.gz
    spark-submit --master spark://HOST:7077 \
        --archives ebbtide.tar.gz#ebbtide --conf spark.executorEnv.PYTHONPATH=ebbtide \
        examples/cluster/campus.py INCOMING CHECKPOINT OUT

Reads the .tnt files that are in a folder, four at a time, concludes what RDFS says of the last ten
seconds, and writes what changes as Parquet. It goes on from its checkpoint when it is run again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from ebbtide.pipeline import reason
from ebbtide.pipeline.sources.files import read_files
from ebbtide.time import Sliding

SHARDS = 2


def main(incoming: str, checkpoint: str, out: str) -> None:
    """Run it."""
    spark = SparkSession.builder.appName("campus").getOrCreate()
    # As many tasks as shards, not the 200 that Spark takes if nobody says.
    spark.conf.set("spark.sql.shuffle.partitions", SHARDS)
    facts = read_files(spark, Path(incoming), files_a_batch=4).where("error IS NULL")
    changes = reason(
        facts,
        "rdfs-sparkwave",
        window=Sliding(10_000),
        lateness=500,
        background=[Path(__file__).with_name("campus.ttl")],
        shards=SHARDS,
    )
    writer = changes.writeStream.format("parquet").option("checkpointLocation", checkpoint)
    writer.trigger(availableNow=True).start(out).awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
