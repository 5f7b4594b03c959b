"""Streams that are made here: from memory, and at a rate."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.placements.placement import Stopped
from ebbtide.pipeline.run import run_pipeline

pytestmark = pytest.mark.spark

MEMORY = """
[streams.things]
from = "memory"
lines = ["1000\\t<http://e/a> <http://e/p> <http://e/0> ."]
window = "2 s"
[outputs.rows]
to = "jsonl"
path = "out"
[dead_letters]
path = "dead"
[checkpoint]
path = "checkpoint"
[run]
ends = "when read"
"""
RATE = """
[streams.readings]
from = "rate"
rows_a_second = 50
columns = { sensor = "value % 3", celsius = "20 + value / 10" }
window = "1 h"
triples = [{ s = "<http://e/{sensor}>", p = "<http://e/celsius>", o = '"{celsius}"' }]
[outputs.rows]
to = "jsonl"
path = "out"
[checkpoint]
path = "checkpoint"
"""


def lines(folder: Path) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def test_documents_come_from_memory_when_they_are_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    file = tmp_path / "p.toml"
    file.write_text(MEMORY)
    pipeline = load_pipeline(file)
    seen = threading.Event()

    def say(sentence: str) -> None:
        if "facts" in sentence:
            seen.set()

    def documents(count: int) -> Iterator[str]:
        for number in range(1, count):
            # Not before the one before it was reasoned over.
            assert seen.wait(300)
            yield f"{1000 * (number + 1)}\t<http://e/a> <http://e/p> <http://e/{number}> .\n"

    def run(count: int) -> Any:
        feeds = {"things": documents(count)}
        return run_pipeline(pipeline, Console(quiet=True), say, spark=spark, feeds=feeds)

    assert run(3).facts == 3
    # What was there before is not read again.
    assert run(4).facts == 1
    entered = [(row["t"], row["o"]) for row in lines(tmp_path / "out") if row["op"] == "+"]
    assert entered == [(1000 * (n + 1), f"<http://e/{n}>") for n in range(4)]
    with pytest.raises(PipelineError, match='no stream thing is from = "memory"'):
        run_pipeline(pipeline, Console(quiet=True), spark=spark, feeds={"thing": []})


def test_a_rate_goes_on_where_it_was_left(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(RATE)
    pipeline = load_pipeline(file)
    for _ in range(2):
        batches: list[str] = []

        def say(sentence: str, batches: list[str] = batches) -> None:
            batches += [sentence] if "facts" in sentence else []
            if len(batches) > 2:
                raise Stopped

        run_pipeline(pipeline, Console(quiet=True), say, spark=spark)
    objects = [row["o"] for row in lines(tmp_path / "out")]
    numbers = sorted(round(10 * float(each.strip('"')) - 200) for each in objects)
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 50
    assert {row["s"] for row in lines(tmp_path / "out")} == {f"<http://e/{n}>" for n in range(3)}
