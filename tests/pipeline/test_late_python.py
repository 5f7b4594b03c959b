"""Spark gives Python ten seconds to begin: what happens on a machine that takes longer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline import reason, run_query
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline

from .stream import LOCAL, write_pipeline
from .test_api import SETTINGS, stream_of
from .test_recovery import assert_uninterrupted

# It takes the ten seconds.
pytestmark = [pytest.mark.spark, pytest.mark.chaos]

#: A Python that sleeps for too long, once, when a stateful operator asks for its state.
SLOW = """#!/bin/sh
case "$*" in
  *driver_worker*) if mkdir {mark}; then sleep 11; exit 1; fi ;;
esac
exec {python} "$@"
"""


@pytest.fixture
def mark(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is there once Python was too slow."""
    mark, slow = tmp_path / "mark", tmp_path / "python"
    slow.write_text(SLOW.format(mark=mark, python=sys.executable))
    slow.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(slow))
    return mark


def test_the_query_of_a_pipeline_is_started_again(
    spark: SparkSession, tmp_path: Path, mark: Path
) -> None:
    file = write_pipeline(tmp_path, 1000, rules=LOCAL, placement="sharded")
    said: list[str] = []
    run_pipeline(load_pipeline(file), Console(quiet=True), said.append, spark=spark)
    assert mark.exists()
    assert said.count("Spark waited for Python in vain: starting the query again") == 1
    assert_uninterrupted(tmp_path, LOCAL)


def test_the_query_of_a_spark_program_is_started_again(
    spark: SparkSession, tmp_path: Path, mark: Path
) -> None:
    writer = (
        reason(stream_of(spark, tmp_path / "in"), "rdfs-sparkwave", **SETTINGS)
        .writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
    )
    run_query(writer, lambda query: query.processAllAvailable()).stop()
    assert mark.exists()
    assert spark.read.parquet(str(tmp_path / "out")).count() > 10
