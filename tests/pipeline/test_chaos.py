"""Pipelines on Spark, killed with -9, or told to stop, and begun again, for every placement.

make chaos      many kills of each: at random times, and at places where it would hurt most
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline

from .command import Command, batches_of
from .stream import LOCAL, write_pipeline
from .test_recovery import CRASHES, assert_uninterrupted

pytestmark = pytest.mark.spark

# In shards and DataFrames a run takes its time: `make chaos` has it.
IN_SHARDS = pytest.param("sharded", marks=pytest.mark.chaos)
IN_FRAMES = pytest.param("dataframe", marks=pytest.mark.chaos)

#: Where a process can die: between the sink and the commit, and within what is kept of a batch.
POINTS = {
    "driver": ("reasoned:*:1", *CRASHES[3:]),
    "sharded": (
        "half written:part-*.jsonl:1",
        "sink:part-*.jsonl:1",
        "before the commit:*:1",
        "half written:part-*.jsonl:2",
        "before the commit:*:2",
        "sink:part-*.jsonl:2",
    ),
    "dataframe": (
        "between sink and checkpoint:*:1",
        "half written:frames *:1",
        "written aside:frames *:1",
        "before the commit:*:1",
        "sink:part-*.jsonl:1",
        "half written:frames *:2",
    ),
}
#: Where it can die when everything was read: while the shards are told, and have answered.
LAST = {"sharded": ("half written:*.txt:1", "before the commit:*:1")}
#: So that there are batches enough for the kills that `make chaos` asks for.
FACTS_A_FILE = {"driver": 2, "sharded": 3, "dataframe": 5}


def sorted_lines(folder: Path) -> list[bytes]:
    """All that a sink holds, in a sure order."""
    return sorted(line for part in folder.glob("part-*") for line in part.read_bytes().splitlines())


def killed(file: Path, crash: str | None, chance: random.Random, commands: list[Command]) -> str:
    """Run a pipeline, and kill it; how that went, or nothing if it came to its end before."""
    begun = time.monotonic()
    command = Command(file, crash)
    commands.append(command)
    command.until("reading")
    if crash is None:
        for _ in range(chance.randrange(3)):
            command.until(": batch ")
        time.sleep(chance.uniform(0.0, 1.5))
        command.kill()
    else:
        command.end()
    code = command.process.returncode
    assert code in (0, -signal.SIGKILL), "".join(command.said)
    last = f"after batch {command.batches[-1]}" if command.batches else "before any batch"
    where = crash or "at a random time"
    return f"{where}, {last}, {time.monotonic() - begun:.0f} s" if code else ""


def kill_often(
    folder: Path,
    commands: list[Command],
    placement: str,
    kills: int,
    seed: int,
    *,
    facts_a_file: int,
) -> Path:
    """A pipeline that was killed as often as asked for."""
    chance = random.Random(seed)
    file = write_pipeline(folder, 1, facts_a_file, rules=LOCAL, placement=placement, every="300 ms")
    points = list(POINTS[placement])
    chance.shuffle(points)
    last = LAST.get(placement, ()) if kills > len(points) else ()
    for number in range(kills):
        crash = points[number // 2 % len(points)] if number % 2 else None
        if number >= kills - len(last):
            crash = last[number - kills]
        told = killed(file, crash, chance, commands)
        assert told, f"it had read everything after {number} kills, before {crash}"
        print(f"chaos: {placement}: kill {number + 1} of {kills}: {told}", flush=True)
    return file


def stopped_and_run_to_the_end(
    file: Path, commands: list[Command], number: signal.Signals, spark: SparkSession
) -> None:
    """Let a batch in hand be finished and committed: the next run feeds nothing twice."""
    first = Command(file)
    commands.append(first)
    first.until(": batch ")
    # As a terminal does it, to everything that was started there; but a JVM obeys SIGTERM.
    tell = os.killpg if number == signal.SIGINT else os.kill
    tell(first.process.pid, number)
    first.until("stopping")
    assert "once the batch in hand is finished" in first.said[-1]
    # It has been told.
    tell(first.process.pid, number)
    assert first.end() == 0, "".join(first.said)
    assert sum("stopping" in line for line in first.said) == 1, "".join(first.said)
    # Here Spark is up already.
    said: list[str] = []
    run_pipeline(load_pipeline(file), Console(quiet=True), said.append, spark=spark)
    later = batches_of(said)
    numbers = first.batches + later
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert len(later) > 1, "it had read everything"


def run_to_the_end(file: Path, commands: list[Command]) -> None:
    command = Command(file)
    commands.append(command)
    assert command.end() == 0, "".join(command.said)


@pytest.mark.parametrize("placement", ["driver", IN_SHARDS, IN_FRAMES])
def test_a_kill(
    spark: SparkSession, tmp_path: Path, commands: list[Command], placement: str
) -> None:
    """And then by Ctrl-C; what the sinks hold in the end is what the oracle says."""
    file = kill_often(tmp_path, commands, placement, kills=1, seed=5, facts_a_file=12)
    stopped_and_run_to_the_end(file, commands, signal.SIGINT, spark)
    assert_uninterrupted(tmp_path, LOCAL)


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("placement", "kills"), [("driver", 14), ("sharded", 12), ("dataframe", 10)]
)
def test_many_kills(tmp_path: Path, commands: list[Command], placement: str, kills: int) -> None:
    """Every sink holds what the oracle says and, byte by byte, what an undisturbed run wrote."""
    facts_a_file = FACTS_A_FILE[placement]
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    file = kill_often(disturbed, commands, placement, kills, seed=kills, facts_a_file=facts_a_file)
    run_to_the_end(file, commands)
    assert_uninterrupted(disturbed, LOCAL)
    file = write_pipeline(undisturbed, 1, facts_a_file, rules=LOCAL, placement=placement)
    run_to_the_end(file, commands)
    for part in ("answers", "dead"):
        assert sorted_lines(disturbed / "out" / part) == sorted_lines(undisturbed / "out" / part)


@pytest.mark.chaos
@pytest.mark.parametrize("placement", ["driver", "sharded", "dataframe"])
def test_told_to_stop(
    spark: SparkSession, tmp_path: Path, commands: list[Command], placement: str
) -> None:
    file = write_pipeline(tmp_path, 1, 10, rules=LOCAL, placement=placement)
    stopped_and_run_to_the_end(file, commands, signal.SIGTERM, spark)
    assert_uninterrupted(tmp_path, LOCAL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_in_a_process_that_goes_on(
    spark: SparkSession, tmp_path: Path, number: signal.Signals
) -> None:
    """The batch in hand is finished and committed; what comes later is for the next run."""
    file = write_pipeline(tmp_path, 2, 20, rules=LOCAL)
    text = file.read_text()
    batches: list[str] = []

    def say(sentence: str) -> None:
        if sentence.startswith("batch "):
            batches.append(sentence.partition(":")[0])
            if len(batches) == 2:
                os.kill(os.getpid(), number)
                # The main thread hears of it while this batch is in hand.
                time.sleep(1)

    file.write_text(text.replace('"when read"', '"never"'))
    run_pipeline(load_pipeline(file), Console(quiet=True), say, spark=spark)
    assert len(batches) == 2
    file.write_text(text)
    run_pipeline(load_pipeline(file), Console(quiet=True), say, spark=spark)
    assert batches == [f"batch {number}" for number in range(len(batches))]
    assert_uninterrupted(tmp_path, LOCAL)


@pytest.mark.parametrize("placement", ["driver", IN_SHARDS])
def test_told_to_stop_while_spark_reads(
    spark: SparkSession, tmp_path: Path, placement: str
) -> None:
    """What Spark has begun with is the batch in hand, before anything of it has come to us."""
    file = write_pipeline(tmp_path, 2, 20, rules=LOCAL, placement=placement)
    begun = tmp_path / "checkpoint/spark/offsets/0"

    def tell() -> None:
        while not begun.exists():
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGTERM)

    watcher = threading.Thread(target=tell, daemon=True)
    watcher.start()
    said: list[str] = []
    run_pipeline(load_pipeline(file), Console(quiet=True), said.append, spark=spark)
    watcher.join()
    assert batches_of(said) == [0]
    run_pipeline(load_pipeline(file), Console(quiet=True), spark=spark)
    assert_uninterrupted(tmp_path, LOCAL)


def test_told_to_stop_while_spark_starts(tmp_path: Path, commands: list[Command]) -> None:
    """It is started and closed again, and nothing stays behind, with a pipe to us at its end."""
    command = Command(write_pipeline(tmp_path))
    commands.append(command)
    command.until("starting Spark")
    time.sleep(0.7)
    os.killpg(command.process.pid, signal.SIGINT)
    assert command.end(seconds=120) == 0, "".join(command.said)
    told = [line for line in command.said if "stopping" in line]
    assert told == ["ebbtide: stopping once Spark has started; telling again changes nothing\n"]
    assert not any("reading" in line or "Traceback" in line for line in command.said)
    assert not (tmp_path / "checkpoint/spark").exists()
