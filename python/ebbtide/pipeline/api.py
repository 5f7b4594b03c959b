"""Reasoning as a step of anybody's Spark program: DataFrames in, DataFrames out.

facts = spark.readStream.format("kafka")...        # anything, made into t, s, p, o
changes = reason(facts, "rdfs-sparkwave", window=Sliding(60_000), background=["campus.ttl"])
changes.where("op = '+'").writeStream...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.placements.sharded import reason_in_shards
from ebbtide.pipeline.stages.documents import read_documents
from ebbtide.pipeline.units.rules import Rules
from ebbtide.reasoner.intake import Rules as RulesLike
from ebbtide.reasoner.intake import as_program
from ebbtide.reasoner.reasoner import DEFAULT_STREAM, DEFAULT_WINDOW
from ebbtide.time import Instant, Window


def reason(
    facts: DataFrame,
    rules: RulesLike,
    *,
    window: Window = DEFAULT_WINDOW,
    streams: Mapping[str, Window] | None = None,
    step: int = 1_000,
    lateness: int = 0,
    start: Instant | None = None,
    background: Iterable[str | PathLike[str]] = (),
    shards: int = 1,
) -> DataFrame:
    """What rules conclude from timed facts, tick by tick: rows of t, op, s, p, o and until.

    `facts`, streaming or not, has the columns t (milliseconds or timestamps), s, p and o
    (N-Triples texts), and with `streams` a column `stream`. A row of the result says that at the
    tick t a fact entered (op +), left (-) or got another `until` (~, null is for ever). Facts that
    do not go on are reasoned over to the end of the last window's tick; of a stream, every tick
    that is complete. Late facts are left out.

    With several `shards` as many kernels share the work, if the program can be cut; if it cannot,
    a `PipelineError` names the rules. The state of a stream is in Spark's state store, so the
    query needs a checkpoint like any other, and works on a cluster.
    """
    windows = {DEFAULT_STREAM: window} if streams is None else dict(streams)
    names = ("t", "s", "p", "o", *(() if streams is None else ("stream",)))
    if missing := [name for name in names if name not in facts.columns]:
        raise PipelineError(f"the facts lack the columns {', '.join(missing)}")
    kind = dict(facts.dtypes)["t"]
    time = F.unix_millis("t") if kind.startswith("timestamp") else F.col("t").cast("long")
    stream = F.lit(DEFAULT_STREAM) if streams is None else F.col("stream")
    unit = Rules(
        as_program(rules),
        windows,
        background=map(Path, background),
        step=step,
        lateness=lateness,
        start=start,
    )
    prepared = facts.select(
        stream.alias("stream"), F.lit("").alias("source"), time.alias("t"), "s", "p", "o"
    )
    rows = reason_in_shards(prepared, unit, shards)
    return rows.where("letter IS NULL").drop("letter")


def read_rdf(spark: SparkSession, *paths: str | PathLike[str]) -> DataFrame:
    """The triples of RDF files of any size, as a DataFrame of s, p, o and g.

    N-Triples and N-Quads are split among the executors, line by line; other formats are read file
    by file. A bad line fails the query that reads it. g is null outside named graphs.
    """
    return read_documents(spark, [str(path) for path in paths])
