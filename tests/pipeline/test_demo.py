"""The demo, end to end: real Spark, a real folder, and the answers of the reference engine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from ebbtide.pipeline.demo import demo_pipeline
from ebbtide.pipeline.sinks.console import ConsoleSink
from ebbtide.pipeline.sinks.selected import Selected
from ebbtide.reasoner import Reasoner
from ebbtide.terms.writing import ntriples_line
from ebbtide.testing.workloads import mobility
from ebbtide.time import Sliding

from .stream import DEMO, rows_of

SECONDS, SEED = 6, 4


@pytest.fixture(scope="module")
def demo() -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("ebbtide")
    return subprocess.run(
        [command, "demo", "--seconds", str(SECONDS), "--seed", str(SEED)],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def summary_of(text: str) -> dict[str, int]:
    return {
        name: int(number)
        for name, number in re.findall(r"^([a-z ]+?)  +(\d+)\b", text, re.MULTILINE)
    }


def test_the_background_is_that_of_the_workload() -> None:
    lines = (ntriples_line(fact.terms) for fact in mobility().background())
    assert (DEMO / "places.nt").read_text() == "".join(lines)


@pytest.mark.spark
def test_it_ends_well_and_quietly(demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0, demo.stderr
    assert all(line.startswith("ebbtide: ") for line in demo.stderr.splitlines()), demo.stderr
    assert re.search(r"^tick latency +p50 [\d.]+ ms, p95 [\d.]+ ms", demo.stdout, re.MULTILINE)
    assert re.search(r"^batch latency +p50 [\d.]+ ms, p95 [\d.]+ ms", demo.stdout, re.MULTILINE)


@pytest.mark.spark
def test_it_shows_what_the_reference_engine_answers(
    demo: subprocess.CompletedProcess[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Fact by fact through the oracle in this process: the same changes at the same ticks."""
    from rich.console import Console

    workload = mobility(seconds=SECONDS, seed=SEED)
    reasoner = Reasoner(
        DEMO / "commuters.rules", window=Sliding(3_000), lateness=1_000, engine="reference"
    )
    reasoner.add_all(workload.background())
    deltas = [*reasoner.run(workload.stream()), *reasoner.finish()]
    (output,) = demo_pipeline(SECONDS, SEED).outputs.values()
    sink = Selected(
        ConsoleSink(Console()), "p", [f"<{iri}>" for iri in output.predicates], output.changes
    )
    sink.write(0, pa.Table.from_pylist(rows_of(deltas)))
    expected = capsys.readouterr().out

    changes, _, closing = demo.stdout.partition("\n\n")
    assert changes.splitlines() == expected.splitlines()
    assert " + " in changes
    assert summary_of(closing) == {
        "facts in": sum(1 for _ in workload.stream()),
        "entered": sum(len(delta.entered) for delta in deltas),
        "left": sum(len(delta.left) for delta in deltas),
        "hold at the end": len(reasoner),
        "ticks": len(deltas),
    }
    assert "(0 late, 0 bad lines)" in closing


@pytest.mark.spark
def test_what_entered_and_left_adds_up(demo: subprocess.CompletedProcess[str]) -> None:
    """Every answer that left had entered, and those that never left still hold."""
    holding: set[str] = set()
    for line in demo.stdout.partition("\n\n")[0].splitlines():
        _, sign, answer = re.fullmatch(r" *([\d.]+ s)  ([+-]) (.*?)(?: until .*)?", line).groups()
        if sign == "+":
            assert answer not in holding
            holding.add(answer)
        else:
            holding.remove(answer)
    numbers = summary_of(demo.stdout)
    assert numbers["hold at the end"] >= len(holding)
    assert numbers["hold at the end"] == numbers["entered"] - numbers["left"]
