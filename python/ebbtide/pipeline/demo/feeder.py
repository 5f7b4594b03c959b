"""The outside world of the demo: drops a file of reports into a folder, second by second."""

from __future__ import annotations

import threading
from itertools import groupby
from pathlib import Path

from ebbtide.program import Fact
from ebbtide.terms.writing import timed_line
from ebbtide.testing.workloads import Workload
from ebbtide.time import Instant

SECOND = 1000


class Feeder(threading.Thread):
    """Writes each second of a workload's stream when it has passed, as one file."""

    def __init__(self, workload: Workload, folder: Path) -> None:
        super().__init__(name="feeder", daemon=True)
        self._workload = workload
        self._folder = folder
        self._stop_asked = threading.Event()

    def run(self) -> None:
        """Feed until the workload ends or `stop` is called."""
        for second, reports in groupby(self._workload.stream(), key=_second):
            if self._stop_asked.wait(1.0):
                return
            # Written aside and moved, so that Spark never reads half a file.
            unfinished = self._folder.with_suffix(".unfinished")
            unfinished.write_text("".join(timed_line(at, fact.terms) for fact, at in reports))
            unfinished.rename(self._folder / f"{second:06d}.tnt")

    def stop(self) -> None:
        """Stop feeding and wait until it has."""
        self._stop_asked.set()
        self.join()


def _second(report: tuple[Fact, Instant]) -> int:
    return report[1] // SECOND
