"""The query engine: streams in, the answers of registered queries out.

It joins queries, the views they share, a watermark a stream, and the order of evaluation: every
tick at or below the watermark is evaluated once, as soon as it is due, earlier sights first, and of
one instant the queries that feed others first.

Invariant: a fact is late exactly when a query that reads its stream has a tick, at or after it,
that was due when it arrived. The watermark is the slowest stream's that any query reads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, SupportsIndex

from ebbtide.languages.rspql import SERVICE, ContinuousQuery, parse_continuous_query
from ebbtide.program import Fact, Program, ProgramError
from ebbtide.queries.algebra import asks_servers
from ebbtide.queries.answers import Answers
from ebbtide.queries.explain import explained
from ebbtide.queries.lowering import plan_query
from ebbtide.queries.network import fed_stream, ranks
from ebbtide.queries.printing import Printing
from ebbtide.queries.registered import RegisteredQuery
from ebbtide.queries.report import Report
from ebbtide.queries.schedule import Schedule
from ebbtide.queries.sight import closes_of, grids_of, lag_of, wanted_graphs
from ebbtide.queries.static import static_graphs
from ebbtide.queries.stream import Stream
from ebbtide.queries.task import Task
from ebbtide.queries.views import Views
from ebbtide.reasoner.intake import (
    TIME_COLUMN,
    FactLike,
    Rules,
    as_fact,
    as_program,
    is_columnar,
    timed_facts,
    triple_batches,
)
from ebbtide.reasoner.late import Late, LateBox
from ebbtide.reasoner.timeline import MANY_TICKS
from ebbtide.terms import IRI
from ebbtide.terms.formats import TERM_COLUMNS
from ebbtide.time import EARLIEST, LATEST, Instant, Watermark, as_instant


class QueryEngine:
    """Registered queries over streams, with background and rules.

    `rules` are a regime, a path, a rule text or a `Program`; a query may bring its own. The
    `background` is paths of documents, tables or facts, and so are the static `graphs` by name.
    Facts may arrive out of order by `lateness`. Time begins at `t0`, to which windows are aligned;
    without it they are aligned to 0. `report` is the policy of queries that bring none. Without
    `incremental`, SPARQL is asked for the whole of every query at every tick. Rules derive only
    what queries can see, unless `lazy` is False. Each line that they print goes to the `printer`.

    >>> engine = QueryEngine()
    >>> query = engine.register('''
    ...     PREFIX ex: <http://e/>
    ...     REGISTER QUERY fast AS
    ...     SELECT ?car FROM STREAM ex:cars [RANGE 10s STEP 5s]
    ...     WHERE { ?car ex:speed ?v FILTER(?v > 50) }
    ... ''')
    >>> query.subscribe(lambda answers: print(answers.tick, answers.bindings))
    >>> engine.push("http://e/cars", ("<http://e/a>", "<http://e/speed>", 70), at=1_000)
    >>> engine.push("http://e/cars", ("<http://e/b>", "<http://e/speed>", 30), at=12_000)
    5000 [{'car': IRI(value='http://e/a')}]
    10000 [{'car': IRI(value='http://e/a')}]
    >>> engine.finish()
    15000 []
    """

    def __init__(
        self,
        rules: Rules = (),
        *,
        background: Any = (),
        graphs: Mapping[str, Any] | None = None,
        lateness: int = 0,
        t0: Instant | None = None,
        report: Report | str = "window-close",
        incremental: bool = True,
        lazy: bool = True,
        printer: Callable[[str], object] = print,
    ) -> None:
        self._incremental = incremental
        self._program = as_program(rules)
        is_given = is_columnar(background) or bool(background)
        static = static_graphs(background, graphs or {})
        self._views = Views(static, is_given, lazy, Printing(printer))
        self._lateness = Watermark(lateness).lateness
        self._t0 = None if t0 is None else as_instant(t0)
        self._report = _as_report(report)
        self._tasks: dict[RegisteredQuery, Task] = {}
        self._schedule = Schedule()
        self._streams: dict[str, Stream] = {}
        self._clocks: list[Watermark] = []
        self._late = LateBox()
        self._registered = 0
        #: Whether answers are being told, to queries and to who subscribed.
        self._is_telling = False

    # ---- queries -----------------------------------------------------------------------------

    @property
    def queries(self) -> tuple[RegisteredQuery, ...]:
        """The queries that are registered and not dropped."""
        return tuple(self._tasks)

    def register(
        self,
        query: str | ContinuousQuery,
        *,
        rules: Rules | None = None,
        report: Report | str | None = None,
    ) -> RegisteredQuery:
        """Register a query; its first tick is the next one that is not over yet.

        A query is a text in C-SPARQL or RSP-QL, or what `load_continuous_query` read.
        """
        if isinstance(query, str):
            query = parse_continuous_query(query)
        others = [handle.query for handle in self._tasks]
        if query.name in {other.name for other in others}:
            raise ProgramError(f"there is a query {query.name} already", query.origin)
        if asks_servers(query.algebra):
            place = query.place(SERVICE)
            raise ProgramError("SERVICE is refused: no other server is asked", place)
        order = ranks([*others, query])
        handle = RegisteredQuery(self, query)
        task = self._task(
            handle,
            self._program if rules is None else as_program(rules),
            self._report if report is None else _as_report(report),
        )
        self._tasks[handle] = task
        self._arrange(order)
        self._warn_of_doubts(query)
        return handle

    def _warn_of_doubts(self, query: ContinuousQuery) -> None:
        """Say what is allowed and answers nothing."""
        for doubt in query.doubts:
            warnings.warn(doubt, stacklevel=3)
        if self._views.is_default_empty(query):
            warnings.warn(
                f"{query.origin}: patterns outside of windows and graphs ask the background, "
                "and there is none",
                stacklevel=3,
            )

    def _arrange(self, order: Sequence[int]) -> None:
        """The tasks are others than before, and are evaluated in this order."""
        tasks = list(self._tasks.values())
        self._schedule.arrange(dict(zip(tasks, order, strict=True)))
        fed = {fed_stream(task.query) for task in tasks}
        for stream in self._streams.values():
            stream.serve(
                [task for task in tasks if stream.name in task.streams],
                [view for view in self._views if stream.name in view.streams],
                stream.name in fed,
            )
        self._wind()

    def _wind(self) -> None:
        """Wait for the streams that have clocks."""
        self._clocks = [each.watermark for each in self._streams.values() if each.has_clock]

    def _stream(self, name: str | IRI) -> Stream:
        """A stream by its name, known from now on."""
        text = name.value if isinstance(name, IRI) else name.removeprefix("<").removesuffix(">")
        found = self._streams.get(text)
        if found is None:
            found = self._streams[text] = Stream(IRI(text), self._lateness)
        return found

    def _spoken(self, name: str | IRI) -> Stream:
        """A stream that something is said on, from outside."""
        stream = self._stream(name)
        if stream.is_orphan:
            stream.is_orphan = False
            self._wind()
        return stream

    def _task(self, handle: RegisteredQuery, program: Program, report: Report) -> Task:
        query = handle.query
        self._views.check_graphs(query)
        self._registered += 1
        grids, closes = grids_of(query, report, self._t0), closes_of(query, report, self._t0)
        wanted = list(wanted_graphs(query, program))
        plan = plan_query(query, [each.name for each in wanted], self._incremental)
        sights = self._views.sights(query, program, plan, wanted, grids, closes)
        streams = [self._stream(each.stream) for each in query.streams]
        instants = {stream.name: stream.instants for stream in streams}
        number, lag = self._registered, lag_of(query)
        task = Task(number, handle, report, grids, lag, closes, sights, plan, instants)
        self._views.join(sights)
        over = [stream.sighted for stream in streams if stream.sighted is not None]
        if over:
            task.skip(max(over))
        else:
            for stream in streams:
                first = stream.latest if stream.earliest is None else stream.earliest
                if first is not None:
                    task.ticks.begin(first)
        return task

    def drop(self, handle: RegisteredQuery) -> None:
        """Forget a query, and the views that only it looked at."""
        task = self._tasks.pop(handle, None)
        if task is None:
            return
        if task.upper is not None:
            task.upper.end()
        self._views.leave(task.sights)
        self._arrange(ranks([each.query for each in self._tasks]))
        handle._end(dropped=True)

    def explain(self, handle: RegisteredQuery) -> str:
        """Which part of a query runs how."""
        return explained(self._tasks[handle])

    # ---- facts in ----------------------------------------------------------------------------

    def push(
        self, stream: str | IRI, facts: FactLike | Iterable[FactLike], at: SupportsIndex
    ) -> None:
        """A fact, or a graph of facts, happens at an instant. What becomes due is evaluated."""
        into, at = self._spoken(stream), as_instant(at)
        graph: Iterable[FactLike] = (facts,) if isinstance(facts, tuple) else facts
        for fact in [as_fact(each) for each in graph]:
            self._state(into, fact, at)
        if into.has_clock:
            into.watermark.see(at)
            self._evaluate()

    def push_all(self, stream: str | IRI, items: Any) -> None:
        """Many facts happen: pairs of a fact and its instant, or a table with t, s, p and o.

        A batch of a table arrives at once: its rows have no order among them.
        """
        if not is_columnar(items):
            for fact, at in timed_facts(items):
                self.push(stream, fact, at)
            return
        into = self._spoken(stream)
        for batch in triple_batches(items):
            sighted = into.sighted
            for row in batch.take(self._push_batch(into, batch)).to_pylist():
                fact = as_fact(tuple(row[name] for name in TERM_COLUMNS))
                self._late.put(_late(fact, row[TIME_COLUMN], into, sighted))

    def push_parsed(self, stream: str | IRI, table: Any) -> list[int]:
        """As `push_all`, of a table whose texts are known to be those that identify terms.

        Those that this package reads are; of any others wrong answers follow. The whole of the
        table arrives at once. Returns the numbers of the rows that came late; they are counted, and
        left to the caller: `take_late` does not hand them out.
        """
        facts = table.select([TIME_COLUMN, *TERM_COLUMNS])
        late: list[int] = self._push_batch(self._spoken(stream), facts).to_pylist()
        self._late.count += len(late)
        return late

    def _push_batch(self, stream: Stream, batch: Any) -> Any:
        """State facts that arrive together; the numbers of those that came late."""
        import pyarrow as pa
        import pyarrow.compute as pc

        late = pa.array([], pa.uint64())
        if not batch.num_rows:
            return late
        earliest, latest = pc.min_max(batch.column(TIME_COLUMN)).as_py().values()
        over = EARLIEST - 1 if stream.sighted is None else stream.sighted
        start = EARLIEST if self._t0 is None else self._t0
        if earliest <= max(over, start - 1):
            time = batch.column(TIME_COLUMN)
            is_seen = pc.greater_equal(time, start)
            is_over = pc.less_equal(time, over)
            late = pc.indices_nonzero(pc.and_(is_seen, is_over))
            batch = batch.filter(pc.and_not(is_seen, is_over))
        if batch.num_rows:
            self._state_batch(stream, batch)
        if stream.has_clock:
            stream.watermark.see(latest)
            self._evaluate()
        return late

    def _state_batch(self, stream: Stream, batch: Any) -> None:
        """State facts none of which is late."""
        import pyarrow.compute as pc

        column = batch.column(TIME_COLUMN)
        earliest, latest = pc.min_max(column).as_py().values()
        for view in stream.views:
            view.push_arrow(batch, stream.name, TIME_COLUMN, TERM_COLUMNS)
        if stream.is_awaited:
            for at in sorted(set(column.to_pylist())):
                self._happened(stream, at)
        else:
            stream.noted(column, latest)
        self._said(stream.readers, earliest)

    def add(self, fact: FactLike) -> None:
        """State a background fact; it holds for ever, from the next tick on."""
        found = as_fact(fact)
        sighted = (each.sighted for each in self._streams.values() if each.sighted is not None)
        self._views.add(found, max(sighted, default=None))
        self._said(self._tasks.values(), EARLIEST)

    def retract(self, fact: FactLike, at: SupportsIndex) -> None:
        """Take back every statement of a fact made at or before `at`, background included."""
        found, at = as_fact(fact), as_instant(at)
        if any(each.sighted is not None and at <= each.sighted for each in self._streams.values()):
            self._late.put(Late(found, at, None, "a tick at or after it was due when it arrived"))
            return
        self._views.retract(found, at, self.watermark)
        for stream in self._streams.values():
            for task in stream.retracted(at):
                self._schedule.note(task)
        self._said(self._tasks.values(), at)

    def _state(self, stream: Stream, fact: Fact, at: Instant) -> None:
        if self._t0 is not None and at < self._t0:
            return
        if stream.sighted is not None and at <= stream.sighted:
            self._late.put(_late(fact, at, stream, stream.sighted))
            return
        for view in stream.views:
            view.push(fact, at, stream.name)
        self._happened(stream, at)
        self._said(stream.readers, at)

    def _happened(self, stream: Stream, at: Instant) -> None:
        for task in stream.happened(at):
            self._schedule.note(task)

    def _said(self, tasks: Iterable[Task], at: Instant) -> None:
        """Something is said of an instant; if by who is told answers, silent ticks may speak."""
        if self._is_telling:
            for task in tasks:
                if task.ticks.return_to(at):
                    self._schedule.note(task)

    @property
    def late(self) -> int:
        """How many facts and retractions came too late."""
        return self._late.count

    def take_late(self) -> list[Late]:
        """The late ones that were not taken yet."""
        return self._late.take()

    # ---- time --------------------------------------------------------------------------------

    @property
    def watermark(self) -> Instant:
        """The last complete instant: the minimum over the streams that are read."""
        return min((clock.instant for clock in self._clocks), default=EARLIEST)

    def reported(self, handle: RegisteredQuery) -> Instant | None:
        """The last tick at which the report policy let a query answer; None if none has yet.

        There may have been nothing to tell. ISTREAM and DSTREAM compare with the answers of then.
        """
        return self._tasks[handle].reported

    def last_tick(self, handle: RegisteredQuery) -> Instant | None:
        """The last tick that a query was asked at, or that was left out; None before the first."""
        return self._tasks[handle].ticks.last

    def go_on(self, handle: RegisteredQuery, last: Instant, first: Instant | None) -> None:
        """Let a query that was last asked at a tick go on from facts of which one is the first.

        It is asked from that tick on, or sooner, even if nothing happens on its streams. With `t0`
        there are ticks from then on; those that see none of the facts are over.
        """
        ticks = self._tasks[handle].ticks
        seen = last - ticks.lag
        if self._t0 is not None and first is not None and not ticks.follows_facts:
            self._tasks[handle].skip(min(first, seen) - 1)
        ticks.begin(seen)
        self._schedule.note(self._tasks[handle])

    def heartbeat(self, at: SupportsIndex, stream: str | IRI | None = None) -> None:
        """Time has reached `at` on a stream (or on all), though no fact says so."""
        at = as_instant(at)
        clocks = self._clocks if stream is None else [self._spoken(stream).watermark]
        for clock in clocks:
            clock.see(at)
        self._evaluate()

    def advance(self, to: SupportsIndex) -> None:
        """Nothing at or before `to` is still to come, on any stream: evaluate every tick up to it.

        Before any fact, a query is asked at its last tick at or before `to`.
        """
        to = as_instant(to)
        for clock in self._clocks:
            clock.complete(to)
        for task in self._tasks.values():
            task.ticks.begin_by(to)
            self._schedule.note(task)
        self._evaluate(None if self._clocks else to)

    def finish(self) -> None:
        """The streams have ended: evaluate every query up to its first tick that sees all facts."""
        for each in self._tasks.values():
            if not each.streams:
                each.ticks.begin_by(max(self._latest(self._streams), default=0))
                self._schedule.note(each)
        while (task := self._schedule.first(LATEST)) is not None:
            last = self._last_tick(task)
            if last is not None and task.ticks.next is not None and task.ticks.next <= last:
                self._advance(task, last - task.ticks.lag)
            else:
                self._schedule.skip()
        for handle in self._tasks:
            handle._end(dropped=False)

    def _last_tick(self, task: Task) -> Instant | None:
        """The first tick of a task that sees all facts, if there is one."""
        if not task.streams:
            return task.ticks.next if task.ticks.last is None else None
        latest = self._latest(stream.value for stream in task.streams)
        return task.ticks.first_that_sees(max(latest)) if latest else None

    def _latest(self, names: Iterable[str]) -> list[Instant]:
        """When the last fact or retraction of each stream happened that has facts."""
        found = (self._streams[name].end for name in names)
        return [latest for latest in found if latest is not None]

    def _evaluate(self, up_to: Instant | None = None) -> None:
        """Evaluate every tick that is due."""
        due = self.watermark if up_to is None else up_to
        while (task := self._schedule.first(due)) is not None:
            self._advance(task, due)

    def _advance(self, task: Task, due: Instant) -> None:
        """Evaluate the next tick of a task, of those up to an instant; or leave silent ones out."""
        if task.skip_silent(due):
            self._schedule.note(task)
            return
        if task.tells_always and task.warned_up_to < due:
            self._warn_of_many(task, due)
        self._evaluate_one(task)

    def _warn_of_many(self, task: Task, due: Instant) -> None:
        if (ticks := task.ticks.count_up_to(due)) > MANY_TICKS:
            task.warned_up_to = due
            warnings.warn(
                f"{ticks} ticks of {task.handle.name} are due at once, and each is answered; "
                "ISTREAM, or report policies, leave out those that have nothing to tell",
                RuntimeWarning,
                stacklevel=5,
            )

    def _evaluate_one(self, task: Task) -> None:
        tick = task.ticks.next
        assert tick is not None
        for name in task.streams:
            self._streams[name.value].see(tick - task.ticks.lag)
        answers = task.evaluate(tick)
        self._schedule.note(task)
        if answers is not None:
            before, self._is_telling = self._is_telling, True
            try:
                self._feed(task, answers)
                task.handle._tell(answers)
            finally:
                self._is_telling = before

    def _feed(self, task: Task, answers: Answers) -> None:
        fed = fed_stream(task.query)
        if fed is not None:
            stream = self._stream(fed)
            for fact in answers.triples:
                self._state(stream, fact, answers.tick)
            for reader in stream.readers:
                self._schedule.note(reader)


def _as_report(report: Report | str) -> Report:
    return report if isinstance(report, Report) else Report.parse(report)


def _late(fact: Fact, at: Instant, stream: Stream, sighted: Instant | None) -> Late:
    reason = f"a tick that sees {sighted} was due when it arrived"
    return Late(fact, at, stream.name.value, reason)
