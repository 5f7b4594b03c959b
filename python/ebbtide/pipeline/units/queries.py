"""The unit of continuous queries: an engine, whose answers are the rows, query by query.

Its snapshot is what a fresh engine must be fed to stand where this one does: the facts that a
window can still see, or could at the tick before, and the last fact before them, from which on
ticks are over. Feeding them evaluates these ticks a second time, and nobody is told. That is exact
because what a query answers depends on its windows, and a stream of changes on the answers before.
These may be long gone if empty windows are not reported: then what the last report saw is kept, and
all since. A count window may reach back further still, and then all is kept.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.languages.rspql import ContinuousQuery
from ebbtide.languages.rspql.query import TimeWindow
from ebbtide.pipeline.packed import packed, unpacked
from ebbtide.pipeline.units.background import Background
from ebbtide.pipeline.units.pieces import (
    STREAM,
    Piece,
    pieces_of_files,
    pieces_of_program,
    pieces_of_query,
    pieces_of_time,
    setting,
)
from ebbtide.pipeline.units.unit import Fed, builtins_identity
from ebbtide.program import Program
from ebbtide.program.user_module import UserModule
from ebbtide.queries import Answers, QueryEngine, Report
from ebbtide.terms.formats import read_tables
from ebbtide.time import EARLIEST, Instant

#: A row in a DataFrame: `answer` is what `ebbtide query` writes at a tick, in JSON; op is null for
#: all there is.
ROWS = pa.schema([("t", pa.int64()), *((name, pa.string()) for name in ("query", "op", "answer"))])
FACTS = pa.schema(
    [("stream", pa.string()), ("t", pa.int64()), *((name, pa.string()) for name in "spo")]
)
#: Of the table that a snapshot is: the last tick of each query, in JSON.
LAST_TICKS: Final = b"last ticks"


class Kept(NamedTuple):
    """Facts of a stream that a batch brought, and when the last of them happened."""

    stream: str
    last: Instant
    facts: Any


class Queries:
    """Some queries over streams that are known by an IRI, with rules and background."""

    def __init__(
        self,
        queries: Iterable[ContinuousQuery],
        iris: Mapping[str, str],
        *,
        program: Program | None = None,
        background: Iterable[Path] = (),
        builtins: Iterable[UserModule] = (),
        lateness: int = 0,
        start: Instant | None = None,
        report: str = "window-close",
    ) -> None:
        self._queries = tuple(queries)
        self._iris = dict(iris)
        self._program = program or Program()
        self._background = Background.of(background)
        self._builtins = tuple(builtins)
        self._lateness = lateness
        self._start = start
        self._report = report
        self._carried: bytes | None = None
        self._answers: list[Answers] = []
        self._kept: list[Kept] = []

    @property
    def names(self) -> Sequence[str]:
        """Those of the queries."""
        return [query.name for query in self._queries]

    @property
    def title(self) -> str:
        """There is one unit of queries, which have their time together."""
        return "queries"

    @property
    def identity(self) -> Mapping[str, str]:
        """The texts of the queries, and what they are asked over."""
        # Variables that nobody wrote have other names in every algebra; the text says all it does.
        texts = {
            f"query {each.name}": _digest(repr(replace(each, algebra=()))) for each in self._queries
        }
        return {
            **texts,
            "rules of queries": self._program.fingerprint,
            "background of queries": self._background.digest,
            **builtins_identity(self._builtins),
            **{f"IRI of {name}": iri for name, iri in self._iris.items()},
            "lateness of queries": str(self._lateness),
            "start of queries": str(self._start),
            "report": self._report,
        }

    @property
    def pieces(self) -> Iterable[Piece]:
        """The queries with their windows, the rules and files, the streams, and the ticks."""
        for name, iri in self._iris.items():
            stream = Piece(STREAM, name)
            yield stream
            yield setting(f"the IRI of stream {name}", iri, stream.title)
        yield from pieces_of_time(lateness=self._lateness, start=self._start)
        yield setting("the report of queries", self._report)
        for query in self._queries:
            yield from pieces_of_query(query)
        yield from pieces_of_program(self._program)
        yield from pieces_of_files(self._background, self._builtins)

    @property
    def streams(self) -> Sequence[str]:
        """The names of the streams."""
        return list(self._iris)

    def portable(self) -> Queries:
        """This unit, not begun, with its background in it: it needs no files where it goes."""
        carried = Queries(
            self._queries,
            self._iris,
            program=self._program,
            builtins=self._builtins,
            lateness=self._lateness,
            start=self._start,
            report=self._report,
        )
        tables = [pa.table(each) for path in self._background for each in read_tables(path)]
        carried._carried = packed(pa.concat_tables(tables)) if tables else None
        return carried

    def begin(self) -> None:
        """Start from nothing but the background."""
        for each in self._builtins:
            each.run()
        carried = [] if self._carried is None else [unpacked(self._carried)]
        self._engine = QueryEngine(
            self._program,
            background=[*self._background, *carried],
            lateness=self._lateness,
            t0=self._start,
            report=self._report,
        )
        self._handles = [self._engine.register(query) for query in self._queries]
        for handle in self._handles:
            handle.subscribe(self._answers.append if handle.is_ordered else self._take_in_order)
        self._kept = []

    def feed(self, batch: Mapping[str, Any]) -> Fed:
        """Take a batch, and answer at every tick that is due."""
        begun = time.perf_counter()
        batch = {name: batch[name] for name in self._iris}
        late = {
            name: self._engine.push_parsed(self._iris[name], table) for name, table in batch.items()
        }
        self._keep(batch, late)
        return self._fed(begun, late)

    def finish(self) -> Fed:
        """The streams have ended: answer up to the first tick that sees every fact."""
        begun = time.perf_counter()
        self._engine.finish()
        return self._fed(begun, {})

    def snapshot(self) -> bytes:
        """The facts that a fresh engine must be fed."""
        kept = pa.concat_tables([FACTS.empty_table(), *(each.facts for each in self._kept)])
        if (horizon := self._horizon()) is not None:
            is_needed = pc.greater(kept["t"], horizon)
            before = kept.filter(pc.invert(is_needed)).group_by("stream").aggregate([("t", "max")])
            for stream, last in zip(
                *(column.to_pylist() for column in before.columns), strict=True
            ):
                is_last = pc.and_(pc.equal(kept["stream"], stream), pc.equal(kept["t"], last))
                is_needed = pc.or_(is_needed, is_last)
            kept = kept.filter(is_needed)
        last = {handle.name: self._engine.last_tick(handle) for handle in self._handles}
        return packed(kept.replace_schema_metadata({LAST_TICKS: json.dumps(last)}))

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot."""
        self.begin()
        facts = unpacked(data)
        # Earlier builds did not keep them.
        last = json.loads((facts.schema.metadata or {}).get(LAST_TICKS, "{}"))
        first = pc.min(facts["t"]).as_py()
        for handle in self._handles:
            if (tick := last.get(handle.name)) is not None:
                # Who reads what queries make may have begun with something that is made no more.
                self._engine.go_on(handle, tick, first)
        self.feed({name: facts.filter(pc.equal(facts["stream"], name)) for name in self._iris})

    def __len__(self) -> int:
        return 0

    # ---- inside ------------------------------------------------------------------------------

    def _take_in_order(self, answers: Answers) -> None:
        """Take answers without an order in one that does not hang on how the engine came here."""
        self._answers.append(answers.in_order())

    def _fed(self, begun: float, late: Mapping[str, Sequence[int]]) -> Fed:
        rows: dict[str, list[Answers]] = {name: [] for name in self.names}
        for answers in self._answers:
            rows[answers.query].append(answers)
        ticks = sorted({answers.tick for answers in self._answers})
        self._answers.clear()
        # Queries are answered while facts are pushed: only the sum is known.
        seconds = (time.perf_counter() - begun) / max(1, len(ticks))
        last = ticks[-1] if ticks else None
        return Fed(rows, late, last, (seconds,) * len(ticks))

    def _keep(self, batch: Mapping[str, Any], late: Mapping[str, Sequence[int]]) -> None:
        """Keep what a fresh engine must be fed: what windows may see, and before it the last fact
        of each stream, so that ticks since then are over."""
        for name, table in batch.items():
            stream = pa.repeat(name, table.num_rows)
            facts = pa.table([stream, *(table[c] for c in ("t", "s", "p", "o"))], schema=FACTS)
            if late[name]:
                is_late = pc.is_in(pa.array(range(table.num_rows)), pa.array(late[name]))
                facts = facts.filter(pc.invert(is_late))
            if facts.num_rows:
                self._kept.append(Kept(name, pc.max(facts["t"]).as_py(), facts))
        if (horizon := self._horizon()) is not None:
            old = [each for each in self._kept if each.last <= horizon]
            newest = {each.stream: each for each in sorted(old, key=attrgetter("last"))}
            self._kept = [each for each in self._kept if each.last > horizon] + [*newest.values()]

    def _horizon(self) -> Instant | None:
        """What happened at or before it need not be kept; None if all must be."""
        reach = self._reach()
        if reach is None:
            return None
        return max(EARLIEST, min([self._engine.watermark, *self._compared_with()]) - reach)

    def _compared_with(self) -> Iterator[Instant]:
        """The reports whose answers the next ones are compared with, if they may be long ago."""
        if Report.parse(self._report).non_empty:
            for handle in self._handles:
                last = self._engine.reported(handle)
                if handle.query.emits != "RStream" and last is not None:
                    yield last

    def _reach(self) -> int | None:
        """How far back what is kept must go; None for ever."""
        reaches = []
        for query in self._queries:
            reach = 0
            for each in query.streams:
                if not isinstance(each.window, TimeWindow):
                    return None
                step = max(each.window.step, query.every or 0)
                reach = max(reach, 2 * (each.window.range + step))
            reaches.append(reach)
        read = {each.stream.value for query in self._queries for each in query.streams}
        # What a query feeds reaches as far back as its readers do, and then as far as it does.
        whole = max if read <= set(self._iris.values()) else sum
        return whole(reaches) + self._lateness


def table_of(fed: Fed) -> Any:
    """What queries answered to a batch, as one table."""
    rows = [
        {
            "t": answers.tick,
            "query": answers.query,
            "op": answers.op,
            "answer": json.dumps(answers.json(until=True), ensure_ascii=False),
        }
        for each in fed.rows.values()
        for answers in each
    ]
    return pa.Table.from_pylist(rows, ROWS)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
