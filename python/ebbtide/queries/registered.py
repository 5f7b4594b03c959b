"""A query that was registered, as its user holds it: answers come by callback or by iteration.

    query.subscribe(print)              called with the `Answers` of each report
    for answers in query: ...           what was reported and not taken yet
    async for answers in query: ...     the same, and then each report as it comes, to the end

Answers that nobody takes wait, the newest 10,000 of them, unless there are callbacks.
"""

from __future__ import annotations

import asyncio
import warnings
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ebbtide.languages.rspql import ContinuousQuery
from ebbtide.queries.algebra import is_ordered
from ebbtide.queries.answers import Answers

if TYPE_CHECKING:
    from ebbtide.queries.engine import QueryEngine

MOST_WAITING: Final = 10_000
State: TypeAlias = Literal["running", "paused", "dropped"]


class RegisteredQuery:
    """A handle on a query of an engine."""

    def __init__(self, engine: QueryEngine, query: ContinuousQuery) -> None:
        self.query = query
        self.state: State = "running"
        self._engine = engine
        self._callbacks: list[Callable[[Answers], object]] = []
        self._waiting: deque[Answers] = deque()
        self._lost = 0
        self._is_over = False
        self._wakers: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @property
    def name(self) -> str:
        """What it was registered as."""
        return self.query.name

    @property
    def is_ordered(self) -> bool:
        """Whether the query says in which order its answers come."""
        return is_ordered(self.query.algebra)

    def subscribe(self, callback: Callable[[Answers], object]) -> None:
        """Call a function with the answers of every report from now on."""
        self._callbacks.append(callback)

    def pause(self) -> None:
        """Answer nothing until `resume`. What happens meanwhile is in the windows afterwards."""
        if self.state == "running":
            self.state = "paused"

    def resume(self) -> None:
        """Answer again, from the next tick on."""
        if self.state == "paused":
            self.state = "running"

    def drop(self) -> None:
        """Answer no more."""
        self._engine.drop(self)

    def explain(self) -> str:
        """Which part of the query runs how."""
        return self._engine.explain(self)

    def __iter__(self) -> Iterator[Answers]:
        while self._waiting:
            yield self._waiting.popleft()

    async def __aiter__(self) -> AsyncIterator[Answers]:
        waker = (asyncio.get_running_loop(), asyncio.Event())
        self._wakers.append(waker)
        try:
            while True:
                for answers in self:
                    yield answers
                if self._is_over:
                    return
                await waker[1].wait()
                waker[1].clear()
        finally:
            self._wakers.remove(waker)

    def _tell(self, answers: Answers) -> None:
        for callback in self._callbacks:
            callback(answers)
        if self._callbacks and not self._wakers:
            return
        if len(self._waiting) == MOST_WAITING:
            self._waiting.popleft()
            self._lost += 1
            if self._lost == 1:
                warnings.warn(
                    f"more than {MOST_WAITING} answers of {self.name} wait; the oldest are lost",
                    RuntimeWarning,
                    stacklevel=2,
                )
        self._waiting.append(answers)
        self._wake()

    def _end(self, dropped: bool) -> None:
        """No answers come any more: the query was dropped, or the streams have ended."""
        if dropped:
            self.state = "dropped"
        self._is_over = True
        self._wake()

    def _wake(self) -> None:
        for loop, event in self._wakers:
            loop.call_soon_threadsafe(event.set)
