"""The numbers of a run in Spark's own metrics system, beside those of Spark.

    http://127.0.0.1:4040/metrics/json/     gauges ...driver.AccumulatorSource.ebbtide.NAME

Spark lets anybody register accumulators as gauges (`LongAccumulatorSource` and the like). So they
are in the JSON and the Prometheus servlet of Spark's UI, and wherever the metrics of a cluster are
sent (`metrics.properties`: JMX, CSV, Graphite).

Invariant: gauges are of a session, for good. A second run in it goes on with those there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from ebbtide.pipeline.progress import Progress, numbers

PREFIX: Final = "ebbtide"
#: The accumulators of a session, by name.
_known: Final[WeakKeyDictionary[SparkSession, dict[str, Any]]] = WeakKeyDictionary()


class Gauges:
    """The gauges of a run."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._gauges = _known.setdefault(spark, {})

    def set(self, progress: Progress) -> None:
        """Let them show what a run has done so far."""
        values = {
            ".".join((PREFIX, name, *labels.values())): value
            for name, labels, value in numbers(progress)
            if value is not None
        }
        self._register({name: value for name, value in values.items() if name not in self._gauges})
        for name, value in values.items():
            gauge = self._gauges[name]
            gauge.reset()
            gauge.add(value)

    def _register(self, values: Mapping[str, int | float]) -> None:
        context = self._spark.sparkContext
        # In the JVM: accumulators of Python are not among those that Spark takes as gauges.
        scala, jvm = context._jsc.sc(), context._jvm
        assert jvm is not None
        sources = jvm.org.apache.spark.metrics.source
        kinds = (
            (int, scala.longAccumulator, "LongAccumulatorSource"),
            (float, scala.doubleAccumulator, "DoubleAccumulatorSource"),
        )
        for kind, make, name_of_source in kinds:
            made = {name: make(name) for name, value in values.items() if type(value) is kind}
            if made:
                gauges = jvm.java.util.HashMap()
                for name, gauge in made.items():
                    gauges.put(name, gauge)
                # The object of Scala beside the class: its methods are no static ones.
                source = getattr(getattr(sources, f"{name_of_source}$"), "MODULE$")
                source.register(scala, jvm.PythonUtils.toScalaMap(gauges))
                self._gauges |= made
