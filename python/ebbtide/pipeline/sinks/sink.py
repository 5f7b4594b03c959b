"""What every sink can do."""

from __future__ import annotations

from typing import Any, Protocol


class Sink(Protocol):
    """Takes the rows of batches, in order.

    A batch may come twice, with the same rows, when a run goes on after a crash: sinks that keep
    what they are given keep it once.
    """

    def write(self, batch: int, rows: Any) -> None:
        """Take the rows of a batch, an Arrow table."""

    def close(self) -> None:
        """There is no more."""
