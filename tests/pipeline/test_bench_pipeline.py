"""The bench of pipelines, quickly: everything it measures is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark


# Not shards, which start clusters.
ONLY = ("large", "small", "parsing", "closure", "recovery")


def test_it_measures_and_reports(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("ebbtide")
    only = [word for name in ONLY for word in ("--only", name)]
    ended = subprocess.run(
        [command, "bench", "pipeline", "--quick", *only, "--report", tmp_path / "report"],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    results = json.loads((tmp_path / "report/results.json").read_text())
    names = {each["name"] for each in results["measurements"]}
    assert {"large batches", "small batches", "parsing", "closure", "recovery"} <= names
    goals = [each for each in results["measurements"] if each["goal"]]
    assert {each["parameters"]["pipeline"] for each in goals} == {"rules and a query"}
    assert all(each["value"] > 0 for each in results["measurements"] if "batches" in each["name"])
    pictures = {each.stem for each in (tmp_path / "report").glob("*.png")}
    assert {"large-batches", "small-stages", "closure"} <= pictures
