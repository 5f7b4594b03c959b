"""What every sink can do."""

from __future__ import annotations

from typing import Protocol

from ebbtide.engines.protocol import Delta


class Sink(Protocol):
    """Takes the deltas of a materialisation, in the order of their ticks."""

    def write(self, delta: Delta) -> None:
        """Take what one tick changed."""
