"""`ebbtide run` as a process that tests can watch, stop and kill."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ebbtide.testing.crash import VARIABLE

#: Seconds after which a run, on however busy a machine, hangs.
PATIENCE = 300.0


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
        with self._in_time(f"say {what!r}"):
            for line in self.process.stderr:
                self.said.append(line)
                if what in line:
                    return

    def end(self, seconds: float = PATIENCE) -> int:
        """Wait until it ends, and all that it started; how it did."""
        assert self.process.stderr is not None
        with self._in_time("end", seconds):
            # A JVM that stays behind holds its end of the pipe.
            self.said += self.process.stderr
            return self.process.wait()

    @contextmanager
    def _in_time(self, what: str, seconds: float = PATIENCE) -> Iterator[None]:
        """Fail, and kill whatever is left, where something takes too long to wait for."""
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

        timer = threading.Timer(seconds, give_up)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            assert not is_late.is_set(), f"it did not {what} in {seconds} s:\n{''.join(self.said)}"

    @property
    def batches(self) -> list[int]:
        """The batches that it said it was done with."""
        return batches_of(self.said)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.end()
