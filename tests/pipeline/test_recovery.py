"""Kill -9 and go on: the sinks hold what an uninterrupted run would have written."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbtide.testing.crash import VARIABLE

from .driven import write_batches
from .stream import BAD_LINES, COMMUTERS, LOCAL, expected_rows, in_order, write_pipeline

ROOT = Path(__file__).parents[2]

#: Place, what is being done there, and how often it is passed before the process dies.
CRASHES = (
    "half written:identity.json:1",
    "reasoned:0:1",
    "half written:part-*.jsonl:1",
    "sink:part-*.jsonl:1",
    "between sink and checkpoint:*:2",
    "half written:*.batch:2",
    "written aside:*.batch:1",
    "between batch and snapshot:*:2",
    "half written:*.snapshot:1",
    "written aside:*.snapshot:1",
    "before the commit:*:1",
    "before the commit:*:2",
    "half written:*.snapshot:2",
    "sink:part-*.jsonl:3",
)


def lines(folder: Path) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def assert_uninterrupted(folder: Path, rules: Path = COMMUTERS) -> None:
    assert in_order(lines(folder / "out/answers")) == expected_rows(rules)
    dead = lines(folder / "out/dead")
    assert [letter["text"] + "\n" for letter in dead] == list(BAD_LINES)


def drive(folder: Path, crash: str | None = None) -> int:
    environment = {**os.environ, **({VARIABLE: crash} if crash else {})}
    command = [sys.executable, "-m", "tests.pipeline.driven", str(folder)]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode


def test_killed_at_every_crash_point_one_after_the_other(tmp_path: Path) -> None:
    write_pipeline(tmp_path, facts_a_file=6)
    write_batches(tmp_path, 1)
    for crash in CRASHES:
        assert drive(tmp_path, crash) == -signal.SIGKILL, crash
    assert drive(tmp_path) == 0
    assert_uninterrupted(tmp_path)


@pytest.mark.parametrize("crash", ["before the commit:*:1", "half written:*.snapshot:1"])
def test_killed_again_and_again_at_the_same_point(tmp_path: Path, crash: str) -> None:
    write_pipeline(tmp_path, facts_a_file=40)
    write_batches(tmp_path, 1)
    for _ in range(3):
        drive(tmp_path, crash)
    assert drive(tmp_path) == 0
    assert_uninterrupted(tmp_path)


class Command:
    """`ebbtide run` in a process group of its own, which can be killed whole: Python and JVM."""

    def __init__(self, file: Path, crash: str | None = None) -> None:
        environment = {**os.environ, **({VARIABLE: crash} if crash else {})}
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("ebbtide"), "run", file],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.said: list[str] = []

    def until(self, what: str) -> None:
        """Wait until it says something, or ends."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if what in line:
                return

    def end(self) -> int:
        """Wait until it ends; how it did."""
        assert self.process.stderr is not None
        self.said += self.process.stderr
        return self.process.wait(timeout=120)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.end()


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    """Whatever a test started is gone when it ends."""
    started: list[Command] = []
    yield started
    for command in started:
        if command.process.poll() is None:
            command.kill()


def kill_often(
    folder: Path, commands: list[Command], kills: int, seed: int, placement: str = "driver"
) -> None:
    """At random times of the streaming, and at random crash points."""
    file = write_pipeline(folder, 1, 6, rules=LOCAL, placement=placement)
    chance = random.Random(seed)
    for number in range(kills):
        crash = chance.choice(CRASHES[1:]) if number % 2 else None
        command = Command(file, crash)
        commands.append(command)
        command.until("reading")
        if crash is None:
            for _ in range(chance.randrange(4)):
                command.until(": batch ")
            time.sleep(chance.uniform(0.0, 2.0))
            command.kill()
        else:
            assert command.end() in (0, -signal.SIGKILL), "".join(command.said)
    last = Command(file)
    commands.append(last)
    assert last.end() == 0, "".join(last.said)
    assert_uninterrupted(folder, LOCAL)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_few_kills_of_a_driver_on_spark(tmp_path: Path, commands: list[Command]) -> None:
    kill_often(tmp_path, commands, kills=3, seed=5)


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("placement", "kills"), [("driver", 15), ("sharded", 12), ("dataframe", 5)]
)
def test_many_kills_of_drivers_on_spark(
    tmp_path: Path, commands: list[Command], placement: str, kills: int
) -> None:
    kill_often(tmp_path, commands, kills, seed=kills, placement=placement)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_can_be_told_to_stop(
    tmp_path: Path, commands: list[Command], number: signal.Signals
) -> None:
    """The batch in hand is finished and committed: the next run feeds nothing twice."""
    file = write_pipeline(tmp_path, files_a_batch=1, facts_a_file=6)
    file.write_text(file.read_text().replace('"when read"', '"never"'))
    first = Command(file)
    commands.append(first)
    first.until("batch 2:")
    first.process.send_signal(number)
    assert first.end() == 0, "".join(first.said)
    done = [line for line in first.said if ": batch " in line]
    file.write_text(file.read_text().replace('"never"', '"when read"'))
    second = Command(file)
    commands.append(second)
    assert second.end() == 0, "".join(second.said)
    rest = [line for line in second.said if ": batch " in line]
    numbers = [int(line.split()[2].rstrip(":")) for line in done + rest]
    assert numbers == list(range(len(numbers)))
    assert_uninterrupted(tmp_path)
