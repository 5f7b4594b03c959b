"""Pipelines on Spark, killed with -9, or told to stop, and begun again, for every placement.

make chaos      many kills of each: at random times, and at places where it would hurt most
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from .command import Command
from .stream import LOCAL, write_pipeline
from .test_recovery import CRASHES, assert_uninterrupted

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

# In shards and DataFrames a run takes its time: `make chaos` has it.
IN_SHARDS = pytest.param("sharded", marks=pytest.mark.chaos)
IN_FRAMES = pytest.param("dataframe", marks=pytest.mark.chaos)

#: Where a process can die: between the sink and the commit, and within what is kept of a batch.
POINTS = {
    "driver": ("reasoned:*:1", *CRASHES[2:]),
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
) -> None:
    """Kill as often as asked for, let it end, and compare with what the oracle says."""
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
    run_to_the_end(file, commands)
    assert_uninterrupted(folder, LOCAL)


def run_to_the_end(file: Path, commands: list[Command]) -> None:
    command = Command(file)
    commands.append(command)
    assert command.end() == 0, "".join(command.said)


@pytest.mark.parametrize("placement", ["driver", IN_SHARDS, IN_FRAMES])
def test_a_few_kills(tmp_path: Path, commands: list[Command], placement: str) -> None:
    kill_often(tmp_path, commands, placement, kills=2, seed=5, facts_a_file=12)


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("placement", "kills"), [("driver", 14), ("sharded", 12), ("dataframe", 10)]
)
def test_many_kills(tmp_path: Path, commands: list[Command], placement: str, kills: int) -> None:
    """And every sink holds, byte by byte, what a run that nobody disturbed wrote."""
    facts_a_file = FACTS_A_FILE[placement]
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    kill_often(disturbed, commands, placement, kills, seed=kills, facts_a_file=facts_a_file)
    file = write_pipeline(undisturbed, 1, facts_a_file, rules=LOCAL, placement=placement)
    run_to_the_end(file, commands)
    for part in ("answers", "dead"):
        assert sorted_lines(disturbed / "out" / part) == sorted_lines(undisturbed / "out" / part)


@pytest.mark.parametrize(
    ("placement", "number"),
    [
        ("driver", signal.SIGTERM),
        ("driver", signal.SIGINT),
        pytest.param("sharded", signal.SIGTERM, marks=pytest.mark.chaos),
        pytest.param("dataframe", signal.SIGINT, marks=pytest.mark.chaos),
    ],
)
def test_it_can_be_told_to_stop(
    tmp_path: Path, commands: list[Command], placement: str, number: signal.Signals
) -> None:
    """The batch in hand is finished and committed: the next run feeds nothing twice."""
    file = write_pipeline(
        tmp_path, files_a_batch=1, facts_a_file=10, rules=LOCAL, placement=placement
    )
    file.write_text(file.read_text().replace('"when read"', '"never"'))
    first = Command(file)
    commands.append(first)
    first.until("batch 2:")
    first.process.send_signal(number)
    assert first.end() == 0, "".join(first.said)
    file.write_text(file.read_text().replace('"never"', '"when read"'))
    second = Command(file)
    commands.append(second)
    assert second.end() == 0, "".join(second.said)
    numbers = first.batches + second.batches
    assert numbers == list(range(len(numbers)))
    assert_uninterrupted(tmp_path, LOCAL)
