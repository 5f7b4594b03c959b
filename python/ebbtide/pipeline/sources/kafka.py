"""Topics of Kafka, through Spark's own connector: offsets, back-pressure and replay are Spark's.

The connector is not part of the pyspark package: it comes with `spark.jars.packages`, or as files
with `spark.jars` (docs/how-to/kafka.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.pipeline.errors import PipelineError


class ConnectorMissing(PipelineError):
    """Spark was started without its Kafka connector."""

    def __init__(self) -> None:
        super().__init__(
            "Spark's Kafka connector is missing: name it in the pipeline file, "
            '[spark.settings] "spark.jars.packages" = '
            '"org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION" (docs/how-to/kafka.md)'
        )


def read_kafka(
    spark: SparkSession,
    *,
    servers: str,
    topics: Sequence[str],
    starting: str = "earliest",
    messages_a_batch: int = 100_000,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """The messages of some topics: source (topic/partition), number (offset) and value."""
    reader = spark.readStream.format("kafka").options(
        **{
            "kafka.bootstrap.servers": servers,
            "subscribe": ",".join(topics),
            "startingOffsets": starting,
            "maxOffsetsPerTrigger": str(messages_a_batch),
            **(options or {}),
        }
    )
    try:
        messages = reader.load()
    except AnalysisException as error:
        if "kafka" in str(error).lower():
            raise ConnectorMissing from None
        raise
    return messages.select(
        F.concat_ws("/", "topic", "partition").alias("source"),
        F.col("offset").alias("number"),
        "value",
    )
