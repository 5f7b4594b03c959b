"""Placement `driver` on real local Spark: the same deltas however files are cut into batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ebbtide.engines.protocol import Delta
from ebbtide.pipeline.demo.commuters import commuter_reasoner
from ebbtide.pipeline.placements.driver import DriverPlacement
from ebbtide.pipeline.session import local_session
from ebbtide.pipeline.sources.files import timed_lines
from ebbtide.pipeline.stages.parse import parse
from ebbtide.terms.writing import timed_line
from ebbtide.testing.workloads import mobility

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

WORKLOAD = mobility(commuters=8, trains=3, seconds=12, seed=2)
BAD_LINES = ("noon\t<http://e/a> <http://e/p> <http://e/b> .\n", "no tab at all\n")


class Collected:
    def __init__(self) -> None:
        self.deltas: list[Delta] = []

    def write(self, delta: Delta) -> None:
        self.deltas.append(delta)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = local_session("ebbtide tests")
    yield session
    session.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The stream in files of 20 facts, a minute apart, with two bad lines in the first."""
    folder = tmp_path / "incoming"
    folder.mkdir()
    stream = [timed_line(at, fact.terms) for fact, at in WORKLOAD.stream()]
    for number, first in enumerate(range(0, len(stream), 20)):
        lines = stream[first : first + 20]
        file = folder / f"{number:03d}.tnt"
        file.write_text("".join([*lines, *(BAD_LINES if number == 0 else ())]))
        os.utime(file, (60 * number, 60 * number))
    return folder


@pytest.mark.parametrize("files_a_batch", [2, 1000])
def test_deltas_do_not_depend_on_batches(
    spark: SparkSession, folder: Path, tmp_path: Path, files_a_batch: int
) -> None:
    sink = Collected()
    reasoner = commuter_reasoner(WORKLOAD)
    placement = DriverPlacement(reasoner, sink)
    lines = timed_lines(spark, folder, files_a_batch=files_a_batch)
    query = placement.start(parse(lines), tmp_path / "checkpoint")
    query.processAllAvailable()
    query.stop()
    placement.finish()

    oracle = commuter_reasoner(WORKLOAD, engine="reference")
    expected = [*oracle.run(WORKLOAD.stream()), *oracle.finish()]
    assert sink.deltas == expected
    assert reasoner.facts() == oracle.facts()
    assert placement.progress.facts_in == sum(1 for _ in WORKLOAD.stream())
    assert placement.progress.bad_lines == len(BAD_LINES)
    assert reasoner.late == 0
