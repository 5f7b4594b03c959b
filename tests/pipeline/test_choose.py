"""The placement that a pipeline gets, and why, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ebbtide.pipeline.build import units_of
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.placements import choose as choose_module
from ebbtide.pipeline.placements.choose import Choice, choose

from .stream import COMMUTERS, LOCAL, write_pipeline

CLUSTER = "spark://ada:7077"


def chosen(
    folder: Path, rules: Path, master: str, known: dict[str, str] | None = None, **run: Any
) -> Choice:
    pipeline = load_pipeline(write_pipeline(folder, rules=rules, placement="auto"))
    pipeline = msgspec.structs.replace(pipeline, run=msgspec.structs.replace(pipeline.run, **run))
    units = units_of(pipeline)
    return choose(pipeline, units, master=master, cores=6, known=known or {})


@pytest.mark.parametrize(
    ("rules", "master", "known", "run", "said"),
    [
        (LOCAL, "local[2]", {}, {}, "driver: Spark is this machine alone (local[2])"),
        (LOCAL, CLUSTER, {}, {}, "sharded (6 shards): no rule is global"),
        (LOCAL, CLUSTER, {}, {"shards": 4}, "sharded (4 shards): no rule is global"),
        (COMMUTERS, CLUSTER, {}, {"key": "s"}, "sharded (6 shards): a key is declared, s"),
        (LOCAL, CLUSTER, {"placement": "driver"}, {}, "driver: as the checkpoint has it"),
        (
            LOCAL,
            "local[2]",
            {"placement": "sharded", "shards": "3"},
            {},
            "sharded (3 shards): as the checkpoint has it",
        ),
        (LOCAL, CLUSTER, {}, {"placement": "driver"}, "driver: as the pipeline file says"),
    ],
)
def test_the_choice(
    tmp_path: Path,
    rules: Path,
    master: str,
    known: dict[str, str],
    run: dict[str, Any],
    said: str,
) -> None:
    assert str(chosen(tmp_path, rules, master, known, **run)) == said


def test_global_rules_are_named(tmp_path: Path) -> None:
    choice = chosen(tmp_path, COMMUTERS, CLUSTER)
    assert choice.placement == "driver"
    assert choice.why.startswith("the program cannot be cut into shards: ")
    assert "commuters.rules:" in choice.why


def test_a_background_that_does_not_fit_stays_with_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose_module, "MEMORY_PER_BYTE", 10**12)
    assert chosen(tmp_path, COMMUTERS, CLUSTER).placement == "dataframe"
