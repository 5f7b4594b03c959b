"""`ebbtide bench lars`: a quick run from end to end, and that its workloads mean what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("psutil")

from tests.quick_bench import quick_bench

from ebbtide.benches.lars import MEASUREMENTS
from ebbtide.benches.lars.workloads import WORKLOADS, Workload, facts, tables
from ebbtide.cli.bench.lars import Measured
from ebbtide.engines.lars import LarsEngine
from ebbtide.engines.reference.lars import Stream, output_stream
from ebbtide.program import Fact
from ebbtide.terms import parse_term


def test_a_quick_run(tmp_path: Path) -> None:
    run = quick_bench("lars", tmp_path)
    expected = {f"{one.name} {out}" for one in WORKLOADS for out in ("full", "changes")}
    assert run.names == {*expected, "flat", "objects", "batches", "quiet", "floor"}
    lines = (tmp_path / "grid.md").read_text().splitlines()
    assert lines[0] == "|  | rate | window 1 | window 5 |"
    assert lines[2].startswith("| diamond, full | 20 | ")
    assert len(lines) == 2 + 2 * len(WORKLOADS) + 2
    assert (tmp_path / "diamond-full.png").exists()


def test_the_command_offers_every_measurement() -> None:
    assert [str(each) for each in Measured] == list(MEASUREMENTS)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_tables_say_what_the_oracle_says(workload: Workload) -> None:
    window, ticks = 3, 12
    program = workload.program(window)
    stream = workload.stream(6, ticks, 0)
    input = Stream(0, ticks - 1, {at: set(atoms) for at, atoms in facts(stream)})
    expected = output_stream(program, input)
    for full in (True, False):
        engine = LarsEngine(program, start=0)
        found: dict[int, set[Fact]] = {at: set() for at in range(ticks)}
        for last, _, table in tables(stream, 5, workload.columns):
            assert engine.feed(table, workload.predicate, "t", workload.columns).late == []
            for predicate, answers in engine.play(last, full=full).items():
                _collect(found, predicate, answers, full=full, ticks=ticks)
        assert found == expected


def _collect(
    found: dict[int, set[Fact]], predicate: str, answers: object, *, full: bool, ticks: int
) -> None:
    import pyarrow as pa

    for row in pa.table(answers).to_pylist():
        at, diff = row.pop("t"), row.pop("diff", 1)
        fact = Fact(predicate, tuple(map(parse_term, row.values())))
        for point in range(at, at + 1 if full else ticks):
            (found[point].add if diff > 0 else found[point].discard)(fact)
