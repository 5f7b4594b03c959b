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

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

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
        (whole.replace('"3 s"', '"2 s"'), "its window of reports is Sliding"),
        (whole.replace(str(LOCAL), "other.rules"), "its rules is "),
        (whole.replace(f'"{placement}"', f'"{_other(placement)}"'), "its placement is"),
    ):
        file.write_text(other)
        with pytest.raises(CheckpointError, match=f"belongs to another pipeline: {said}"):
            run(file)
    file.write_text(whole)
    aside.rename(last)
    flip(max(checkpoint.glob(STATES[placement])))
    with pytest.raises(CheckpointError, match=r"checkpoint.*; --reset starts anew"):
        run(file)
    run(file, reset=True)
    assert_uninterrupted(tmp_path, LOCAL, step=4_000)


def _other(placement: str) -> str:
    return "driver" if placement != "driver" else "sharded"


def test_a_table_that_is_missing(run: Run, tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, 1_000, rules=LOCAL, step="4 s", placement="dataframe")
    run(file)
    table = max((tmp_path / "checkpoint").glob("frames/*/whole-0/*.parquet"))
    content = table.read_bytes()
    table.unlink()
    with pytest.raises(CheckpointError, match=r"whole-0/.*\.parquet is missing"):
        run(file)
    table.write_bytes(content[:-10])
    with pytest.raises(CheckpointError, match=rf"is damaged: it has {len(content) - 10} bytes"):
        run(file)
    flip(table.parents[1] / "clock")
    with pytest.raises(CheckpointError, match=r"clock is damaged"):
        run(file)
