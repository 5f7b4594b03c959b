"""Rules over JSON files as a step of an ordinary PySpark program, for spark-submit.

    spark-submit examples/sensors/sensors.py READINGS CHECKPOINT OUT

Reads the JSON lines that are in a folder, concludes which streets were crowded in the last ten
seconds, and writes what changes as JSON. It goes on from its checkpoint when it is run again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from ebbtide.pipeline import reason
from ebbtide.time import Sliding

HERE = Path(__file__).parent


def main(readings: str, checkpoint: str, out: str) -> None:
    """Run it."""
    spark = SparkSession.builder.appName("sensors").getOrCreate()
    # As many tasks as shards: 200, which is what Spark takes, make a batch last a minute.
    spark.conf.set("spark.sql.shuffle.partitions", 1)
    rows = spark.readStream.schema("at timestamp, sensor string, kind string, value double")
    # A fact is an instant and three terms as N-Triples writes them.
    facts = rows.json(readings).selectExpr(
        "at AS t",
        "concat('<http://example/city#', sensor, '>') AS s",
        "concat('<http://example/city#', kind, '>') AS p",
        "concat('\"', value, '\"^^<http://www.w3.org/2001/XMLSchema#double>') AS o",
    )
    changes = reason(
        facts,
        HERE / "streets.rules",
        window=Sliding(10_000),
        lateness=1_000,
        background=HERE / "streets.ttl",
    )
    crowded = changes.where("p = '<http://example/city#isCrowded>'")
    writer = crowded.writeStream.format("json").option("checkpointLocation", checkpoint)
    writer.trigger(availableNow=True).start(out).awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
