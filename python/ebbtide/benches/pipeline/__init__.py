"""Pipelines on Spark: what reasoning adds to a pipeline that does everything but reason."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from ebbtide.benches.imars.settings import Say
from ebbtide.benches.pipeline.batches import measure_large, measure_small
from ebbtide.benches.pipeline.closure import measure_closure
from ebbtide.benches.pipeline.parsing import measure_parsing
from ebbtide.benches.pipeline.recovery import measure_recovery
from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.results import Results
from ebbtide.pipeline.session import open_session, warm_up

__all__ = ["MEASUREMENTS", "Settings", "run"]

MEASUREMENTS: Final[Mapping[str, Callable[[Settings, Results, SparkSession, Path, Say], None]]] = {
    "large": measure_large,
    "small": measure_small,
    "parsing": measure_parsing,
    "closure": measure_closure,
    "recovery": measure_recovery,
}


def run(settings: Settings, names: Iterable[str], say: Say) -> Results:
    """Measure what is named, in one Spark session, and say what is being measured."""
    results = Results("pipeline", asdict(settings))
    say("starting Spark")
    spark = open_session("ebbtide bench")
    try:
        warm_up(spark)
        for name in names:
            with tempfile.TemporaryDirectory(prefix="ebbtide-bench-") as folder:
                MEASUREMENTS[name](settings, results, spark, Path(folder), say)
    finally:
        spark.stop()
    return results
