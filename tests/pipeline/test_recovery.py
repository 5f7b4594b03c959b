"""Kill -9 and go on: the sinks hold what an uninterrupted run would have written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ebbtide.testing.crash import VARIABLE

from .driven import write_batches
from .stream import BAD_LINES, COMMUTERS, expected_rows, in_order, write_pipeline

ROOT = Path(__file__).parents[2]

#: Place, what is being done there, and how often it is passed before the process dies.
CRASHES = (
    "half written:plan.json:1",
    "half written:identity.json:1",
    "reasoned:0:1",
    "half written:part-*.jsonl:1",
    "sink:part-*.jsonl:1",
    "between sink and checkpoint:*:2",
    "half written:*.batch:2",
    "written aside:*.batch:1",
    "between batch and snapshot:*:2",
    "half written:*.snapshot:1",
    "written aside:*.snapshot:1",
    "before the commit:*:1",
    "before the commit:*:2",
    "half written:*.snapshot:2",
    "sink:part-*.jsonl:3",
)


def lines(folder: Path) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def assert_uninterrupted(folder: Path, rules: Path = COMMUTERS, step: int = 1_000) -> None:
    assert in_order(lines(folder / "out/answers")) == expected_rows(rules, step)
    dead = lines(folder / "out/dead")
    assert [letter["text"] + "\n" for letter in dead] == list(BAD_LINES)


def drive(folder: Path, crash: str | None = None) -> int:
    environment = {**os.environ, **({VARIABLE: crash} if crash else {})}
    command = [sys.executable, "-m", "tests.pipeline.driven", str(folder)]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode


def test_killed_at_every_crash_point_one_after_the_other(tmp_path: Path) -> None:
    write_pipeline(tmp_path, facts_a_file=6)
    write_batches(tmp_path, 1)
    for crash in CRASHES:
        assert drive(tmp_path, crash) == -signal.SIGKILL, crash
    assert drive(tmp_path) == 0
    assert_uninterrupted(tmp_path)


@pytest.mark.parametrize(
    "crash",
    # Batch 2 is that of the first snapshot.
    ["before the commit:*:1", "before the commit:2:1", "half written:*.snapshot:1"],
)
def test_killed_again_and_again_at_the_same_point(tmp_path: Path, crash: str) -> None:
    write_pipeline(tmp_path, facts_a_file=40)
    write_batches(tmp_path, 1)
    for _ in range(3):
        drive(tmp_path, crash)
    assert drive(tmp_path) == 0
    assert_uninterrupted(tmp_path)
