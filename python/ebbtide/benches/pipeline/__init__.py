"""Pipelines on Spark: what reasoning adds to a pipeline that does everything but reason."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from ebbtide.benches.pipeline.batches import measure_large, measure_small
from ebbtide.benches.pipeline.burst import measure_burst
from ebbtide.benches.pipeline.closure import measure_closure
from ebbtide.benches.pipeline.parsing import measure_parsing
from ebbtide.benches.pipeline.recovery import measure_recovery
from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.pipeline.shards import measure_shards
from ebbtide.benches.results import Results, Say
from ebbtide.pipeline.session import close_session, open_session, warm_up

__all__ = ["MEASUREMENTS", "Settings", "run"]

IN_SESSION: Final[Mapping[str, Callable[[Settings, Results, SparkSession, Path, Say], None]]] = {
    "large": measure_large,
    "small": measure_small,
    "parsing": measure_parsing,
}
#: They start Spark themselves, in processes of their own. They need the machine, so no other is up.
BY_THEMSELVES: Final[Mapping[str, Callable[[Settings, Results, Path, Say], None]]] = {
    "closure": measure_closure,
    "shards": measure_shards,
    "recovery": measure_recovery,
    "burst": measure_burst,
}
MEASUREMENTS: Final = (*IN_SESSION, *BY_THEMSELVES)


def run(settings: Settings, names: Collection[str], say: Say) -> Results:
    """Measure what is named, and say what is being measured."""
    results = Results("pipeline", asdict(settings))
    if any(name in IN_SESSION for name in names):
        say("starting Spark")
        spark = open_session("ebbtide bench")
        try:
            warm_up(spark)
            for name in filter(names.__contains__, IN_SESSION):
                with tempfile.TemporaryDirectory(prefix="ebbtide-bench-") as folder:
                    IN_SESSION[name](settings, results, spark, Path(folder), say)
        finally:
            close_session(spark)
    for name in filter(names.__contains__, BY_THEMSELVES):
        with tempfile.TemporaryDirectory(prefix="ebbtide-bench-") as folder:
            BY_THEMSELVES[name](settings, results, Path(folder), say)
    return results
