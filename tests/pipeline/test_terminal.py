"""`ebbtide run` on a terminal: a picture while it runs, and the sums at its end."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .stream import FACTS, write_pipeline

pytestmark = pytest.mark.spark

COMMAND = [sys.executable, "-c", "from ebbtide.cli import main; main()", "run"]


def test_a_terminal_shows_streams_rows_and_latency(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen(
        [*COMMAND, str(write_pipeline(tmp_path, 1000))],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
        text=True,
    )
    os.close(theirs)
    shown = b""
    # Reading a terminal that nobody writes to any more is an error on Linux.
    try:
        while block := os.read(ours, 65_536):
            shown += block
    except OSError:
        pass
    sums, _ = process.communicate()
    assert process.returncode == 0
    assert f"facts in         {len(FACTS)}" in sums
    picture = shown.decode()
    assert "starting Spark" in picture
    assert re.search(rf"reports\s+│\s+{len(FACTS)}\s+│.*│\s+-\s+│", picture)
    assert "tick latency p50" in picture
    assert "Traceback" not in picture
