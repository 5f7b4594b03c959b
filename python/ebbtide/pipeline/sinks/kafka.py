"""A topic of Kafka: a message a row, written by Spark's own connector.

    key       of rules the fact's subject, of a program the predicate, of a query its name: what
              belongs together stays in order
    value     the row, in JSON
    header    ebbtide: the output and the batch

Invariant: a row is in the topic once, also after kill -9. Kafka cannot replace what it has, and the
connector writes without transactions, so the first batch of a run may be there already, whole or in
part. What of it is there is read back, by its header, and left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.sinks.parts import Encode
from ebbtide.testing.crash import crash_point

HEADER: Final = "ebbtide"
# Clocks of executors and of the driver may differ by so much, in seconds.
_CLOCKS: Final = 60
#: What Kafka says of messages that it does not take, or of itself if it is not there.
_REFUSED: Final = re.compile(
    r"org\.apache\.kafka\.common\.errors\.\w+: (?P<said>.+?)\.?$", re.MULTILINE
)
_RECORDS: Final = pa.schema([("key", pa.string()), ("value", pa.string())])


class KafkaSink:
    """Writes rows to a topic."""

    def __init__(
        self,
        spark: SparkSession,
        servers: str,
        topic: str,
        encode: Encode,
        tag: str,
        begun_after: Callable[[int], float | None],
        options: Mapping[str, str],
    ) -> None:
        self._spark = spark
        self._topic = topic
        self._encode = encode
        self._tag = tag
        self._begun_after = begun_after
        self._options = {"kafka.bootstrap.servers": servers, **options}
        self._is_first = True

    def write(self, batch: int, rows: Any) -> None:
        """Write what is not there yet of a batch."""
        records = Counter(zip(_keys(rows), self._encode(rows).decode().splitlines(), strict=True))
        if self._is_first:
            records -= self._written(batch)
            self._is_first = False
        if records:
            self._send(batch, records.elements())
        crash_point("sink", f"{self._topic}-{batch}")

    def close(self) -> None:
        """Nothing is open."""

    def _send(self, batch: int, records: Iterable[tuple[str, str]]) -> None:
        keys, values = zip(*records, strict=True)
        table = pa.table([keys, values], schema=_RECORDS)
        # One task, so that the order of rows is the order of messages.
        frame = self._spark.createDataFrame(table).coalesce(1)
        frame = frame.select("key", "value", self._headers(batch).alias("headers"))
        try:
            frame.write.format("kafka").options(**self._options, topic=self._topic).save()
        except (PySparkException, Py4JJavaError) as error:
            if (refused := _REFUSED.search(str(error))) is None:
                raise
            servers = self._options["kafka.bootstrap.servers"]
            raise PipelineError(
                f"Kafka at {servers} takes no messages for {self._topic}: {refused['said']}; "
                "the next run goes on from here"
            ) from None

    def _written(self, batch: int) -> Counter[tuple[str, str]]:
        """The records of a batch that are in the topic."""
        begun = self._begun_after(batch)
        if begun is None:
            return Counter()
        options = {
            **self._options,
            "subscribe": self._topic,
            "startingTimestamp": str(int(1000 * (begun - _CLOCKS))),
            "startingOffsetsByTimestampStrategy": "latest",
            "includeHeaders": "true",
            # A topic that is not there is waited for, in vain.
            "kafka.default.api.timeout.ms": "10000",
            "kafka.request.timeout.ms": "10000",
            "fetchOffset.numRetries": "1",
        }
        messages = self._spark.read.format("kafka").options(**options).load()
        texts = [F.col(name).cast("string").alias(name) for name in ("key", "value")]
        try:
            of_batch = messages.where(F.col("headers") == self._headers(batch))
            found = of_batch.select(*texts).toArrow()
        except (PySparkException, Py4JJavaError) as error:
            if "UnknownTopicOrPartition" in str(error):
                return Counter()
            raise
        return Counter(zip(*(found[name].to_pylist() for name in ("key", "value")), strict=True))

    def _headers(self, batch: int) -> Column:
        value = F.lit(f"{self._tag} {batch}").cast("binary").alias("value")
        return F.array(F.struct(F.lit(HEADER).alias("key"), value))


def _keys(rows: Any) -> list[str]:
    if isinstance(rows, pa.Table):
        column = "s" if "s" in rows.column_names else "predicate"
        keys: list[str] = rows[column].to_pylist()
        return keys
    return [answers.query for answers in rows]
