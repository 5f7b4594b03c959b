"""What every reasoning unit can do: take the facts of a batch, and give the rows of its ticks.

    batch    stream ─► table of t, s, p, o            what arrived, all at once
    rows     a table with a column t: the tick        what the ticks that became due say

Invariant: a unit is deterministic. Fed the same batches from the same snapshot it gives the same
rows, which is what recovery rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ebbtide.time import Instant


@dataclass(frozen=True)
class Fed:
    """What became of a batch."""

    rows: Any
    late: Mapping[str, list[int]] = field(default_factory=dict)
    last_tick: Instant | None = None
    tick_seconds: tuple[float, ...] = ()
    events: tuple[str, ...] = ()


class Unit(Protocol):
    """Rules, or queries, with their windows and their state."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What must not change from one run to the next if the second is to go on."""

    def begin(self) -> None:
        """Start from nothing but the background."""

    def feed(self, batch: Mapping[str, Any]) -> Fed:
        """Take a batch, and evaluate every tick that is due."""

    def finish(self) -> Fed:
        """The streams have ended: evaluate up to the first tick that sees every fact."""

    def snapshot(self) -> bytes:
        """The state."""

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot."""

    def __len__(self) -> int:
        """How many facts hold."""
