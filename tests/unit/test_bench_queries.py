"""`ebbtide bench queries`: a quick run from end to end, and that contenders answer the same."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("psutil")

from tests.quick_bench import quick_bench

from ebbtide.benches.queries import MEASUREMENTS
from ebbtide.benches.queries.workload import STREAM, WORKLOADS, Workload
from ebbtide.cli.bench.queries import Measured
from ebbtide.queries import QueryEngine


def test_a_quick_run(tmp_path: Path) -> None:
    run = quick_bench("queries", tmp_path, "--peers")
    assert run.names == set(MEASUREMENTS) == set(Measured)
    assert all(each["value"] > 0 for each in run.results["measurements"])
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
