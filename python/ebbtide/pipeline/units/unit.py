"""What every reasoning unit can do: take the facts of a batch, and give the rows of its ticks.

    batch    stream ─► table of t, s, p, o            what arrived, all at once
    rows     by name: of the rules, of each query     what the ticks that became due say

Invariant: a unit is deterministic. Fed the same batches from the same snapshot it gives the same
rows, which is what recovery rests on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ebbtide.pipeline.units.pieces import Piece
from ebbtide.program.user_module import UserModule
from ebbtide.time import Instant


@dataclass(frozen=True)
class Fed:
    """What became of a batch: the rows by name, and by stream the numbers of those facts that were
    late, also where there are none; dead letters of what was `refused` for another reason.
    """

    rows: Mapping[str, Any]
    late: Mapping[str, Sequence[int]] = field(default_factory=dict)
    last_tick: Instant | None = None
    tick_seconds: tuple[float, ...] = ()
    events: tuple[str, ...] = ()
    refused: Any = None


class Unit(Protocol):
    """Rules, or queries, with their windows and their state."""

    @property
    def names(self) -> Sequence[str]:
        """Of the rows it gives."""

    @property
    def title(self) -> str:
        """What a sentence calls it."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What must not change from one run to the next if the second is to go on."""

    @property
    def pieces(self) -> Iterable[Piece]:
        """What the identity is of, in the user's words."""

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


def builtins_identity(builtins: Iterable[UserModule]) -> dict[str, str]:
    """Programs know what they call by name only: what it does must not change, either."""
    texts = [each.text or each.name for each in builtins]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
    return {"builtins": digest} if texts else {}


def differing(known: Mapping[str, str], identity: Mapping[str, str]) -> str | None:
    """What is different in the identity of something that was kept; None if nothing is.

    >>> differing({"step": "1000", "rules": "a"}, {"step": "500", "rules": "a"})
    'its step is 1000, not 500'
    """
    for name in dict.fromkeys((*identity, *known)):
        if known.get(name) != identity.get(name):
            before, now = known.get(name, "not there"), identity.get(name, "there")
            return f"its {name} is {before}, not {now}"
    return None


def joined(fed: Sequence[Fed]) -> Fed:
    """The rows that several units made of one batch, as if they were one. `dead` joins the rest."""
    ticks = [each.last_tick for each in fed if each.last_tick is not None]
    return Fed(
        {name: rows for each in fed for name, rows in each.rows.items()},
        last_tick=max(ticks, default=None),
        tick_seconds=tuple(seconds for each in fed for seconds in each.tick_seconds),
        events=tuple(event for each in fed for event in each.events),
    )
