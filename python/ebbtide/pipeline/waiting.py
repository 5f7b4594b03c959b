"""Files of a folder that wait to be read: those in it that Spark's log does not have.

    checkpoint/spark/sources/PLACE/7            a line of JSON for each file of a batch, after a v1
    checkpoint/spark/sources/PLACE/9.compact    the same of all batches so far

Spark tells of a folder only how many batches were made of it. Invariant: of the names that were
read those are kept that are still in the folder, so memory follows the folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from ebbtide.pipeline.stages.parse import path_of


class Waiting:
    """The files of a folder, and the log of those that were read."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder = folder
        self._log = log
        self._read: set[str] = set()
        self._last = -1

    def count(self) -> int:
        """How many files wait."""
        # Spark passes over names that begin so.
        with os.scandir(self._folder) as entries:
            there = {each.name for each in entries if not each.name.startswith(("_", "."))}
        self._read.update(self._read_since())
        self._read &= there
        return len(there - self._read)

    def _read_since(self) -> Iterator[str]:
        """The names in the logs of the batches since the last count."""
        logs = {int(file.stem): file for file in self._log.glob("[0-9]*")}
        compact = [number for number, file in logs.items() if file.suffix]
        first = max(self._last + 1, max(compact, default=0))
        for number in sorted(number for number in logs if number >= first):
            for line in logs[number].read_text(encoding="utf-8").splitlines()[1:]:
                yield Path(path_of(json.loads(line)["path"])).name
            self._last = number
