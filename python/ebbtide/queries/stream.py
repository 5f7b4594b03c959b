"""A stream as the engine knows it: who reads it, how far it has come, and what ticks have seen.

Invariant: what happens at or before `sighted` is late, because a tick of some reader has seen that
instant. A stream that a query feeds has no clock of its own: it comes as far as its producer. Nor
has one whose producer was dropped, until somebody else says something on it: nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ebbtide.queries.instants import Instants
from ebbtide.queries.task import Task
from ebbtide.queries.view import View
from ebbtide.terms import IRI
from ebbtide.time import Instant, Watermark

if TYPE_CHECKING:
    import pyarrow

#: Between forgetting instants that no window can hold any more.
_FORGET_AFTER: Final = 4_096


class Stream:
    """One stream."""

    def __init__(self, name: IRI, lateness: int) -> None:
        self.name = name
        self.watermark = Watermark(lateness)
        self.is_fed = False
        #: Whether its producer was dropped, and nothing was said on it since.
        self.is_orphan = False
        self.instants = Instants()
        #: When the first fact happened that somebody read, and the last of all.
        self.earliest: Instant | None = None
        self.latest: Instant | None = None
        self._last_retraction: Instant | None = None
        self.sighted: Instant | None = None
        self.readers: Sequence[Task] = ()
        self.views: Sequence[View] = ()
        self._awaiting: Sequence[Task] = ()
        self._noted = 0

    @property
    def has_clock(self) -> bool:
        """Whether ticks wait for it."""
        return bool(self.readers) and not self.is_fed and not self.is_orphan

    @property
    def is_awaited(self) -> bool:
        """Whether a fact may change the next tick of a reader."""
        return any(task.ticks.awaits_facts for task in self._awaiting)

    def serve(self, readers: Sequence[Task], views: Sequence[View], is_fed: bool) -> None:
        """These tasks read it now, through these views."""
        self.is_orphan = not is_fed and (self.is_fed or self.is_orphan)
        self.readers, self.views, self.is_fed = readers, views, is_fed
        self._awaiting = readers

    def see(self, sight: Instant) -> None:
        """A tick of a reader has seen an instant."""
        if self.sighted is None or sight > self.sighted:
            self.sighted = sight

    def happened(self, at: Instant) -> list[Task]:
        """Something happened; the tasks whose next tick is another one now."""
        if self.latest is None or at > self.latest:
            self.latest = at
        if self.readers and (self.earliest is None or at < self.earliest):
            self.earliest = at
        self._note(at)
        if not self._awaiting:
            return []
        self._awaiting = [task for task in self._awaiting if task.ticks.awaits_facts]
        return [task for task in self._awaiting if task.ticks.begin(at)]

    def noted(self, column: pyarrow.Array, latest: Instant) -> None:
        """The facts of a table happened that no reader awaits."""
        if self.latest is None or latest > self.latest:
            self.latest = latest
        if self.readers:
            self.instants.add_column(column, latest)
            self._forget(len(column))

    def retracted(self, at: Instant) -> list[Task]:
        """Something was taken back; the tasks whose next tick is another one now.

        Ticks begin with facts, so that a retraction before all of them makes none.
        """
        if self._last_retraction is None or at > self._last_retraction:
            self._last_retraction = at
        self._note(at)
        under_way = (
            task
            for task in self.readers
            if task.ticks.follows_facts and task.ticks.last is not None
        )
        return [task for task in under_way if task.ticks.begin(at)]

    @property
    def end(self) -> Instant | None:
        """When the last fact or retraction happened, if there was a fact."""
        if self.latest is None or self._last_retraction is None:
            return self.latest
        return max(self.latest, self._last_retraction)

    def _note(self, at: Instant) -> None:
        if self.readers:
            self.instants.add(at)
            self._forget(1)

    def _forget(self, noted: int) -> None:
        """Now and then, let go of what no window can hold any more."""
        self._noted += noted
        if self._noted >= _FORGET_AFTER and self.sighted is not None:
            self._noted = 0
            reach = max(task.reach for task in self.readers)
            self.instants.forget(self.sighted - 2 * reach)
