"""Rows at a steady rate, by Spark's own source, made into triples by templates.

The source remembers when it began: after a crash the same rows have the same time and the same
value, and so the same triples, if the expressions of the columns are of that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.pipeline.file.model import Triple
from ebbtide.pipeline.sources.rows import SOURCE, as_facts

#: What Spark gives.
COLUMNS: Final = "value long, timestamp timestamp"


def read_rate(
    spark: SparkSession,
    rows_a_second: int,
    columns: Mapping[str, str],
    time: str,
    triples: tuple[Triple, ...],
) -> DataFrame:
    """The facts of rows with a value (0, 1, 2...), a timestamp, and columns made of them."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", rows_a_second).load()
    # Before a column of the user's is called value.
    rows = rows.withColumn(SOURCE, F.concat(F.lit("row "), "value"))
    for name, expression in columns.items():
        rows = rows.withColumn(name, F.expr(expression))
    return as_facts(rows, time, triples)
