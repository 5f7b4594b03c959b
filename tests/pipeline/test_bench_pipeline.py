"""The bench of pipelines, quickly: everything it measures is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.quick_bench import quick_bench

pytestmark = pytest.mark.spark


def measured(folder: Path, *names: str) -> list[dict[str, Any]]:
    """What a quick run reports of some measurements."""
    only = [word for name in names for word in ("--only", name)]
    found: list[dict[str, Any]]
    found = quick_bench("pipeline", folder, *only, timeout=400).results["measurements"]
    return found


def test_it_measures_and_reports(tmp_path: Path) -> None:
    found = measured(tmp_path, "large", "small", "parsing")
    names = {each["name"] for each in found}
    assert {"large batches", "small batches", "parsing"} <= names
    goals = [each for each in found if each["goal"]]
    assert {each["parameters"]["pipeline"] for each in goals} == {"rules and a query"}
    assert all(each["value"] > 0 for each in found if "batches" in each["name"])
    pictures = {each.stem for each in tmp_path.glob("*.png")}
    assert {"large-batches", "small-stages"} <= pictures


@pytest.mark.chaos
def test_it_measures_what_starts_spark_again_and_again(tmp_path: Path) -> None:
    values = {}
    for each in measured(tmp_path, "closure", "recovery", "burst"):
        values[each["name"], str(each["parameters"].get("process", ""))] = each["value"]
    assert values["recovery", ""] is not None
    assert values["closure", ""] is not None
    assert (tmp_path / "closure.png").exists()
    assert values["facts lost", ""] == 0
    assert values["most that waited in the spool", ""] > 0
    for process in ("driver", "JVM", "workers"):
        assert values["memory before the burst", process] > 10
        assert values["memory in the burst", process] > 10
