"""Every example runs, and says what it is there to say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

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
    assert pipelines == {"campus", "commuters", "sensors"}
    # The others are tested by tests/unit/test_lars_cli.py and tests/cluster/test_standalone.py.
    assert {path.name for path in EXAMPLES.iterdir()} - pipelines == {"cluster", "cooling"}


def test_sensors(run) -> None:
    _, shown = run("sensors")
    assert "+ HarbourStreet isCrowded" in shown
    assert "- HarbourStreet isCrowded" in shown
    assert "MarketSquare isCrowded" not in shown
    warmth = [line for line in shown.splitlines() if " warmth " in line]
    assert warmth
    assert any("Waterfront" in line and "OldTown" in line for line in warmth)


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
