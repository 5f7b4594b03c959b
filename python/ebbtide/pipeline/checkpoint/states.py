"""What the units of a driver go on from: snapshots of their state, and the batches since.

    00000012.snapshot    the state after batch 12
    00000013.batch       what came in with batch 13

Invariant: of snapshots the last two are kept, and every batch after the older one; of one alone
every batch. Spark may hand out the last batch a second time, so the state before it must always be
in reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ebbtide.pipeline.checkpoint.sealed import Damaged, seal, unseal
from ebbtide.pipeline.errors import CheckpointError

SNAPSHOTS_KEPT: Final = 2


class States:
    """The states in a folder, each in a file that is sealed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save_batch(self, batch: int, content: bytes) -> None:
        """Keep what came in with a batch."""
        seal(self._file(batch, "batch"), content)

    def save_snapshot(self, batch: int, content: bytes) -> None:
        """Keep the state after a batch, and prune what is out of reach."""
        seal(self._file(batch, "snapshot"), content)
        snapshots = self._numbers("snapshot")
        for old in snapshots[:-SNAPSHOTS_KEPT]:
            self._file(old, "snapshot").unlink()
        if len(snapshots) < SNAPSHOTS_KEPT:
            # Before this batch, which may come again, there is nothing but all batches.
            return
        for old in self._numbers("batch"):
            if old <= snapshots[-SNAPSHOTS_KEPT]:
                self._file(old, "batch").unlink()

    @property
    def last(self) -> int:
        """The last batch that is kept; -1 for none."""
        return max((*self._numbers("batch"), *self._numbers("snapshot")), default=-1)

    def check_next(self, batch: int) -> None:
        """Whether a run may go on with a batch: the last one again, or the one after it."""
        if batch not in (self.last, self.last + 1):
            raise CheckpointError(
                f"{self._folder.parent} does not hold together: Spark goes on with batch {batch}, "
                f"but the last one that was reasoned over is {self.last}"
            )

    def check_before(self, batch: int) -> None:
        """Refuse what is damaged of all that is needed to go on with a batch."""
        self.check_next(batch)
        snapshot = self.snapshot_before(batch)
        for _ in self.batches(0 if snapshot is None else snapshot[0] + 1, batch):
            pass

    def snapshot_before(self, batch: int) -> tuple[int, bytes] | None:
        """The last snapshot before a batch, with its number; None if there is none."""
        before = [number for number in self._numbers("snapshot") if number < batch]
        return (before[-1], self._content(before[-1], "snapshot")) if before else None

    def batches(self, first: int, end: int) -> Iterator[bytes]:
        """What came in with the batches from `first` to before `end`."""
        for batch in range(first, end):
            yield self._content(batch, "batch")

    # ---- inside ------------------------------------------------------------------------------

    def _file(self, batch: int, kind: str) -> Path:
        return self._folder / f"{batch:08d}.{kind}"

    def _numbers(self, kind: str) -> list[int]:
        return sorted(int(path.stem) for path in self._folder.glob(f"[0-9]*.{kind}"))

    def _content(self, batch: int, kind: str) -> bytes:
        try:
            return unseal(self._file(batch, kind))
        except FileNotFoundError as error:
            raise CheckpointError(f"{error.filename} is missing") from None
        except Damaged as error:
            raise CheckpointError(str(error)) from None
