"""`ebbtide bench queries`: a quick run from end to end, and that contenders answer the same."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("psutil")

from ebbtide.benches.queries import MEASUREMENTS
from ebbtide.benches.queries.workload import STREAM, WORKLOADS, Workload
from ebbtide.cli.bench.queries import Measured
from ebbtide.queries import QueryEngine

COMMAND = Path(sys.executable).with_name("ebbtide")


def test_a_quick_run(tmp_path: Path) -> None:
    ended = subprocess.run(
        [COMMAND, "bench", "queries", "--quick", "--peers", "--report", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    results = json.loads((tmp_path / "results.json").read_text())
    assert (results["format"], results["bench"]) == (1, "queries")
    assert {each["name"] for each in results["measurements"]} == set(MEASUREMENTS) == set(Measured)
    assert all(each["value"] > 0 for each in results["measurements"])
    assert (tmp_path / "windows.png").exists()


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_both_ways_answer_the_same(workload: Workload) -> None:
    told = []
    for incremental in (True, False):
        engine = QueryEngine(
            workload.rules or (), background=workload.background(), incremental=incremental
        )
        query = engine.register(workload.query(3))
        for table in islice(workload.tables(120, seed=1), 6):
            engine.push_all(STREAM, table)
        engine.finish()
        told.append([(each.tick, sorted(each.rows)) for each in query])
    assert told[0] == told[1]
    assert told[0]
