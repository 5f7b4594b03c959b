"""The reasoner: a graph whose facts have lifetimes.

It joins three things: a program, an engine that holds its materialisation, and a timeline of
watermarks and ticks. Facts go in (`add`, `push`, `retract`), time moves (`heartbeat`, `advance`),
and what each tick changed comes out as a `Delta`; between ticks the materialisation is read like a
set. Facts of hidden relations are neither in the deltas nor in the set; inconsistencies and
malformed lists are told as events.

Invariant: a fact is late exactly when a tick at or after it was already due when it arrived, so the
answers depend on what arrived and in which order, never on when `advance` was called.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, Unpack

from ebbtide.engines.abilities import (
    GivesChanges,
    Settles,
    Snapshots,
    TakesArrow,
    Unsupported,
    open_engine,
)
from ebbtide.engines.budget import Budget
from ebbtide.engines.protocol import Delta
from ebbtide.program import TRIPLE, Fact
from ebbtide.program.reserved import NOW
from ebbtide.reasoner.answers import Answers
from ebbtide.reasoner.columns import Changes, push_batch, timed_fact
from ebbtide.reasoner.documents import Documents, Progress
from ebbtide.reasoner.intake import (
    TIME_COLUMN,
    FactLike,
    PatternLike,
    Rules,
    as_pattern,
    as_program,
    is_columnar,
    record_batches,
    timed_facts,
    triple_batches,
)
from ebbtide.reasoner.late import Late, LateBox
from ebbtide.reasoner.printing import print_atoms, printed
from ebbtide.reasoner.settings import Settings
from ebbtide.reasoner.snapshot import SnapshotError, check_settings, pack, unpack
from ebbtide.reasoner.timeline import MANY_TICKS, Timeline
from ebbtide.reasoner.watch import Watch
from ebbtide.terms import parse_term
from ebbtide.terms.formats import TERM_COLUMNS
from ebbtide.time import Instant, Sliding, Window, WindowError, as_instant, as_window

if TYPE_CHECKING:
    from ebbtide.languages.lars import LarsProgram
    from ebbtide.reasoner.lars import LarsReasoner, LarsSettings

DEFAULT_STREAM: Final = "default"
CLOCK: Final = "now:"
DEFAULT_WINDOW: Final = Sliding(10_000)


class Reasoner(Documents, Answers):
    """Keeps the conclusions of rules true over windows of streaming facts.

    `rules` is a path, a rule text, a `Program` or some rules. Facts pushed to a stream hold for its
    window; ticks are `step` apart, from `start` on or from the first fact. With `streams`, each
    named stream has its own window. Facts may arrive out of order by `lateness`. Times are
    milliseconds. A tick that goes beyond the `budget` stops with an error. At the first tick the
    rules are worked out for the schema of the background, unless `specialise` is False; the answers
    are the same. Each line that rules print goes to the `printer`.

    >>> reasoner = Reasoner(
    ...     '''@prefix ex: <http://example/>
    ...        [transitive: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]''',
    ...     window=Sliding(10), step=1,
    ... )
    >>> ann, train, city = "<http://example/ann>", "<http://example/train>", "<http://example/oslo>"
    >>> is_in = "<http://example/isIn>"
    >>> reasoner.push((ann, is_in, train), at=1)
    >>> reasoner.push((train, is_in, city), at=4)
    >>> for delta in reasoner.advance(to=11):
    ...     for fact in sorted(delta.entered, key=str):
    ...         print(f"{delta.tick}: + {fact} until {delta.entered[fact]}")
    ...     for fact in sorted(delta.left, key=str):
    ...         print(f"{delta.tick}: - {fact}")
    1: + triple(<http://example/ann>, <http://example/isIn>, <http://example/train>) until 11
    4: + triple(<http://example/ann>, <http://example/isIn>, <http://example/oslo>) until 11
    4: + triple(<http://example/train>, <http://example/isIn>, <http://example/oslo>) until 14
    11: - triple(<http://example/ann>, <http://example/isIn>, <http://example/oslo>)
    11: - triple(<http://example/ann>, <http://example/isIn>, <http://example/train>)
    """

    def __init__(
        self,
        rules: Rules = (),
        *,
        window: Window = DEFAULT_WINDOW,
        step: int = 1_000,
        start: Instant | None = None,
        streams: Mapping[str, Window] | None = None,
        lateness: int = 0,
        strategy: str = "expiry",
        engine: str = "native",
        budget: Budget | None = None,
        specialise: bool = True,
        wanted: Iterable[PatternLike] | None = None,
        printer: Callable[[str], object] = print,
    ) -> None:
        self.program = as_program(rules)
        patterns = None if wanted is None else [as_pattern(each) for each in wanted]
        windows = {DEFAULT_STREAM: window} if streams is None else streams
        self.streams = {name: as_window(each) for name, each in windows.items()}
        start = None if start is None else as_instant(start)
        if not self.streams:
            raise WindowError("a reasoner needs at least one stream")
        self._settings = {
            "program": self.program.fingerprint,
            "streams": {name: repr(window) for name, window in sorted(self.streams.items())},
            "step": step,
            "start": start,
            "lateness": lateness,
            "wanted": None if patterns is None else [str(pattern) for pattern in patterns],
        }
        self._time = Timeline(self.streams, step=step, start=start, lateness=lateness)
        self._late = LateBox()
        self._printer = printer
        self.prefixes = {}
        # A fact of this stream says which tick it is, until the next one.
        self._tells_time = NOW in self.program.relations
        clock = {CLOCK: Sliding(step)} if self._tells_time else {}
        self.engine = open_engine(
            engine,
            self.program,
            {**self.streams, **clock},
            strategy,
            step=step,
            origin=start or 0,
            budget=budget,
            specialise=specialise,
            wanted=None if patterns is None else [*patterns, *print_atoms(self.program)],
        )
        self._watch = Watch(self.program, self.engine)

    @classmethod
    def materialize(
        cls,
        rules: Rules,
        *data: Any,
        progress: Progress | None = None,
        **settings: Unpack[Settings],
    ) -> Reasoner:
        """The closure of some data under some rules: a reasoner whose first tick is over.

        Data are paths of RDF files, graphs of rdflib, stores of pyoxigraph, or facts. `progress` is
        told the bytes of each file taken so far, and all.

        >>> reasoner = Reasoner.materialize(
        ...     "rdfs-sparkwave",
        ...     [("<a:Dog>", "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", "<a:Animal>")],
        ...     [("<a:rex>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<a:Dog>")],
        ... )
        >>> [str(o) for _, _, o in reasoner.triples(("<a:rex>", None, None))]
        ['<a:Dog>', '<a:Animal>']
        """
        reasoner = cls(rules, **settings)
        for each in data:
            if isinstance(each, str | PathLike):
                reasoner.parse(each, progress=progress)
            else:
                reasoner.add_all(each)
        reasoner.settle()
        return reasoner

    @staticmethod
    def from_lars(
        program: str | PathLike[str] | LarsProgram, **settings: Unpack[LarsSettings]
    ) -> LarsReasoner:
        """A reasoner for a LARS program: `LarsReasoner`, which has its own face.

        >>> reasoner = Reasoner.from_lars("alarm :- always hot in [2].", start=0)
        >>> for t in (1, 2, 3):
        ...     reasoner.push("hot.", at=t)
        >>> [answer.t for answer in reasoner.advance(to=4) if answer.atoms]
        [3]
        """
        from ebbtide.reasoner.lars import LarsReasoner

        return LarsReasoner(program, **settings)

    # ---- facts in ----------------------------------------------------------------------------

    def add(self, fact: FactLike) -> None:
        """State a background fact; it holds for ever, from the next tick on.

        >>> reasoner = Reasoner()
        >>> reasoner.add(("<http://e/oslo>", "<http://e/isIn>", "<http://e/norway>"))
        >>> _ = reasoner.advance(to=0)
        >>> len(reasoner)
        1
        """
        self.engine.add(self._fact(fact))

    def add_table(self, table: Any) -> None:
        """State background facts: a table with the columns s, p and o, N-Triples texts."""
        if not isinstance(self.engine, TakesArrow):
            raise Unsupported("only the native engine takes tables of background")
        self.engine.add_arrow(table, TRIPLE, TERM_COLUMNS)

    def push(self, fact: FactLike, at: SupportsIndex, stream: str = DEFAULT_STREAM) -> None:
        """State a fact that happens at `at`. If it is too late, `take_late` hands it out."""
        found, at = self._fact(fact), as_instant(at)
        self._time.check(stream)
        over = self._time.last_due
        if over is not None and at <= over:
            self._late.put(Late(found, at, stream, f"the tick {over} was due when it arrived"))
            return
        self.engine.push(found, at, stream)
        self._time.happened(stream, at, at)

    def push_all(self, items: Any, stream: str = DEFAULT_STREAM) -> None:
        """State many facts: pairs of a fact and its instant, as `read_timed` gives, or a table.

        A table is anything that speaks Arrow (pyarrow, polars, pandas) with the columns t
        (milliseconds or timestamps) and s, p, o (N-Triples texts). A batch of a table arrives at
        once: its rows have no order, and only the ticks evaluated before it make them late.
        """
        if is_columnar(items):
            for batch in triple_batches(items):
                self._push_and_keep(batch, stream)
        else:
            for fact, at in timed_facts(items):
                self.push(fact, at, stream)

    def push_table(self, table: Any, stream: str = DEFAULT_STREAM) -> list[int]:
        """State the facts of a table, as `push_all` does; the numbers of the rows that came late.

        They are counted, and left to the caller: `take_late` does not hand them out.
        """
        return self._push_batches(triple_batches(table), stream)

    def push_parsed(self, table: Any, stream: str = DEFAULT_STREAM) -> list[int]:
        """As `push_table`, of a table whose texts are known to be those that identify terms.

        Those that this package reads are. Of any others wrong answers follow.
        """
        return self._push_batches(record_batches(table), stream)

    def _push_batches(self, batches: Iterable[Any], stream: str) -> list[int]:
        late: list[int] = []
        first_row = 0
        for batch in batches:
            late += [first_row + row for row in self._push_batch(batch, stream)]
            first_row += batch.num_rows
        self._late.count += len(late)
        return late

    def retract(self, fact: FactLike, at: SupportsIndex) -> None:
        """Take back every statement of the fact made at or before `at`, background included."""
        found, at = self._fact(fact), as_instant(at)
        over = self._time.last_due
        if over is not None and at <= over:
            reason = f"the tick {over} was due when the retraction arrived"
            self._late.put(Late(found, at, None, reason))
            return
        self.engine.retract(found, at)
        self._time.changed(at)

    # ---- time --------------------------------------------------------------------------------

    @property
    def watermark(self) -> Instant:
        """The last complete instant: the minimum over the streams."""
        return self._time.watermark

    def heartbeat(self, at: SupportsIndex, stream: str | None = None) -> None:
        """Time has reached `at` on a stream (or on all), though no fact says so."""
        self._time.heartbeat(as_instant(at), stream)

    def hear(self, first: Instant, last: Instant, stream: str = DEFAULT_STREAM) -> None:
        """Facts from `first` to `last` happened on a stream, elsewhere: ticks are as if here."""
        self._time.check(stream)
        self._time.happened(stream, first, last)

    def advance(self, to: SupportsIndex | None = None) -> list[Delta]:
        """Evaluate every tick that is due; what each one changed.

        `to` says that nothing at or before it is still to come, on any stream, so that every tick
        up to it is due.

        >>> reasoner = Reasoner(step=10)
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", 1), at=7)
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", 2), at=25)
        >>> [delta.tick for delta in reasoner.advance()]
        [10, 20]
        >>> [delta.tick for delta in reasoner.advance(to=30)]
        [30]
        """
        deltas = self.deltas(to)
        if (due := self._time.count_due) > MANY_TICKS:
            warnings.warn(
                f"{due} ticks are due; deltas() evaluates them one by one and can be left",
                RuntimeWarning,
                stacklevel=2,
            )
        return list(deltas)

    def settle(self) -> None:
        """As `advance(to=0)`, but what changed is not told: for background that is all there is.

        What is added to it afterwards is settled at the next tick, as long as nothing happens on a
        stream.

        >>> reasoner = Reasoner()
        >>> for number in range(2):
        ...     reasoner.add(("<http://e/a>", "<http://e/p>", number))
        ...     reasoner.settle()
        >>> len(reasoner)
        2
        """
        is_later = self._time.has_begun and not self._time.has_happened
        deltas = self.deltas(to=self._time.next if is_later else 0)
        is_only = not self._time.has_begun and self._time.count_due == 1
        if not (is_only and isinstance(self.engine, Settles)):
            for _ in deltas:
                pass
            return
        (tick,) = self._time.due()
        self._tell_time(tick)
        complete = self.engine.evaluate(tick)
        # Whatever holds after the first tick has entered with it.
        self._told(Delta(tick, self.engine.facts(self.program.hidden), {}, {}, complete))

    def deltas(self, to: SupportsIndex | None = None) -> Iterator[Delta]:
        """As `advance`, but each tick is evaluated when its delta is asked for.

        Whoever stops asking leaves the remaining ticks due.
        """
        if to is not None:
            self._time.complete(as_instant(to))
        return self._evaluate()

    def changes(self) -> Iterator[Changes]:
        """As `deltas`, but the triples that a tick changed come in columns, as Arrow.

        Of a long time in which nothing changes (a pause of the streams, a clock that was wrong) the
        ticks are left out, but for the last that is due.
        """
        if not isinstance(self.engine, GivesChanges):
            raise Unsupported("only the native engine tells changes in columns")
        for tick in self._time.due():
            self._tell_time(tick)
            complete = self.engine.evaluate(tick)
            told = self._told(self.engine.delta(tick, complete, self.program.hidden))
            triples = self.engine.changes_arrow(TRIPLE)
            yield Changes(tick, triples, complete, told.began, told.ended)
            if not self._tells_time:
                self._time.leap(self.engine.quiet_until())

    def finish_changes(self) -> Iterator[Changes]:
        """As `finish`, but the triples that a tick changed come in columns, as Arrow."""
        self.deltas(self._time.end)
        return self.changes()

    def run(self, items: Any, stream: str = DEFAULT_STREAM) -> Iterator[Delta]:
        """Push what `push_all` takes, and yield each delta as soon as its tick is due.

        At the end of a finite stream, `finish` evaluates what is still open.

        >>> reasoner = Reasoner(step=10)
        >>> events = [(("<http://e/a>", "<http://e/p>", n), n) for n in (5, 8, 16, 27)]
        >>> [delta.tick for delta in reasoner.run(events)]
        [10, 20]
        """
        if is_columnar(items):
            for batch in triple_batches(items):
                self._push_and_keep(batch, stream)
                yield from self._evaluate()
        else:
            for fact, at in timed_facts(items):
                self.push(fact, at, stream)
                yield from self._evaluate()

    def finish(self) -> list[Delta]:
        """Evaluate every tick up to the first that sees all facts: the streams have ended.

        >>> reasoner = Reasoner(step=10)
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", 1), at=7)
        >>> [delta.tick for delta in reasoner.finish()]
        [10]
        """
        return self.advance(self._time.end)

    # ---- late facts --------------------------------------------------------------------------

    @property
    def late(self) -> int:
        """How many facts and retractions came too late, ever."""
        return self._late.count

    def take_late(self) -> list[Late]:
        """The late facts since the last call, each with the reason; the newest 10,000 are kept.

        >>> reasoner = Reasoner(step=10)
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", 1), at=25)
        >>> _ = reasoner.advance(to=30)
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", 2), at=28)
        >>> [(late.at, late.reason) for late in reasoner.take_late()]
        [(28, 'the tick 30 was due when it arrived')]
        """
        return self._late.take()

    # ---- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Everything a reasoner with the same rules and settings needs to go on from here.

        >>> reasoner = Reasoner()
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=700)
        >>> _ = reasoner.finish()
        >>> Reasoner.restore(reasoner.snapshot()).facts() == reasoner.facts()
        True
        """
        if not isinstance(self.engine, Snapshots):
            raise Unsupported("only the native engine takes snapshots")
        header = {
            "settings": self._settings,
            **self.clock(),
            "waiting": [
                [late.fact.relation, [term.text for term in late.fact.terms], *late[1:]]
                for late in self._late.waiting()
            ],
            "events": [
                [fact.relation, [term.text for term in fact.terms], since]
                for fact, since in self._watch.state()
            ],
        }
        return pack(header, self.engine.snapshot())

    @classmethod
    def restore(cls, data: bytes, rules: Rules = (), **settings: Unpack[Settings]) -> Reasoner:
        """The reasoner of a snapshot, given the rules and the settings it had."""
        header, engine = unpack(data)
        reasoner = cls(rules, **settings)
        if not isinstance(reasoner.engine, Snapshots):
            raise Unsupported("only the native engine takes snapshots")
        check_settings(header, reasoner._settings)
        try:
            reasoner.engine.restore(engine)
        except ValueError as error:
            raise SnapshotError(str(error)) from None
        reasoner._time.restore(header)
        for relation, texts, *rest in header["waiting"]:
            reasoner._late.put(Late(Fact(relation, tuple(map(parse_term, texts))), *rest))
        reasoner._late.count = header["late"]
        for relation, texts, since in header["events"]:
            fact = Fact(relation, tuple(map(parse_term, texts)))
            until = reasoner.until(fact)
            assert until is not None
            reasoner._watch.restore(fact, since, until)
        return reasoner

    def clock(self) -> dict[str, Any]:
        """Where time stands, in words of JSON. With the facts in the windows, it is the state."""
        return {**self._time.state(), "late": self._late.count}

    def resume(self, clock: dict[str, Any], facts: Iterable[tuple[str, Any]]) -> None:
        """Go on from a clock and tables of the facts in the windows, each of a stream.

        The reasoner must be fresh, but for the background; or one that was there, and then the
        tables are of what came since. Whatever ticks changed was told by whoever had the clock.
        """
        before = self.clock()["ticks"]["last"]
        for stream, table in facts:
            self.push_parsed(table, stream)
        self._time.restore(clock)
        self._late.count = clock["late"]
        last = clock["ticks"]["last"]
        if last != before:
            self._tell_time(last)
            if isinstance(self.engine, Settles):
                self.engine.evaluate(last)
            else:
                self.engine.advance(last)
            self._watch = Watch(self.program, self.engine)
            self._watch.follow(Delta(last, self.engine.facts(self.program.hidden), {}, {}))

    # ---- inside ------------------------------------------------------------------------------

    def _evaluate(self) -> Iterator[Delta]:
        for tick in self._time.due():
            self._tell_time(tick)
            yield self._told(self.engine.advance(tick))

    def _tell_time(self, tick: Instant) -> None:
        if self._tells_time:
            self.engine.push(Fact.of(NOW, tick), tick, CLOCK)

    def _told(self, delta: Delta) -> Delta:
        """What users hear of a delta of the engine."""
        if not self.program.hidden:
            return delta
        visible = self.program.visible
        for line in printed(delta.entered):
            self._printer(line)

        def shown(facts: Mapping[Fact, Instant]) -> dict[Fact, Instant]:
            return {fact: until for fact, until in facts.items() if fact.relation in visible}

        began, ended = self._watch.follow(delta)
        return Delta(
            delta.tick,
            shown(delta.entered),
            shown(delta.left),
            shown(delta.renewed),
            delta.complete,
            began,
            ended,
        )

    def _push_batch(self, batch: Any, stream: str) -> list[int]:
        """Push a record batch with the columns t, s, p and o; the rows that came late."""
        self._time.check(stream)
        if not batch.num_rows:
            return []
        import pyarrow.compute as pc

        extent = pc.min_max(batch.column(TIME_COLUMN))
        first, last = as_instant(extent["min"].as_py()), as_instant(extent["max"].as_py())
        late = push_batch(self.engine, batch, stream)
        self._time.happened(stream, first, last)
        return late

    def _push_and_keep(self, batch: Any, stream: str) -> None:
        """Push a record batch; what is late waits for `take_late`."""
        for row in self._push_batch(batch, stream):
            fact, at = timed_fact(batch, row)
            self._late.put(Late(fact, at, stream, "its tick was over when it arrived"))
