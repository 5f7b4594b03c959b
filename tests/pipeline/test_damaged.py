"""Checkpoints that are damaged, or of another pipeline: refused, for every placement."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import TypeAlias

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.errors import CheckpointError
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline

from .stream import LOCAL, write_pipeline
from .test_recovery import assert_uninterrupted

pytestmark = pytest.mark.spark

Run: TypeAlias = Callable[..., None]

#: Files of a checkpoint, the last of which holds what the next run begins with.
STATES = {
    "driver": "reasoner/*.snapshot",
    "sharded": "spark/state/0/0/*.zip",
    "dataframe": "frames/*/whole-0/*.parquet",
}


@pytest.fixture
def run(spark: SparkSession) -> Run:
    def ran(file: Path, *, reset: bool = False) -> None:
        pipeline = load_pipeline(file)
        run_pipeline(pipeline, Console(file=StringIO()), spark=spark, reset=reset)

    return ran


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for place in range(0, len(content), 7):
        content[place] ^= 0x55
    file.write_bytes(bytes(content))


@pytest.mark.parametrize(
    "placement", ["driver", pytest.param("sharded", marks=pytest.mark.chaos), "dataframe"]
)
def test_refused_and_reset(run: Run, tmp_path: Path, placement: str) -> None:
    """Half of the files are read; then everything that can be wrong with the checkpoint is."""
    file = write_pipeline(tmp_path, 3, 40, rules=LOCAL, step="4 s", placement=placement)
    text = file.read_text()
    file.write_text(text.replace("snapshot_every = 3", "snapshot_every = 1"))
    whole = file.read_text()
    last = max((tmp_path / "incoming").iterdir())
    aside = last.rename(tmp_path / last.name)
    run(file)
    checkpoint = tmp_path / "checkpoint"
    (tmp_path / "other.rules").write_text("[r: (?x <a:p> ?y) -> (?x <a:q> ?y)]")
    for other, said in (
        (whole.replace('"3 s"', '"2 s"'), "the window of stream reports was 3 s, is 2 s;"),
        (
            whole.replace(str(LOCAL), "other.rules"),
            r"rule r \(.*other.rules:1:1\) is not in the checkpoint; "
            r"rule inside \(.*local.rules:5:1\) of the checkpoint is gone; ",
        ),
        (
            whole.replace(f'"{placement}"', f'"{_other(placement)}"'),
            f"the placement was {placement}, is {_other(placement)};",
        ),
    ):
        file.write_text(other)
        with pytest.raises(CheckpointError, match=f"belongs to another pipeline: {said}"):
            run(file)
    file.write_text(whole)
    aside.rename(last)
    if placement == "dataframe":
        assert_tables_are_looked_at(run, file)
    flip(max(checkpoint.glob(STATES[placement])))
    with pytest.raises(CheckpointError, match=r"checkpoint.*; --reset starts anew"):
        run(file)
    run(file, reset=True)
    assert_uninterrupted(tmp_path, LOCAL, step=4_000)


def test_what_is_sparks_own_is_refused(run: Run, tmp_path: Path) -> None:
    """And the run goes on when it is put right."""
    file = write_pipeline(tmp_path, 1, 40, rules=LOCAL, step="4 s")
    last = max((tmp_path / "incoming").iterdir())
    aside = last.rename(tmp_path / last.name)
    run(file)
    aside.rename(last)
    for what, damage, said in (
        ("metadata", "{", "Unexpected end-of-input"),
        ("metadata", None, "the metadata file is missing"),
        ("offsets/1", 'v1\n{"batchWatermarkMs":0}\n', "sources in the checkpoint offsets"),
        ("offsets/1", "", "Incomplete log file"),
        ("commits/1", "v1\n{", "Unexpected end-of-input"),
        ("sources/0/1", 'v1\n{"path', "Unexpected end-of-input"),
        ("sources/0/1", None, "batch 1 doesn't exist"),
    ):
        damaged = tmp_path / "checkpoint/spark" / what
        content = damaged.read_bytes()
        damaged.unlink()
        if damage is not None:
            damaged.write_text(damage)
        with pytest.raises(CheckpointError, match=rf"checkpoint/spark: .*{said}.*; --reset"):
            run(file)
        damaged.write_bytes(content)
    run(file)
    assert_uninterrupted(tmp_path, LOCAL, step=4_000)


def assert_tables_are_looked_at(run: Run, file: Path) -> None:
    """One that is missing, one that is cut short, and what says which there are."""
    table = max((file.parent / "checkpoint").glob(STATES["dataframe"]))
    clock = table.parents[1] / "clock"
    for damaged, damage, said in (
        (table, None, r"whole-0/.*\.parquet is missing"),
        (table, table.read_bytes()[:-10], r"is damaged: it has \d+ bytes instead of"),
        (clock, clock.read_bytes()[:-1], r"clock is damaged"),
    ):
        content = damaged.read_bytes()
        damaged.unlink()
        if damage is not None:
            damaged.write_bytes(damage)
        with pytest.raises(CheckpointError, match=said):
            run(file)
        damaged.write_bytes(content)


def _other(placement: str) -> str:
    return "driver" if placement != "driver" else "sharded"
