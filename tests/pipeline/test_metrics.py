"""Metrics: the numbers of a run, over HTTP, to this machine only."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from ebbtide.pipeline.metrics import exported
from ebbtide.pipeline.progress import BatchProgress, Progress

BATCH = BatchProgress(
    batch=0, facts=7, bad=1, late=2, ticks=3, tick=3_000, entered=5, left=4, answers=6, holding=9,
    milliseconds=1.0,
)  # fmt: skip


def test_numbers_are_there_while_the_run_lasts() -> None:
    progress = Progress()
    with exported(progress, 0) as port:
        url = f"http://127.0.0.1:{port}"
        progress.add(BATCH)
        progress.add(BATCH)
        with urllib.request.urlopen(f"{url}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        assert "ebbtide_facts_total 14" in lines
        assert "ebbtide_holding 9" in lines
        assert "ebbtide_batches_total 2" in lines
        assert "ebbtide_tick 3000" in lines
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(url)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{url}/metrics")
