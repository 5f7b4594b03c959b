"""What every engine can do, and the answers it gives.

An engine holds one materialisation of one program. It is fed background facts and streams of timed
facts, and it is told the ticks, in ascending order. At each tick the materialisation equals the
closure of (background + facts in the windows) under the program. An engine knows nothing of
watermarks and lateness: whoever drives it pushes every fact with an event time at or below a tick
before that tick.

At one instant, statements come before retractions: a retraction at r takes back every statement of
the fact made at or before r, background included.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ebbtide.program import Fact
from ebbtide.time import Instant

if TYPE_CHECKING:
    from ebbtide.engines.events import Event


@dataclass(frozen=True)
class Delta:
    """What one tick changed. Each mapping goes from the fact to its `until`.

    `entered` and `renewed` carry the new `until`; `left` the `until` the fact had. A fact is
    renewed when it held before the tick and holds after it with another `until`.

    An engine tells of every fact. A reasoner leaves out those of hidden relations, and says which
    events `began` and which `ended`.
    """

    tick: Instant
    entered: Mapping[Fact, Instant]
    left: Mapping[Fact, Instant]
    renewed: Mapping[Fact, Instant]
    complete: bool = True
    began: tuple[Event, ...] = ()
    ended: tuple[Event, ...] = ()


class LateFact(ValueError):
    """A fact or retraction at or before a tick that was already evaluated."""


class Engine(Protocol):
    """One materialisation, kept true tick by tick."""

    def add(self, fact: Fact) -> None:
        """State a background fact. It is seen from the next tick on."""

    def push(self, fact: Fact, at: Instant, stream: str = "default") -> None:
        """State a fact that happens at `at` on a stream; `LateFact` if that tick is over."""

    def retract(self, fact: Fact, at: Instant) -> None:
        """Take back every statement of the fact made at or before `at`."""

    def advance(self, tick: Instant) -> Delta:
        """Evaluate the tick. Ticks must ascend."""

    def facts(self, relations: Collection[str] | None = None) -> Mapping[Fact, Instant]:
        """The materialisation at the last tick, of some relations or all; each fact's `until`."""
