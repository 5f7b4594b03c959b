"""Going on after kill -9 with a large window: how long until the next batch is answered.

    run       ebbtide run P.toml; the window fills, batch by batch
    kill      kill -9 of the driver and of Spark, as soon as the last batch is kept
    again     ebbtide run P.toml: from its start to the answer to one more file

and beside it the same for a run that has nothing to go on from: the difference is the recovery,
the rest is the start of Python and of Spark.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep
from typing import Final

import psutil

from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.results import Measurement, Results, Say

FILES: Final = 10
PATIENCE: Final = 400.0
PIPELINE: Final = """name = "recovery"
[time]
start = 0
[streams.places]
from = "files"
path = "incoming"
files_a_batch = 1
window = "1 h"
[rules]
use = ["contains.rules"]
[outputs.answers]
of = "rules"
to = "jsonl"
path = "out"
predicates = ["<http://e/last>"]
[checkpoint]
path = "checkpoint"
snapshot_every = 4
[run]
placement = "driver"
"""
RULES: Final = """[r: (?x <http://e/isIn> ?y) -> (?y <http://e/contains> ?x)]
[s: (?x <http://e/ends> ?y) -> (?x <http://e/last> ?y)]
"""


#: Whose memory is told.
PROCESSES: Final = ("driver", "JVM", "workers", "all")


class Run:
    """`ebbtide run` as a process group of its own, which can be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = (folder / "log").open("ab")
        start = "from ebbtide.cli import main; main()"
        command = [sys.executable, "-c", start, "run", str(folder / "p.toml")]
        self._process = subprocess.Popen(
            command, stdout=self._log, stderr=self._log, start_new_session=True
        )

    def wait_for(self, pattern: str, count: int) -> None:
        """Until so many files are there."""
        end = perf_counter() + PATIENCE
        while len(list(self._folder.glob(pattern))) < count:
            if self._process.poll() is not None or perf_counter() > end:
                raise RuntimeError(f"the run has ended: {(self._folder / 'log').read_text()}")
            sleep(0.02)

    def memory(self) -> Mapping[str, float]:
        """Resident megabytes of the driver, its JVM, the Python workers and all of them."""
        driver = psutil.Process(self._process.pid)
        found = dict.fromkeys(PROCESSES[:-1], 0.0)
        found["driver"] = driver.memory_info().rss / 1e6
        for child in driver.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                kind = "JVM" if child.name() == "java" else "workers"
                found[kind] += child.memory_info().rss / 1e6
        return {**found, "all": sum(found.values())}

    def kill(self) -> None:
        """As nobody can prepare for: the driver, the JVM and its workers."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._log.close()


def measure_recovery(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Seconds from the start of a run to its next answer, with a window to go on from or none."""
    times = {}
    for name, facts in (("nothing to go on from", 0), ("after kill -9", settings.window)):
        say(f"recovery: {name}")
        times[name] = _again(folder / name.replace(" ", "-"), facts)
    given = {"facts in the window": settings.window}
    results.extend(
        Measurement("recovery", {**given, "run": name}, value, "s") for name, value in times.items()
    )
    both = times["after kill -9"] - times["nothing to go on from"]
    snapshots = (folder / "after-kill--9/checkpoint/reasoner").glob("*.snapshot")
    size = max(each.stat().st_size for each in snapshots)
    results.extend(
        [
            Measurement("recovery", {**given, "run": "the difference"}, both, "s"),
            Measurement("size of the snapshot", given, size / 1e6, "MB"),
        ]
    )


def _again(folder: Path, facts: int) -> float:
    incoming = folder / "incoming"
    incoming.mkdir(parents=True)
    (folder / "p.toml").write_text(PIPELINE)
    (folder / "contains.rules").write_text(RULES)
    batches = FILES if facts else 0
    if facts:
        for number in range(FILES):
            _write(incoming / f"{number:02d}.tnt", number, facts // FILES)
        first = Run(folder)
        try:
            # The ninth is after the second snapshot, so that batches are fed again.
            first.wait_for("checkpoint/spark/commits/[0-9]*", FILES)
        finally:
            first.kill()
    _write(incoming / "last.tnt", batches, 10)
    began = perf_counter()
    again = Run(folder)
    try:
        again.wait_for(f"out/part-{batches:08d}.jsonl", 1)
        return perf_counter() - began
    finally:
        again.kill()


def _write(file: Path, number: int, facts: int) -> None:
    at = 1_000 * (number + 1)
    lines = (
        f"{at}\t<http://e/{number}/{each}> <http://e/isIn> <http://e/place/{each % 1_000}> .\n"
        for each in range(facts)
    )
    end = f"{at}\t<http://e/{number}> <http://e/ends> <http://e/batch> .\n"
    # A tick is due when something later has come.
    end += f"{at + 500}\t<http://e/{number}> <http://e/is> <http://e/over> .\n"
    aside = file.with_name(f".{file.name}")
    aside.write_text("".join(lines) + end)
    os.utime(aside, (60 * number, 60 * number))
    aside.rename(file)
