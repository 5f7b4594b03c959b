"""The query engine: streams in, the answers of registered queries out.

It joins queries, the views they share, a watermark a stream, and the order of evaluation: every
tick at or below the watermark is evaluated once, as soon as it is due, earlier sights first, and of
one instant the queries that feed others first.

Invariant: a fact is late exactly when a query that reads its stream has a tick, at or after it,
that was due when it arrived. The watermark is the slowest stream's that any query reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, SupportsIndex

from ebbtide.languages.rspql import ContinuousQuery, parse_continuous_query
from ebbtide.program import Fact, Program, ProgramError
from ebbtide.queries.answers import Answers
from ebbtide.queries.explain import explained
from ebbtide.queries.instants import Instants
from ebbtide.queries.lowering import Asked, plan_query
from ebbtide.queries.network import fed_stream, ranks
from ebbtide.queries.registered import RegisteredQuery
from ebbtide.queries.report import Report
from ebbtide.queries.schedule import Schedule
from ebbtide.queries.sight import (
    Sight,
    closes_of,
    grids_of,
    lag_of,
    sight_key,
    wanted_graphs,
)
from ebbtide.queries.static import static_graphs
from ebbtide.queries.task import Task
from ebbtide.queries.view import View, ViewKey, wants
from ebbtide.reasoner.intake import (
    TIME_COLUMN,
    FactLike,
    Rules,
    as_fact,
    as_program,
    is_columnar,
    record_batches,
    timed_facts,
)
from ebbtide.reasoner.late import Late, LateBox
from ebbtide.terms import IRI
from ebbtide.terms.formats import TERM_COLUMNS
from ebbtide.time import EARLIEST, LATEST, Instant, Watermark, as_instant

#: Between forgetting instants that no window can hold any more.
_FORGET_AFTER: Final = 4_096


class QueryEngine:
    """Registered queries over streams, with background and rules.

    `rules` are a regime, a path, a rule text or a `Program`; a query may bring its own. The
    `background` is paths of documents, tables or facts, and so are the static `graphs` by name.
    Facts may arrive out of order by `lateness`. Time begins at `t0`, to which windows are aligned;
    without it they are aligned to 0. `report` is the policy of queries that bring none. Without
    `incremental`, SPARQL is asked for the whole of every query at every tick. Rules derive only
    what queries can see, unless `lazy` is False.

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
    ) -> None:
        self._incremental = incremental
        self._lazy = lazy
        self._program = as_program(rules)
        self._graphs = static_graphs(background, graphs or {})
        self._has_background = bool(background)
        self._lateness = lateness
        self._t0 = t0
        self._report = _as_report(report)
        self._tasks: dict[RegisteredQuery, Task] = {}
        self._schedule = Schedule()
        self._readers: dict[IRI, list[Task]] = {}
        self._awaiting: dict[IRI, list[Task]] = {}
        self._views: dict[ViewKey, View] = {}
        self._watermarks: dict[IRI, Watermark] = {}
        self._instants: dict[IRI, Instants] = {}
        self._latest: dict[IRI, Instant] = {}
        self._sighted: dict[IRI, Instant] = {}
        self._late = LateBox()
        self._registered = 0
        self._noted = 0

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
        order = ranks([*others, query])
        handle = RegisteredQuery(self, query)
        task = self._task(
            handle,
            self._program if rules is None else as_program(rules),
            self._report if report is None else _as_report(report),
        )
        self._tasks[handle] = task
        self._arrange(order)
        fed = {fed_stream(each.query) for each in self._tasks.values()}
        for stream in task.streams - fed:
            self._watermarks.setdefault(stream, self._new_watermark())
        return handle

    def _arrange(self, order: Sequence[int]) -> None:
        """The tasks are others than before, and are evaluated in this order."""
        self._schedule.arrange(dict(zip(self._tasks.values(), order, strict=True)))
        self._readers = {}
        for task in self._tasks.values():
            for stream in task.streams:
                self._readers.setdefault(stream, []).append(task)
        self._awaiting = {stream: list(tasks) for stream, tasks in self._readers.items()}

    def _task(self, handle: RegisteredQuery, program: Program, report: Report) -> Task:
        query = handle.query
        self._check_graphs(query)
        self._registered += 1
        number = self._registered
        grids, lag = grids_of(query, report, self._t0), lag_of(query)
        closes = closes_of(query, report, self._t0)
        for window in query.streams:
            self._instants.setdefault(window.stream, Instants())
        wanted = list(wanted_graphs(query, program))
        graphs = [each.name for each in wanted]
        plan = plan_query(query, graphs) if self._incremental else Asked(query.text)
        step = min((grid.step for grid in grids), default=0)
        sights: list[Sight] = []
        for each in wanted:
            key, widest, first = sight_key(each, program, grids, lag, closes)
            known = [sight.view for sight in sights if sight.view.key == key]
            view = (
                self._views.get(key) or (known or [View(key, program, self._graphs, self._lazy)])[0]
            )
            reader = wants(plan, query, each.name, widest, step)
            sights.append(Sight(each.name, view, reader, first))
        task = Task(number, handle, report, grids, lag, closes, sights, plan, self._instants)
        for sight in sights:
            sight.view.join(sight.reader)
            self._views[sight.view.key] = sight.view
        over = [self._sighted[each] for each in task.streams if each in self._sighted]
        if over:
            task.skip(max(over))
        else:
            for stream in task.streams & self._latest.keys():
                task.begin(self._latest[stream])
        return task

    def _check_graphs(self, query: ContinuousQuery) -> None:
        from ebbtide.queries.static import StaticGraph

        for name in query.named_graphs:
            if name not in self._graphs:
                raise ProgramError(f"the static graph {name} was not given", query.origin)
        for name in query.graphs:
            if name not in self._graphs:
                if not self._has_background:
                    raise ProgramError(
                        f"the static graph {name} was not given, nor any background", query.origin
                    )
                # The background stands for it.
                self._graphs[name] = StaticGraph()

    def drop(self, handle: RegisteredQuery) -> None:
        """Forget a query, and the views that only it looked at."""
        task = self._tasks.pop(handle, None)
        if task is None:
            return
        for sight in task.sights:
            sight.view.leave(sight.reader)
            if not sight.view.readers:
                self._views.pop(sight.view.key, None)
        self._arrange(ranks([each.query for each in self._tasks]))
        for stream in task.streams - self._readers.keys():
            self._watermarks.pop(stream, None)
        handle._end(dropped=True)

    def explain(self, handle: RegisteredQuery) -> str:
        """Which part of a query runs how."""
        return explained(self._tasks[handle])

    # ---- facts in ----------------------------------------------------------------------------

    def push(
        self, stream: str | IRI, facts: FactLike | Iterable[FactLike], at: SupportsIndex
    ) -> None:
        """A fact, or a graph of facts, happens at an instant. What becomes due is evaluated."""
        name, at = _as_iri(stream), as_instant(at)
        graph: Iterable[FactLike] = [facts] if isinstance(facts, tuple) else facts
        found = [as_fact(each) for each in graph]
        for fact in found:
            self._state(name, fact, at)
        watermark = self._watermarks.get(name)
        if watermark is not None:
            watermark.see(at)
            self._evaluate()

    def push_all(self, stream: str | IRI, items: Any) -> None:
        """Many facts happen: pairs of a fact and its instant, or a table with t, s, p and o.

        A batch of a table arrives at once: its rows have no order among them.
        """
        if not is_columnar(items):
            for fact, at in timed_facts(items):
                self.push(stream, fact, at)
            return
        name = _as_iri(stream)
        for batch in record_batches(items):
            self._push_batch(name, batch)

    def _push_batch(self, stream: IRI, batch: Any) -> None:
        import pyarrow.compute as pc

        column = batch.column(TIME_COLUMN)
        over = self._sighted.get(stream, EARLIEST - 1)
        if self._t0 is not None:
            over = max(over, self._t0 - 1)
        if pc.min(column).as_py() <= over:
            # Row by row, so that each one that is late is told.
            rows = batch.to_pylist()
            pairs = [(tuple(row[name] for name in TERM_COLUMNS), row[TIME_COLUMN]) for row in rows]
            for fact, at in pairs:
                self._state(stream, as_fact(fact), at)
        elif stream in self._readers:
            for view in self._views_of(stream):
                view.push_arrow(batch, stream, TIME_COLUMN, TERM_COLUMNS)
            if any(each.awaits_facts or each.looks_at_instants for each in self._readers[stream]):
                for at in sorted(set(column.to_pylist())):
                    self._happened(stream, at)
            self._latest[stream] = max(self._latest.get(stream, EARLIEST), pc.max(column).as_py())
        latest = pc.max(column).as_py()
        if (watermark := self._watermarks.get(stream)) is not None and latest is not None:
            watermark.see(latest)
            self._evaluate()

    def add(self, fact: FactLike) -> None:
        """State a background fact; it holds for ever, from the next tick on."""
        found = as_fact(fact)
        self._graphs[None].add([found])
        for view in self._views.values():
            if None in view.key.statics:
                view.add(found)

    def retract(self, fact: FactLike, at: SupportsIndex) -> None:
        """Take back every statement of a fact made at or before `at`, background included."""
        found, at = as_fact(fact), as_instant(at)
        if any(at <= over for over in self._sighted.values()):
            self._late.put(Late(found, at, None, "a tick at or after it was due when it arrived"))
            return
        for view in self._views.values():
            view.retract(found, at)
        for stream in self._latest:
            self._happened(stream, at)

    def _state(self, stream: IRI, fact: Fact, at: Instant) -> None:
        if self._t0 is not None and at < self._t0:
            return
        over = self._sighted.get(stream)
        if over is not None and at <= over:
            reason = f"a tick that sees {over} was due when it arrived"
            self._late.put(Late(fact, at, stream.value, reason))
            return
        if stream in self._readers:
            for view in self._views_of(stream):
                view.push(fact, at, stream)
            self._happened(stream, at)

    def _happened(self, stream: IRI, at: Instant) -> None:
        self._latest[stream] = max(self._latest.get(stream, at), at)
        readers = self._readers.get(stream, ())
        if any(task.looks_at_instants for task in readers):
            self._instants[stream].add(at)
            self._noted += 1
            if self._noted % _FORGET_AFTER == 0:
                reach = max(task.reach for task in readers)
                self._instants[stream].forget(self._sighted.get(stream, at) - 2 * reach)
        if awaiting := self._awaiting.get(stream):
            self._awaiting[stream] = [task for task in awaiting if task.awaits_facts]
            for task in self._awaiting[stream]:
                before = task.next
                task.begin(at)
                if task.next != before:
                    self._schedule.note(task)

    def _views_of(self, stream: IRI) -> list[View]:
        return [view for view in self._views.values() if stream in view.streams]

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
        return min((each.instant for each in self._watermarks.values()), default=EARLIEST)

    def heartbeat(self, at: SupportsIndex, stream: str | IRI | None = None) -> None:
        """Time has reached `at` on a stream (or on all), though no fact says so."""
        at = as_instant(at)
        names = list(self._watermarks) if stream is None else [_as_iri(stream)]
        for name in names:
            self._watermarks.setdefault(name, self._new_watermark()).see(at)
        self._evaluate()

    def advance(self, to: SupportsIndex) -> None:
        """Nothing at or before `to` is still to come, on any stream: evaluate every tick up to it.

        Before any fact, a query is asked at its last tick at or before `to`.
        """
        to = as_instant(to)
        for watermark in self._watermarks.values():
            watermark.complete(to)
        for task in self._tasks.values():
            task.begin_by(to)
            self._schedule.note(task)
        self._evaluate(to if not self._watermarks else None)

    def finish(self) -> None:
        """The streams have ended: evaluate every query up to its first tick that sees all facts."""
        for each in self._tasks.values():
            if not each.streams:
                each.begin_by(max(self._latest.values(), default=0))
                self._schedule.note(each)
        while (task := self._schedule.first(LATEST)) is not None:
            if self._sees_more(task):
                self._evaluate_one(task)
            else:
                self._schedule.skip()
        for handle in self._tasks:
            handle._end(dropped=False)

    def _sees_more(self, task: Task) -> bool:
        """Whether the next tick of a task sees facts that the last one did not."""
        if not task.streams:
            return task.last is None
        latest = [self._latest[each] for each in task.streams if each in self._latest]
        last = task.first_that_sees(max(latest)) if latest else None
        return last is not None and task.next is not None and task.next <= last

    def run(self, streams: Mapping[str, Iterable[Any]]) -> None:
        """Push timed facts of several streams in the order of their instants, then finish."""
        from heapq import merge

        def tagged(name: str, items: Iterable[Any]) -> Iterator[tuple[Instant, str, Any]]:
            for fact, at in timed_facts(items):
                yield at, name, fact

        every = [tagged(name, items) for name, items in streams.items()]
        for at, name, fact in merge(*every, key=lambda each: each[0]):
            self.push(name, fact, at)
        self.finish()

    def _new_watermark(self) -> Watermark:
        return Watermark(self._lateness)

    def _evaluate(self, up_to: Instant | None = None) -> None:
        """Evaluate every tick that is due."""
        due = self.watermark if up_to is None else up_to
        while (task := self._schedule.first(due)) is not None:
            self._evaluate_one(task)

    def _evaluate_one(self, task: Task) -> None:
        tick = task.next
        assert tick is not None
        for stream in task.streams:
            sight = tick - task.lag
            self._sighted[stream] = max(self._sighted.get(stream, sight), sight)
        answers = task.evaluate(tick)
        self._schedule.note(task)
        if answers is not None:
            self._feed(task, answers)
            task.handle._tell(answers)

    def _feed(self, task: Task, answers: Answers) -> None:
        stream = fed_stream(task.query)
        if stream is not None:
            for fact in answers.triples:
                self._state(stream, fact, answers.tick)
            for reader in self._readers.get(stream, ()):
                self._schedule.note(reader)


def _as_iri(stream: str | IRI) -> IRI:
    return stream if isinstance(stream, IRI) else IRI(stream.removeprefix("<").removesuffix(">"))


def _as_report(report: Report | str) -> Report:
    return report if isinstance(report, Report) else Report.parse(report)
