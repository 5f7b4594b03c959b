"""The reasoner: a graph whose facts have lifetimes.

It joins four things: a program, an engine that holds its materialisation, a watermark per stream
and the tick grid. Facts go in (`add`, `push`, `retract`), time moves (`heartbeat`, `advance`), and
what each tick changed comes out as a `Delta`; between ticks the materialisation is read like a set.
Facts of hidden relations are neither in the deltas nor in the set; inconsistencies and malformed
lists are told as events.

Invariant: a fact is late exactly when a tick at or after it was already due when it arrived, so the
answers depend on what arrived and in which order, never on when `advance` was called.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Final, SupportsIndex, TypedDict, Unpack

from ebbtide.engines.abilities import (
    Explains,
    GivesChanges,
    LooksUp,
    Settles,
    Snapshots,
    Unsupported,
    open_engine,
)
from ebbtide.engines.budget import Budget
from ebbtide.engines.events import Event, Inconsistency
from ebbtide.engines.proof import Proof
from ebbtide.engines.protocol import Delta
from ebbtide.program import TRIPLE, Fact
from ebbtide.program.reserved import NOW
from ebbtide.reasoner.columns import Changes, push_batch, timed_fact
from ebbtide.reasoner.documents import Documents
from ebbtide.reasoner.intake import (
    TIME_COLUMN,
    FactLike,
    PatternLike,
    Rules,
    as_fact,
    as_pattern,
    as_program,
    check_relation,
    is_columnar,
    record_batches,
    timed_facts,
)
from ebbtide.reasoner.late import Late, LateBox
from ebbtide.reasoner.printing import printed
from ebbtide.reasoner.snapshot import SnapshotError, pack, unpack
from ebbtide.reasoner.watch import Watch
from ebbtide.terms import Term, parse_term, to_term
from ebbtide.time import Instant, Sliding, Ticks, Watermark, Window, WindowError, as_instant

DEFAULT_STREAM: Final = "default"
CLOCK: Final = "now:"
DEFAULT_WINDOW: Final = Sliding(10_000)
MANY_TICKS: Final = 100_000


class Settings(TypedDict, total=False):
    """The keywords of a `Reasoner`."""

    window: Window
    step: int
    start: Instant | None
    streams: Mapping[str, Window] | None
    lateness: int
    strategy: str
    engine: str
    budget: Budget | None
    specialise: bool
    wanted: Iterable[PatternLike] | None
    printer: Callable[[str], object]


class Reasoner(Documents):
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
        self.streams = {DEFAULT_STREAM: window} if streams is None else dict(streams)
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
        self._ticks = Ticks(step, start)
        self._watermarks = {name: Watermark(lateness) for name in self.streams}
        self._latest: Instant | None = None
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
            wanted=patterns,
        )
        self._watch = Watch(self.program, self.engine)

    @classmethod
    def materialize(cls, rules: Rules, *data: Any, **settings: Unpack[Settings]) -> Reasoner:
        """The closure of some data under some rules: a reasoner whose first tick is over.

        Data are paths of RDF files, graphs of rdflib, stores of pyoxigraph, or facts.

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
                reasoner.parse(each)
            else:
                reasoner.add_all(each)
        reasoner.settle()
        return reasoner

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

    def push(self, fact: FactLike, at: SupportsIndex, stream: str = DEFAULT_STREAM) -> None:
        """State a fact that happens at `at`. If it is too late, `take_late` hands it out."""
        found, at = self._fact(fact), as_instant(at)
        watermark = self._watermark_of(stream)
        over = self._ticks.last_due(self.watermark)
        if over is not None and at <= over:
            self._late.put(Late(found, at, stream, f"the tick {over} was due when it arrived"))
            return
        self.engine.push(found, at, stream)
        watermark.see(at)
        self._happened(at, at)

    def push_all(self, items: Any, stream: str = DEFAULT_STREAM) -> None:
        """State many facts: pairs of a fact and its instant, as `read_timed` gives, or a table.

        A table is anything that speaks Arrow (pyarrow, polars, pandas) with the columns t
        (milliseconds or timestamps) and s, p, o (N-Triples texts). A batch of a table arrives at
        once: its rows have no order, and only the ticks evaluated before it make them late.
        """
        if is_columnar(items):
            for batch in record_batches(items):
                self._push_and_keep(batch, stream)
        else:
            for fact, at in timed_facts(items):
                self.push(fact, at, stream)

    def push_table(self, table: Any, stream: str = DEFAULT_STREAM) -> list[int]:
        """State the facts of a table, as `push_all` does; the numbers of the rows that came late.

        They are counted, and left to the caller: `take_late` does not hand them out.
        """
        late: list[int] = []
        first_row = 0
        for batch in record_batches(table):
            late += [first_row + row for row in self._push_batch(batch, stream)]
            first_row += batch.num_rows
        self._late.count += len(late)
        return late

    def retract(self, fact: FactLike, at: SupportsIndex) -> None:
        """Take back every statement of the fact made at or before `at`, background included."""
        found, at = self._fact(fact), as_instant(at)
        over = self._ticks.last_due(self.watermark)
        if over is not None and at <= over:
            reason = f"the tick {over} was due when the retraction arrived"
            self._late.put(Late(found, at, None, reason))
            return
        self.engine.retract(found, at)
        self._latest = at if self._latest is None else max(self._latest, at)

    # ---- time --------------------------------------------------------------------------------

    @property
    def watermark(self) -> Instant:
        """The last complete instant: the minimum over the streams."""
        return min(watermark.instant for watermark in self._watermarks.values())

    def heartbeat(self, at: SupportsIndex, stream: str | None = None) -> None:
        """Time has reached `at` on a stream (or on all), though no fact says so."""
        at = as_instant(at)
        watermarks = self._watermarks.values() if stream is None else [self._watermark_of(stream)]
        for watermark in watermarks:
            watermark.see(at)

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
        if (due := self._ticks.count_due(self.watermark)) > MANY_TICKS:
            warnings.warn(
                f"{due} ticks are due; deltas() evaluates them one by one and can be left",
                RuntimeWarning,
                stacklevel=2,
            )
        return list(deltas)

    def settle(self) -> None:
        """As `advance(to=0)`, but what changed is not told: for background that is all there is.

        >>> reasoner = Reasoner()
        >>> reasoner.add(("<http://e/a>", "<http://e/p>", 1))
        >>> reasoner.settle()
        >>> len(reasoner)
        1
        """
        deltas = self.deltas(to=0)
        is_first = self._ticks.state()["last"] is None
        only_one = self._ticks.count_due(self.watermark) == 1
        if not (is_first and only_one and isinstance(self.engine, Settles)):
            for _ in deltas:
                pass
            return
        (tick,) = self._ticks.due(self.watermark)
        self._tell_time(tick)
        complete = self.engine.evaluate(tick)
        # Whatever holds after the first tick has entered with it.
        hidden = self.program.relations.keys() - self.program.visible
        self._told(Delta(tick, self.engine.facts(hidden), {}, {}, complete))

    def deltas(self, to: SupportsIndex | None = None) -> Iterator[Delta]:
        """As `advance`, but each tick is evaluated when its delta is asked for.

        Whoever stops asking leaves the remaining ticks due.
        """
        if to is not None:
            to = as_instant(to)
            for watermark in self._watermarks.values():
                watermark.complete(to)
            self._ticks.begin_by(to)
        return self._evaluate()

    def changes(self) -> Iterator[Changes]:
        """As `deltas`, but the triples that a tick changed come in columns, as Arrow."""
        if not isinstance(self.engine, GivesChanges):
            raise Unsupported("only the native engine tells changes in columns")
        hidden = self.program.relations.keys() - self.program.visible
        for tick in self._ticks.due(self.watermark):
            self._tell_time(tick)
            complete = self.engine.evaluate(tick)
            told = self._told(self.engine.delta(tick, complete, hidden))
            triples = self.engine.changes_arrow(TRIPLE)
            yield Changes(tick, triples, complete, told.began, told.ended)

    def finish_changes(self) -> Iterator[Changes]:
        """As `finish`, but the triples that a tick changed come in columns, as Arrow."""
        self.deltas(self._ticks.at_or_after(self._latest or 0))
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
            for batch in record_batches(items):
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
        return self.advance(self._ticks.at_or_after(self._latest or 0))

    # ---- answers -----------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of facts that hold.

        >>> len(Reasoner())
        0
        """
        visible = self.program.visible
        if not isinstance(self.engine, LooksUp):
            return len(self.engine.facts(visible))
        hidden = self.program.relations.keys() - visible
        return len(self.engine) - len(self.engine.facts(hidden))

    def __contains__(self, fact: FactLike) -> bool:
        """Whether a fact holds.

        >>> reasoner = Reasoner()
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", 1), at=7)
        >>> _ = reasoner.finish()
        >>> ("<http://e/a>", "<http://e/p>", 1) in reasoner
        True
        """
        return self.until(fact) is not None

    def __iter__(self) -> Iterator[Fact]:
        """The facts that hold.

        >>> reasoner = Reasoner()
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=7)
        >>> _ = reasoner.finish()
        >>> for fact in reasoner:
        ...     print(fact)
        triple(<http://e/a>, <http://e/p>, "x")
        """
        return iter(self.engine.facts(self.program.visible))

    def facts(self) -> dict[Fact, Instant]:
        """The facts that hold, each with its `until`.

        >>> reasoner = Reasoner(window=Sliding(5_000))
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=700)
        >>> _ = reasoner.finish()
        >>> [until for fact, until in reasoner.facts().items()]
        [5700]
        """
        return dict(self.engine.facts(self.program.visible))

    def triples(self, pattern: tuple[Any, Any, Any]) -> Iterator[tuple[Term, Term, Term]]:
        """The triples that hold and match; None matches everything.

        >>> reasoner = Reasoner()
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=7)
        >>> _ = reasoner.finish()
        >>> for s, p, o in reasoner.triples((None, "<http://e/p>", None)):
        ...     print(s, o)
        <http://e/a> "x"
        """
        wanted = [None if value is None else to_term(value) for value in pattern]
        for fact in self:
            if fact.relation == TRIPLE and all(
                want is None or want == term for want, term in zip(wanted, fact.terms, strict=True)
            ):
                subject, predicate, object_ = fact.terms
                yield subject, predicate, object_

    def until(self, fact: FactLike) -> Instant | None:
        """The instant at which the fact ceases to hold; None if it does not hold.

        >>> reasoner = Reasoner(window=Sliding(5_000))
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=700)
        >>> _ = reasoner.finish()
        >>> reasoner.until(("<http://e/a>", "<http://e/p>", "x"))
        5700
        """
        found = self._fact(fact)
        if isinstance(self.engine, LooksUp):
            return self.engine.until(found)
        return self.engine.facts().get(found)

    def explain(self) -> str:
        """How the rules are run: what a plan made of each, join orders and indexes.

        Before the first tick the plan is made now, for what was stated so far.
        """
        if not isinstance(self.engine, Explains):
            raise Unsupported("only the native engine has a plan")
        return self.engine.explain()

    def why(self, fact: FactLike) -> Proof:
        """Why the fact holds: a tree of rules and facts, down to what was stated.

        >>> reasoner = Reasoner("[r: (?x <http://e/in> ?y) -> (?y <http://e/has> ?x)]")
        >>> reasoner.push(("<http://e/a>", "<http://e/in>", "<http://e/b>"), at=700)
        >>> _ = reasoner.finish()
        >>> print(reasoner.why(("<http://e/b>", "<http://e/has>", "<http://e/a>")))
        triple(<http://e/b>, <http://e/has>, <http://e/a>) until 10700: by r (<rules>:1:1)
          triple(<http://e/a>, <http://e/in>, <http://e/b>) until 10700: stated
        """
        found = self._fact(fact)
        if not isinstance(self.engine, Explains):
            raise Unsupported("only the native engine explains facts")
        if found not in self:
            raise LookupError(f"{found} does not hold")
        return self.engine.why(found)

    # ---- events ------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """The inconsistencies and malformed lists that hold, oldest first."""
        return list(self._watch.holding())

    def inconsistencies(self) -> list[Inconsistency]:
        """The inconsistencies that hold, oldest first. Deltas say which began and ended.

        >>> from ebbtide import IRI, Rule
        >>> from ebbtide.program import Atom, Variable
        >>> x = Variable("x")
        >>> on, off = (Atom("triple", (x, IRI("http://e/is"), IRI(f"http://e/{state}")))
        ...            for state in ("on", "off"))
        >>> reasoner = Reasoner([Rule("both", (Atom("inconsistency:both", (x,)),), (on, off))])
        >>> reasoner.push(("<http://e/lamp>", "<http://e/is>", "<http://e/on>"), at=1_000)
        >>> reasoner.push(("<http://e/lamp>", "<http://e/is>", "<http://e/off>"), at=4_000)
        >>> deltas = reasoner.advance(to=11_000)
        >>> [(delta.tick, len(delta.began), len(delta.ended)) for delta in deltas
        ...  if delta.began or delta.ended]
        [(4000, 1, 0), (11000, 0, 1)]
        """
        return [each for each in self.events() if isinstance(each, Inconsistency)]

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
            "ticks": self._ticks.state(),
            "seen": {name: watermark.seen for name, watermark in self._watermarks.items()},
            "latest": self._latest,
            "late": self._late.count,
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
        for name, value in reasoner._settings.items():
            if header["settings"].get(name) != value:
                raise SnapshotError(
                    f"the snapshot was taken with another {name}: "
                    f"{header['settings'].get(name)}, not {value}"
                )
        try:
            reasoner.engine.restore(engine)
        except ValueError as error:
            raise SnapshotError(str(error)) from None
        reasoner._ticks.restore(header["ticks"])
        for name, seen in header["seen"].items():
            reasoner._watermarks[name].seen = seen
        reasoner._latest = header["latest"]
        for relation, texts, *rest in header["waiting"]:
            reasoner._late.put(Late(Fact(relation, tuple(map(parse_term, texts))), *rest))
        reasoner._late.count = header["late"]
        for relation, texts, since in header["events"]:
            fact = Fact(relation, tuple(map(parse_term, texts)))
            until = reasoner.until(fact)
            assert until is not None
            reasoner._watch.restore(fact, since, until)
        return reasoner

    # ---- inside ------------------------------------------------------------------------------

    def _fact(self, fact: FactLike) -> Fact:
        return check_relation(as_fact(fact), self.program)

    def _watermark_of(self, stream: str) -> Watermark:
        try:
            return self._watermarks[stream]
        except KeyError:
            known = ", ".join(sorted(self._watermarks))
            raise ValueError(f"there is no stream {stream!r}; there are {known}") from None

    def _happened(self, first: Instant, last: Instant) -> None:
        """Facts from `first` to `last` were taken."""
        self._ticks.begin(first)
        self._latest = last if self._latest is None else max(self._latest, last)

    def _evaluate(self) -> Iterator[Delta]:
        for tick in self._ticks.due(self.watermark):
            self._tell_time(tick)
            yield self._told(self.engine.advance(tick))

    def _tell_time(self, tick: Instant) -> None:
        if self._tells_time:
            self.engine.push(Fact.of(NOW, tick), tick, CLOCK)

    def _told(self, delta: Delta) -> Delta:
        """What users hear of a delta of the engine."""
        visible = self.program.visible
        if len(visible) == len(self.program.relations):
            return delta
        for line in printed(delta):
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
        watermark = self._watermark_of(stream)
        if not batch.num_rows:
            return []
        import pyarrow.compute as pc

        extent = pc.min_max(batch.column(TIME_COLUMN))
        first, last = as_instant(extent["min"].as_py()), as_instant(extent["max"].as_py())
        late = push_batch(self.engine, batch, stream)
        watermark.see(last)
        self._happened(first, last)
        return late

    def _push_and_keep(self, batch: Any, stream: str) -> None:
        """Push a record batch; what is late waits for `take_late`."""
        for row in self._push_batch(batch, stream):
            fact, at = timed_fact(batch, row)
            self._late.put(Late(fact, at, stream, "its tick was over when it arrived"))
