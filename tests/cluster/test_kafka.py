"""Kafka as a source and as a sink, with a real broker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from rich.console import Console
from tests.pipeline.stream import BAD_LINES, FACTS, expected_rows, in_order, write_pipeline

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.run import run_pipeline
from ebbtide.pipeline.sinks.kafka import KafkaSink
from ebbtide.pipeline.sinks.parts import json_lines
from ebbtide.pipeline.units.rules import ROWS
from ebbtide.terms.writing import timed_line

from .parts import connector

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

LINES = [timed_line(at, fact.terms) for fact, at in FACTS]


def send(spark: SparkSession, servers: str, topic: str, values: Sequence[str]) -> None:
    """Messages in order: with one key they are in one partition."""
    rows = spark.createDataFrame([("k", value) for value in values], "key string, value string")
    options = {"kafka.bootstrap.servers": servers, "topic": topic}
    rows.coalesce(1).write.format("kafka").options(**options).save()


def received(spark: SparkSession, servers: str, topic: str) -> list[dict[str, Any]]:
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic}
    messages = spark.read.format("kafka").options(**options).load()
    values = messages.selectExpr("cast(value as string) value").toArrow()["value"]
    return in_order(json.loads(value) for value in values.to_pylist())


def kafka_pipeline(folder: Path, servers: str, topic: str, more: str = "") -> Path:
    """The pipeline of the commuters, from a topic and to one."""
    file = write_pipeline(folder)
    given = file.read_text()
    source = f'from = "kafka"\nservers = "{servers}"\ntopics = ["{topic}"]\n{more}'
    given = given.replace('from = "files"\npath = "incoming"\n', source)
    given = given.replace("files_a_batch = 2\n", "")
    given += f"""
[outputs.topic]
to = "kafka"
servers = "{servers}"
topic = "{topic}-answers"
changes = ["+", "-", "~"]
[spark.settings]
"spark.jars" = "{",".join(map(str, connector()))}"
"""
    file.write_text(given)
    return file


def run(file: Path, spark: SparkSession) -> Progress:
    return run_pipeline(load_pipeline(file), Console(quiet=True), spark=spark)


def lines(folder: Path) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def test_from_a_topic_to_a_topic(kafka: str, spark: SparkSession, tmp_path: Path) -> None:
    # One line a message, several lines in one, and two that are bad.
    send(spark, kafka, "trains", [*LINES[:60], "".join(LINES[60:100]) + BAD_LINES[0], *LINES[100:]])
    send(spark, kafka, "trains", BAD_LINES[1:])
    file = kafka_pipeline(tmp_path, kafka, "trains", "messages_a_batch = 30\n")
    progress = run(file, spark)
    assert (progress.facts, progress.bad) == (len(FACTS), len(BAD_LINES))
    assert in_order(lines(tmp_path / "out/answers")) == expected_rows()
    assert received(spark, kafka, "trains-answers") == expected_rows()
    letters = {letter["text"] + "\n": letter for letter in lines(tmp_path / "out/dead")}
    assert set(letters) == set(BAD_LINES)
    within, alone = (letters[text] for text in BAD_LINES)
    (partition,) = {letter["source"].partition("@")[0] for letter in letters.values()}
    assert (within["source"], within["line"]) == (f"{partition}@60", 41)
    assert (alone["source"], alone["line"]) == (f"{partition}@{len(LINES) - 40 + 1}", 1)
    # It goes on where it ended, and has nothing to do.
    assert run(file, spark).facts == 0
    assert received(spark, kafka, "trains-answers") == expected_rows()


@pytest.mark.parametrize("place", ["sink:killed?-answers-2:1", "before the commit:1:1"])
def test_rows_are_in_the_topic_once_after_kill(
    kafka: str, spark: SparkSession, tmp_path: Path, place: str
) -> None:
    topic = f"killed{len(place) % 10}"
    send(spark, kafka, topic, LINES)
    file = kafka_pipeline(tmp_path, kafka, topic, "messages_a_batch = 40\n")
    command = [sys.executable, "-c", "from ebbtide.cli import main; main()", "run", str(file)]
    environment = {**os.environ, "EBBTIDE_CRASH": place}
    killed = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    run(file, spark)
    assert received(spark, kafka, f"{topic}-answers") == expected_rows()


def test_json_messages_become_triples(kafka: str, spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"at": 1000, "sensor": "s1", "value": 20.5}, {"at": 2000, "sensor": "s2", "value": 21}]
    send(spark, kafka, "sensors", [*map(json.dumps, rows), "{broken"])
    file = tmp_path / "p.toml"
    file.write_text(f"""
[streams.sensors]
from = "kafka"
servers = "{kafka}"
topics = ["sensors"]
format = "json"
schema = "at long, sensor string, value double"
time = "at"
[[streams.sensors.triples]]
s = "<http://e/{{sensor}}>"
p = "<http://e/value>"
o = '"{{value}}"^^<http://www.w3.org/2001/XMLSchema#double>'
[outputs.answers]
to = "jsonl"
path = "out"
changes = ["+"]
[dead_letters]
path = "dead"
[run]
ends = "when read"
""")
    assert run(file, spark).facts == 2
    assert [(row["t"], row["s"]) for row in lines(tmp_path / "out")] == [
        (1000, "<http://e/s1>"),
        (2000, "<http://e/s2>"),
    ]
    (letter,) = lines(tmp_path / "dead")
    assert letter["reason"] == "not a row of the schema"
    assert letter["source"].startswith("sensors/")
    assert letter["source"].endswith("@2")


def test_a_topic_that_is_not_there_is_told(kafka: str, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="Kafka has not all the topics that are read; when it"):
        run(kafka_pipeline(tmp_path, kafka, "nowhere"), spark)


def test_a_broker_that_takes_nothing_is_told(spark: SparkSession) -> None:
    row = {"t": 0, "op": "+", "s": "<a:s>", "p": "<a:p>", "o": "<a:o>", "until": None}
    soon = {"kafka.max.block.ms": "500"}
    sink = KafkaSink(spark, "127.0.0.1:1", "out", json_lines, "a b", lambda _: None, soon)
    with pytest.raises(
        PipelineError, match=r"Kafka at 127\.0\.0\.1:1 takes no messages for out: Topic"
    ):
        sink.write(0, pa.Table.from_pylist([row], ROWS))
