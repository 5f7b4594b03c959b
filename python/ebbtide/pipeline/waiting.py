"""Files of a folder that wait to be read: those in it that Spark's log does not have.

    checkpoint/spark/sources/PLACE/7            a line of JSON for each file of a batch, after a v1
    checkpoint/spark/sources/PLACE/9.compact    the same of all batches so far

Spark tells of a folder only how many batches were made of it. Invariant: of the names that were
read those are kept that are still in the folder, so memory follows the folder.

The cost of a count follows what a batch brought, not what the folder holds: a large folder is
listed now and then, and what was read since is taken off. Files that came since are counted late.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ebbtide.pipeline.stages.parse import path_of

#: Seconds of processor time for which a folder is listed with every batch.
CHEAP: Final = 0.002
#: Of the time that passes, what listing a larger one may take.
SHARE: Final = 0.01


class Waiting:
    """The files of a folder, and the log of those that were read."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder = folder
        self._log = log
        self._read: set[str] = set()
        self._waiting: set[str] = set()
        #: The last batch whose log was read, and when the folder is listed again.
        self._last = -1
        self._due = 0.0

    def count(self) -> int:
        """How many files wait."""
        read = set(self._read_since())
        self._read |= read
        if time.monotonic() < self._due:
            self._waiting -= read
        else:
            self._list()
        return len(self._waiting)

    def _list(self) -> None:
        # Of this thread alone: what a busy machine makes it wait is no cost of the folder.
        began = time.thread_time()
        # Spark passes over names that begin so.
        with os.scandir(self._folder) as entries:
            there = {each.name for each in entries if not each.name.startswith(("_", "."))}
        self._read &= there
        self._waiting = there - self._read
        took = time.thread_time() - began
        self._due = time.monotonic() + took / SHARE if took > CHEAP else 0.0

    def _read_since(self) -> Iterator[str]:
        """The names in the logs of the batches since the last count."""
        number = self._last + 1 if self._last >= 0 else self._first()
        while (file := self._of_batch(number)) is not None:
            # A compact log has those of its own batch last.
            for line in reversed(file.read_text(encoding="utf-8").splitlines()[1:]):
                entry = json.loads(line)
                if entry.get("batchId", number) <= self._last:
                    break
                yield Path(path_of(entry["path"])).name
            self._last = number
            number += 1

    def _first(self) -> int:
        """The batch from whose log on all files are known that were read."""
        compact = (int(file.stem) for file in self._log.glob("[0-9]*.compact"))
        return max(compact, default=0)

    def _of_batch(self, number: int) -> Path | None:
        files = (self._log / str(number), self._log / f"{number}.compact")
        return next((file for file in files if file.exists()), None)
