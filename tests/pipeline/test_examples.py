"""Every example runs, and says what it is there to say."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.languages.lars.stream import parse_stream
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline
from ebbtide.reasoner.lars import LarsReasoner

pytestmark = pytest.mark.spark

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def ran(name: str) -> tuple[Path, str]:
        folder = shutil.copytree(EXAMPLES / name, tmp_path / name)
        shutil.rmtree(folder / "out", ignore_errors=True)
        file = folder / f"{name}.toml"
        run_pipeline(load_pipeline(file), Console(), spark=spark)
        return folder, capsys.readouterr().out

    return ran


def test_every_example_is_tested() -> None:
    pipelines = {path.parent.name for path in EXAMPLES.glob("*/*.toml")}
    assert pipelines == {"campus", "commuters", "cooling", "sensors"}
    # Commuters is the demo: test_demo.py. The cluster is tests/cluster/test_standalone.py.
    assert {path.name for path in EXAMPLES.iterdir()} - pipelines == {"cluster"}


def test_an_example_can_be_copied_elsewhere() -> None:
    links = [path for path in EXAMPLES.rglob("*") if path.is_symlink()]
    assert not links, "a link leads nowhere from a copy of its folder"


def test_the_first_steps_of_the_documentation(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (EXAMPLES.parent / "docs/pipeline.md").read_text().partition("## First steps")[2]
    rules, pipeline = re.findall(r"```(?:jena|toml)\n(.*?)```", text, re.DOTALL)[:2]
    shown = re.findall(r"^    ( +[0-9.]+ s  .*)$", text.partition("## The file")[0], re.MULTILINE)
    (tmp_path / "first.rules").write_text(rules)
    (tmp_path / "first.toml").write_text(pipeline)
    run_pipeline(load_pipeline(tmp_path / "first.toml"), Console(), spark=spark)
    said = capsys.readouterr().out.splitlines()
    assert len(shown) == 7
    assert [line.strip() for line in said] == [line.strip() for line in shown]


def test_sensors(run) -> None:
    _, shown = run("sensors")
    assert "+ HarbourStreet isCrowded" in shown
    assert "- HarbourStreet isCrowded" in shown
    assert "MarketSquare isCrowded" not in shown
    warmth = [line for line in shown.splitlines() if " warmth " in line]
    assert warmth
    assert any("Waterfront" in line and "OldTown" in line for line in warmth)


def test_sensors_in_a_program_for_spark_submit(spark: SparkSession, tmp_path: Path) -> None:
    program = EXAMPLES / "sensors/sensors.py"
    folders = (str(EXAMPLES / "sensors/readings"), str(tmp_path / "state"), str(tmp_path / "out"))
    runpy.run_path(str(program))["main"](*folders)
    rows = [row.asDict() for row in spark.read.json(folders[-1]).orderBy("t").collect()]
    assert "".join(row["op"] for row in rows) == "++++----"
    assert {row["s"] for row in rows} == {"<http://example/city#HarbourStreet>"}


def test_cooling(run) -> None:
    folder, shown = run("cooling")
    lines = (folder / "readings").glob("*.atoms")
    stream = parse_stream(line for part in sorted(lines) for line in part.open())
    reasoner = LarsReasoner(folder / "cooling.lars", tick=1, engine="reference")
    answers = list(reasoner.run(stream))
    entered = sum(len(answer.entered) for answer in answers)
    left = sum(len(answer.left) for answer in answers)
    rows = pq.read_table(folder / "out/atoms").to_pylist()
    assert [row["op"] for row in rows].count("+") == entered > 50
    assert [row["op"] for row in rows].count("-") == left
    for atom in ("alarm", "normal", "freeze"):
        ticks = [
            answer.t for answer in answers for fact in answer.entered if str(fact) == f"{atom}()"
        ]
        assert ticks
        assert [row["t"] for row in rows if (row["op"], row["atom"]) == ("+", atom)] == ticks
        assert f"+ {atom}" in shown
    assert "steam" not in shown


def test_campus(run) -> None:
    folder, _ = run("campus")
    parts = sorted((folder / "out/members").glob("*.jsonl"))
    rows = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    kinds = {row["o"] for row in rows if row["p"].endswith("#type>")}
    person = "<http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#Person>"
    assert person in kinds
    # Each department leaves after two seconds, and is said once: to have come, to have gone.
    came = [(row["s"], row["o"]) for row in rows if row["op"] == "+" and row["o"] == person]
    assert len(came) == len(set(came)) > 1_000
    assert any(row["op"] == "-" for row in rows)
