"""`ebbtide run` on a terminal: a picture while it runs, and the sums at its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.terminal import on_a_terminal

from .stream import FACTS, write_pipeline

pytestmark = pytest.mark.spark


def test_a_terminal_shows_streams_rows_and_latency(tmp_path: Path) -> None:
    pipeline = write_pipeline(tmp_path, 1000)
    code, sums, picture = on_a_terminal("run", str(pipeline), folder=Path.cwd())
    assert code == 0
    assert f"facts in         {len(FACTS)}" in sums
    assert "starting Spark" in picture
    assert re.search(rf"reports\s+│\s+{len(FACTS)}\s+│.*│\s+0 files\s+│", picture)
    assert "tick latency p50" in picture
    assert "Traceback" not in picture
