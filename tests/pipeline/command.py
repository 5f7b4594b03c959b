"""`ebbtide run` as a process that tests can watch, stop and kill."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from ebbtide.testing.crash import VARIABLE


def batches_of(said: Iterable[str]) -> list[int]:
    """The numbers of the batches that a run says it is done with."""
    found = (re.match(r"(?:ebbtide: )?batch (\d+): ", line) for line in said)
    return [int(each[1]) for each in found if each]


class Command:
    """`ebbtide run` in a process group of its own, which can be killed whole: Python and JVM."""

    def __init__(self, file: Path, crash: str | None = None, *options: str) -> None:
        environment = {**os.environ, **({VARIABLE: crash} if crash else {})}
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("ebbtide"), "run", *options, file],
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

    @property
    def batches(self) -> list[int]:
        """The batches that it said it was done with."""
        return batches_of(self.said)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.end()
