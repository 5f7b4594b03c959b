"""Reasoning as a step of a Spark program: DataFrames in, DataFrames out."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ebbtide.pipeline.api import read_rdf, reason
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.units.rules import Rules
from ebbtide.reasoner.intake import as_program
from ebbtide.time import Sliding

from .stream import in_order
from .test_shards import CAMPUS, TYPE, e, table_of

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

FACTS = [
    (700 * number, e(f"x{number % 5}"), p, o)
    for number in range(30)
    for p, o in ((e("teaches"), e(f"x{(number + 1) % 7}")), (TYPE, e("Student")))
]
SETTINGS: dict[str, Any] = {"step": 1_000, "lateness": 500}


def whole() -> Rules:
    unit = Rules(
        as_program("rdfs-sparkwave"),
        {"default": Sliding(3_000)},
        background=[CAMPUS],
        **SETTINGS,
    )
    unit.begin()
    return unit


def rows(collected: Any) -> list[dict[str, Any]]:
    return in_order([row.asDict() for row in collected])


def test_static_facts_are_reasoned_over_to_the_end(spark: SparkSession) -> None:
    unit = whole()
    batch = {"default": table_of(FACTS)}
    expected = unit.feed(batch).rows["rules"].to_pylist()
    expected += unit.finish().rows["rules"].to_pylist()
    facts = spark.createDataFrame(FACTS, "t long, s string, p string, o string").repartition(3)
    for shards in (1, 3):
        told = reason(
            facts,
            "rdfs-sparkwave",
            window=Sliding(3_000),
            background=[CAMPUS],
            shards=shards,
            **SETTINGS,
        )
        assert rows(told.collect()) == in_order(expected)


def test_a_stream_in_shards_says_what_one_reasoner_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    unit = whole()
    incoming = tmp_path / "in"
    incoming.mkdir()
    expected: list[dict[str, Any]] = []
    for number, first in enumerate(range(0, len(FACTS), 12)):
        some = FACTS[first : first + 12]
        expected += unit.feed({"default": table_of(some)}).rows["rules"].to_pylist()
        file = incoming / f"{number}.csv"
        file.write_text("".join("|".join(map(str, fact)) + "\n" for fact in some))
        os.utime(file, (60 * number, 60 * number))
    lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(incoming))
    facts = lines.selectExpr("split(value, '[|]') AS c").selectExpr(
        "timestamp_millis(CAST(c[0] AS LONG)) AS t", "c[1] AS s", "c[2] AS p", "c[3] AS o"
    )
    told = reason(
        facts,
        "rdfs-sparkwave",
        window=Sliding(3_000),
        background=[CAMPUS],
        shards=2,
        **SETTINGS,
    )
    query = (
        told.writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    query.processAllAvailable()
    query.stop()
    assert rows(spark.read.parquet(str(tmp_path / "out")).collect()) == in_order(expected)


def test_what_is_wrong_with_the_facts_is_said(spark: SparkSession) -> None:
    with pytest.raises(PipelineError, match="the facts lack the columns p, o"):
        reason(spark.createDataFrame([(1, "a")], "t long, s string"), "rdfs")


def test_rdf_files_are_data_frames(spark: SparkSession, tmp_path: Path) -> None:
    lines = "".join(f"<http://e/s{n}> <http://e/p> _:b{n % 3} .\n" for n in range(100))
    (tmp_path / "a.nt").write_text(lines)
    (tmp_path / "b.nq.gz").write_bytes(gzip.compress(b"<a:s> <a:p> <a:o> <a:g> .\n"))
    (tmp_path / "c.ttl").write_text("<a:s> <a:p> 1, 2 .")
    found = read_rdf(spark, *(tmp_path / name for name in ("a.nt", "b.nq.gz", "c.ttl"))).collect()
    assert len(found) == 103
    assert len({row.o for row in found if row.o.startswith("_:")}) == 3
    assert [row.g for row in found if row.g] == ["<a:g>"]
    (tmp_path / "d.nt").write_text("<a:s> <a:p> .\n")
    with pytest.raises(Exception, match=r"d\.nt: "):
        read_rdf(spark, tmp_path / "d.nt").collect()
