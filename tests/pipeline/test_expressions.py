"""What a pipeline file says in Spark's SQL is checked before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.expressions import check_expressions
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline

from .command import Command

pytestmark = pytest.mark.spark

TRIPLES = """triples = [{ s = "<http://e/{sensor}>", p = "<http://e/p>", o = '"1"' }]"""
PIPELINE = f"""
[streams.sensors]
from = "rows"
format = "json"
path = "in"
schema = "at timestamp, sensor string, day date"
time = "at + interval 1 hour"
{TRIPLES}
[streams.logs]
from = "rows"
format = "parquet"
path = "in"
schema = "ms long, sensor string"
time = "1000 * ms"
{TRIPLES}
[streams.steady]
from = "rate"
columns = {{ sensor = "value % 10", later = "timestamp + interval 1 second" }}
time = "later"
{TRIPLES}
[streams.messages]
from = "mqtt"
topics = ["rooms"]
format = "json"
schema = "seen long, sensor string"
time = "seen"
{TRIPLES}
[rules]
use = ["rdfs-sparkwave"]
[outputs.rows]
to = "jsonl"
path = "out"
[run]
placement = "sharded"
key = "regexp_extract(s, '[0-9]+', 0)"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    file = tmp_path / "p.toml"
    file.write_text(PIPELINE)
    return file


def test_right_ones_are_fine(spark: SparkSession, file: Path) -> None:
    check_expressions(load_pipeline(file), spark)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"at + int', '"att + int', r"streams\.sensors\.time: .*`att` cannot be resolved.*`at`"),
        ("1 hour", "1 horse", r"streams\.sensors\.time: .*horse"),
        ('"at + interval 1 hour"', '"day"', r"streams\.sensors\.time: .*DATE.*BIGINT"),
        ('"at + interval 1 hour"', '"max(at)"', r"streams\.sensors\.time: "),
        ('"1000 * ms"', '"1000 * (ms"', r"streams\.logs\.time: Syntax error at or near"),
        ("ms long", "ms decimal(99, 1)", r"streams\.logs\.schema: .*38"),
        ("value % 10", "values % 10", r"streams\.steady\.columns\.sensor: .*`value`"),
        ('time = "later"', 'time = "late"', r"streams\.steady\.time: .*`later`"),
        ('time = "seen"', 'time = "unseen(seen)"', r"streams\.messages\.time: .*`unseen`"),
        ('"1000 * ms"', '"max(ms) over (order by ms)"', r"streams\.logs\.time: .* \(OVER\)"),
        ("value % 10", "row_number() over (order by value)", r"streams\.steady\.columns\.sensor: "),
        ("regexp_extract(s, '[0-9]+', 0)", "max(s) over (order by s)", r"run\.key: .* \(OVER\)"),
        ("regexp_extract(s,", "regexp_extract(t,", r"run\.key: the key .*`t` cannot be resolved"),
    ],
)
def test_wrong_ones_are_named(
    spark: SparkSession, file: Path, right: str, wrong: str, said: str
) -> None:
    assert right in PIPELINE
    file.write_text(PIPELINE.replace(right, wrong, 1))
    with pytest.raises(PipelineError, match=f"^{said}") as caught:
        check_expressions(load_pipeline(file), spark)
    assert "SQLSTATE" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_looks_first(spark: SparkSession, file: Path) -> None:
    file.write_text(PIPELINE.replace('"later"', '"late"'))
    with pytest.raises(PipelineError, match=r"^streams\.steady\.time: "):
        run_pipeline(load_pipeline(file), Console(quiet=True), spark=spark)


def test_check_says_the_file_too(commands: list[Command], file: Path) -> None:
    file.write_text(PIPELINE.replace('"at + ', '"att + '))
    commands.append(Command(file, None, "--check"))
    assert commands[0].end() == 1
    (line,) = commands[0].said
    assert line.startswith(f"ebbtide: {file}: streams.sensors.time: ")
