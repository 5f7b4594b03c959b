"""Numbers of a run among Spark's own, as its UI shows them."""

from __future__ import annotations

import json
import urllib.request

import pytest
from pyspark.sql import SparkSession

from ebbtide.pipeline.gauges import Gauges
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.streams import StreamProgress

pytestmark = pytest.mark.spark


def shown(spark: SparkSession) -> dict[str, float]:
    """The gauges of ours at the UI's address, by the end of their names."""
    port = spark.sparkContext.uiWebUrl.rsplit(":", 1)[1]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics/json/") as answer:
        gauges = json.load(answer)["gauges"]
    return {
        name.partition(".ebbtide.")[2]: gauge["value"]
        for name, gauge in gauges.items()
        if ".ebbtide." in name
    }


def test_the_ui_shows_the_numbers_of_every_run(spark: SparkSession) -> None:
    progress = Progress(facts=3, streams={"trains": StreamProgress(500)})
    Gauges(spark).set(progress)
    assert shown(spark)["facts"] == 3
    assert "stream_watermark.trains" not in shown(spark)
    progress.facts = 5
    progress.streams["trains"].add(2, 4_000)
    progress.tick_milliseconds.append(2.5)
    # Another run in the same session, with numbers that were not there before.
    Gauges(spark).set(progress)
    found = shown(spark)
    assert (found["facts"], found["stream_watermark.trains"]) == (5, 3_500)
    assert found["stream_facts_per_second.trains"] == pytest.approx(0.2)
    assert found["tick_milliseconds.0.95"] == 2.5
