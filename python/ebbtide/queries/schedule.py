"""Which query is evaluated next: the one whose next tick sees the earliest instant.

Of one instant, queries that feed others come first. Invariant: every task with a next tick has an
entry for it; entries that no longer hold are skipped when they come up.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from ebbtide.queries.task import Task
from ebbtide.time import Instant


class Schedule:
    """The tasks by their next ticks."""

    def __init__(self) -> None:
        self._tasks: dict[int, Task] = {}
        self._ranks: dict[int, int] = {}
        self._entries: list[tuple[Instant, int, int]] = []

    def arrange(self, ranks: dict[Task, int]) -> None:
        """These are the tasks now, with their ranks."""
        self._tasks = {task.number: task for task in ranks}
        self._ranks = {task.number: rank for task, rank in ranks.items()}
        self._entries = [
            (task.ticks.sight, rank, task.number)
            for task, rank in ranks.items()
            if task.ticks.sight is not None
        ]
        heapify(self._entries)

    def note(self, task: Task) -> None:
        """The next tick of a task is another one."""
        if task.ticks.sight is not None:
            heappush(self._entries, (task.ticks.sight, self._ranks[task.number], task.number))

    def first(self, up_to: Instant) -> Task | None:
        """The task to evaluate next, if it sees an instant up to this one."""
        while self._entries and self._entries[0][0] <= up_to:
            sight, _, number = self._entries[0]
            task = self._tasks.get(number)
            if task is not None and task.ticks.sight == sight:
                return task
            heappop(self._entries)
        return None

    def skip(self) -> None:
        """Leave out the first task until its next tick is another one."""
        heappop(self._entries)
