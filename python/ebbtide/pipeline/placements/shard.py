"""One shard: a unit of rules over the facts that live in it, brought back from its state at need.

    state    head                   where time stands, and marks of the last batches, each new
             pages, by number       the facts a batch brought, for as long as one is in a window

The kernel with the materialisation stays behind in the worker process as a cache. The next batch of
the shard may meet another process, or one that is behind: the marks tell. A kernel that is behind
takes the pages it has missed; where there is none, it is built from all pages. Invariant: what a
shard answers depends on its state and the batch, not on the cache. The cost of the state follows
what a batch brings, not what the window holds.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.pipeline.checkpoint.plan import Plan, difference
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file.meaning import RULES
from ebbtide.pipeline.packed import packed, unpacked
from ebbtide.pipeline.units.rules import Rules
from ebbtide.time import FOREVER, Instant, TimeWindow, Window, WindowError

#: What a state store keeps of a shard, and of a unit in one place: the name and its columns.
HEAD: Final = ("head", "head string")
ENGINE: Final = ("engine", "mark string, snapshot binary")
#: In words, which of the two a query is.
IN_SHARDS: Final = "of rules over windows of time"
IN_ONE_PLACE: Final = "of queries, a program of LARS, count windows or sessions"


class Page(NamedTuple):
    """The facts a batch brought, and the instant from which none of them holds."""

    until: Instant
    facts: bytes


class Said(NamedTuple):
    """What a shard says of a batch: the rows of the ticks that it makes due, by stream the facts
    that were late, and a note for whoever watches, of what JSON can say.
    """

    rows: Any
    late: Mapping[str, Any]
    note: Mapping[str, Any]


class State(Protocol):
    """What a state store keeps of one shard."""

    def head(self) -> str | None:
        """The head, in JSON; None before the first batch."""

    def set_head(self, head: str) -> None:
        """Keep a head."""

    def pages(self) -> Iterable[tuple[int, Page]]:
        """The pages, in any order."""

    def page(self, number: int) -> Page | None:
        """One of them; None if it was dropped, or never was."""

    def set_page(self, number: int, page: Page) -> None:
        """Keep a page."""

    def drop_page(self, number: int) -> None:
        """Forget a page."""


@dataclass
class _Cached:
    """A kernel; `marks` are those of the last batches it has seen, and the page after each."""

    marks: list[tuple[str, int]]
    unit: Rules
    ends: dict[int, Instant]

    @property
    def next(self) -> int:
        """The number of the next page."""
        return self.marks[-1][1] if self.marks else 0


_FACTS: Final = pa.array(["fact", "copy"])
#: In one process: those of jobs that have ended must not stay for ever.
MOST_CACHED: Final = 32
#: So many batches may a kernel be behind; with more it is built again.
MOST_MISSED: Final = 8
#: What this process knows of shards, by the job and the number of the shard.
_cache: dict[tuple[str, int], _Cached] = {}


class Shards:
    """The shards of one job; pickled to the workers.

    `identity` says what the state belongs to: the rules and how facts are cut among shards; `plan`
    what that is of.
    """

    def __init__(
        self,
        job: str,
        unit: Rules,
        windows: Mapping[str, Window],
        identity: Mapping[str, str] | None = None,
        plan: Plan | None = None,
    ) -> None:
        if not all(isinstance(window, TimeWindow) for window in windows.values()):
            raise WindowError(
                "count windows and sessions see the facts of every shard: they cannot be sharded"
            )
        self._job = job
        self._unit = unit
        self._windows = dict(windows)
        self._identity = dict(identity or {})
        self._plan = plan

    def feed(self, shard: int, state: State, rows: Any) -> Said:
        """Let a shard take a batch.

        `rows` are as `routing` makes them: facts, and what was heard of the whole batch.
        """
        cached = self._current(shard, state)
        unit, reasoner = cached.unit, cached.unit.reasoner
        heard = rows.filter(pc.equal(rows["kind"], "heard"))
        facts = rows.filter(pc.is_in(rows["kind"], _FACTS))
        batch = {name: facts.filter(pc.equal(facts["stream"], name)) for name in self._windows}
        late = {stream: reasoner.push_parsed(table, stream) for stream, table in batch.items()}
        for stream, first, last in _heard(heard):
            reasoner.hear(first, last, stream)
        is_end = bool(pc.any(pc.equal(rows["kind"], "end")).as_py())
        fed = unit.finish() if is_end else unit.changes(late)
        dead = {name: _at_home(batch[name], late[name]) for name in batch if late[name]}
        self._keep(cached, state, {name: _left(batch[name], late[name]) for name in batch})
        _cache[self._job, shard] = cached
        for oldest in list(_cache)[:-MOST_CACHED]:
            del _cache[oldest]
        note = {
            "shard": shard,
            "holding": len(unit),
            "tick": fed.last_tick,
            "tick_seconds": fed.tick_seconds,
            "events": fed.events,
        }
        return Said(fed.rows[RULES], dead, note)

    def _current(self, shard: int, state: State) -> _Cached:
        """The shard as its state has it: from the cache, or built from its pages."""
        cached = _cache.pop((self._job, shard), None)
        head = state.head()
        if head is None:
            self._unit.begin()
            return _Cached([], self._unit.detached(), {})
        known = json.loads(head)
        refuse_other(known["identity"], self._identity, known.get("plan"), self._plan)
        marks = [(mark, number) for mark, number in known["marks"]]
        if cached is not None and cached.marks[-1] == marks[-1]:
            return cached
        if cached is not None and cached.marks[-1] in marks:
            missed = range(cached.next, marks[-1][1])
            found = ((number, state.page(number)) for number in missed)
            pages = {number: page for number, page in found if page is not None}
        else:
            pages = dict(state.pages())
            self._unit.begin()
            cached = _Cached([], self._unit.detached(), {})
        tables = [table for page in pages.values() for table in _by_stream(unpacked(page.facts))]
        cached.unit.reasoner.resume(known["clock"], tables)
        cached.marks = marks
        ends = cached.ends | {number: page.until for number, page in pages.items()}
        cached.ends = _open(ends, known["clock"])
        return cached

    def _keep(self, cached: _Cached, state: State, batch: Mapping[str, Any]) -> None:
        clock = cached.unit.reasoner.clock()
        number = cached.next
        facts = pa.concat_tables(list(batch.values()))
        if facts.num_rows:
            until = max(_end(self._windows[name], table) for name, table in batch.items())
            columns = facts.select(["stream", "t", "s", "p", "o"])
            state.set_page(number, Page(until, packed(columns)))
            cached.ends[number] = until
            number += 1
        left = _open(cached.ends, clock)
        for each in cached.ends.keys() - left.keys():
            state.drop_page(each)
        cached.ends = left
        cached.marks = [*cached.marks[-MOST_MISSED:], (secrets.token_hex(8), number)]
        plan = None if self._plan is None else self._plan.written().decode()
        head = {"marks": cached.marks, "clock": clock, "identity": self._identity, "plan": plan}
        state.set_head(json.dumps(head))


def _open(ends: Mapping[int, Instant], clock: Mapping[str, Any]) -> dict[int, Instant]:
    """The pages of which a fact may still be in a window, and when that ends."""
    last = clock["ticks"]["last"]
    return {page: end for page, end in ends.items() if last is None or end > last}


def refuse_if(is_of_other: bool, was: str, now: str) -> None:
    """Refuse a checkpoint without a state of ours, if it has one of the other kind.

    To Spark it would be a new state, and what the windows held would be gone without a word.
    """
    if is_of_other:
        raise PipelineError(
            f"the checkpoint belongs to another query: it was {was}, is {now}; "
            "a new one starts anew"
        )


def refuse_other(
    known: Mapping[str, str],
    identity: Mapping[str, str],
    before: str | bytes | None,
    plan: Plan | None,
) -> None:
    """Refuse the state of another job than this; `before` is the plan that was kept with it."""
    if found := difference(known, identity, None if before is None else Plan.read(before), plan):
        raise PipelineError(
            f"the checkpoint belongs to another query: {found}; a new one starts anew"
        )


def _heard(rows: Any) -> Iterator[tuple[str, Instant, Instant]]:
    if rows.num_rows:
        spans = rows.group_by("stream").aggregate([("t", "min"), ("t", "max")])
        for row in spans.to_pylist():
            yield row["stream"], row["t_min"], row["t_max"]


def _by_stream(facts: Any) -> Iterator[tuple[str, Any]]:
    for name in pc.unique(facts["stream"]).to_pylist():
        yield name, facts.filter(pc.equal(facts["stream"], name))


def _at_home(table: Any, rows: list[int]) -> Any:
    """Some rows of a table, without the copies of facts whose home is another shard."""
    taken = table.take(pa.array(rows, pa.int64()))
    return taken.filter(pc.equal(taken["kind"], "fact"))


def _left(table: Any, rows: list[int]) -> Any:
    if not rows:
        return table
    kept = [True] * table.num_rows
    for row in rows:
        kept[row] = False
    return table.filter(pa.array(kept))


def _end(window: Window, table: Any) -> Instant:
    """The instant from which no fact of a table is in a window."""
    if not table.num_rows:
        return -FOREVER
    assert isinstance(window, TimeWindow)
    ends = window.until(pc.max(table["t"]).as_py())
    return -FOREVER if ends is None else ends
