"""A LARS program at work: atoms in, answers out, time point by time point.

The face of LARS: it reads atoms as text or as facts, finds the first time point, evaluates every
time point in order and tells what holds. Time points are plain numbers, or with `tick` a grid of
instants that many milliseconds apart; an atom belongs to the first time point at or after it. Until
the first one is due, atoms wait here: one that comes later may still be earlier.

Invariant: an atom is late exactly when its time point was already due when it arrived, so an answer
depends on what arrived and in which order, never on when it was asked for.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Protocol, SupportsIndex, TypedDict, Unpack, cast

from ebbtide.engines.abilities import Unsupported
from ebbtide.engines.budget import Budget
from ebbtide.engines.lars_answer import Answer
from ebbtide.engines.lars_input import fact_of, state_of, states
from ebbtide.engines.protocol import LateFact
from ebbtide.languages.lars import LarsProgram, load_lars, parse_atoms, parse_lars
from ebbtide.languages.lars.terms import WELL_KNOWN
from ebbtide.languages.lars.unread import Unread, UnreadPredicate
from ebbtide.program import Fact
from ebbtide.reasoner.intake import record_batches
from ebbtide.reasoner.late import Late, LateBox
from ebbtide.reasoner.snapshot import SnapshotError, check_settings, pack, unpack
from ebbtide.reasoner.timeline import MANY_TICKS, Timeline
from ebbtide.terms import parse_term, to_term
from ebbtide.time import DurationError, Instant, WindowError, as_instant, parse_duration

if TYPE_CHECKING:
    from ebbtide.engines.lars import LarsEngine

STREAM: Final = "input"
#: What tells a program's text from the path of a file: an arrow, a second line, a full stop.
_NOT_IN_PATHS: Final = re.compile(r":-|<-|←|\n|\.\s|\.$")


class RunsLars(Protocol):
    """What evaluates a program: the kernel, the oracle or a solver."""

    @property
    def next(self) -> Instant:
        """The time point that comes next."""

    def take(self, fact: Fact, at: Instant) -> None:
        """Take an input atom."""

    def tick(self) -> Answer:
        """Evaluate the next time point."""

    def leap(self, to: Instant) -> None:
        """Leave out time points up to one that say nothing else than the one before them."""

    def snapshot(self) -> bytes:
        """What an engine needs to go on, given as `state`."""


class LarsSettings(TypedDict, total=False):
    """The keywords of a `LarsReasoner`."""

    start: Instant | None
    tick: int | None
    lateness: int
    engine: str
    solve: str | None
    background: Iterable[Fact]
    budget: Budget | None


class LarsReasoner:
    """Keeps the answers of a LARS program true over a stream of atoms.

    `program` is a text, a path or a `LarsProgram`. The first time point is `start`, or that of the
    first atom. Atoms may arrive out of order by `lateness`; a time point is due when something
    later than that has come. `background` holds at every time point. `engine` is native (the
    kernel) or reference (the oracle); with `solve` a program may negate through recursion, and
    clingo gives one answer stream (`one`), all of them (`all`) or what they have in common
    (`cautious`).

    >>> reasoner = LarsReasoner("q(X,Y,Z) :- a(X,Y) in [3], b(Y,Z) in [#3].")
    >>> reasoner.push("a(x2,y). b(y,z).", at=38)
    >>> reasoner.push("a(x3,y).", at=40)
    >>> for answer in reasoner.advance(to=42):
    ...     print(answer.t, *answer.texts())
    38 q(x2,y,z)
    39 q(x2,y,z)
    40 q(x2,y,z) q(x3,y,z)
    41 q(x2,y,z) q(x3,y,z)
    42 q(x3,y,z)
    """

    def __init__(
        self,
        program: str | PathLike[str] | LarsProgram,
        *,
        start: Instant | None = None,
        tick: int | None = None,
        lateness: int = 0,
        engine: str = "native",
        solve: str | None = None,
        background: Iterable[Fact] = (),
        budget: Budget | None = None,
    ) -> None:
        background = list(background)
        self.program = _as_program(program, {fact.relation for fact in background})
        if budget is not None and (engine != "native" or solve is not None):
            raise Unsupported("only the native engine keeps a budget")
        start = None if start is None else as_instant(start)
        self._step = 1 if tick is None else tick
        self._tick = tick
        self._engine_name = engine
        self._solve = solve
        self._budget = budget
        self._background: list[Fact] = list(map(self._fitting, background))
        self._settings = {
            "program": self.program.fingerprint,
            "start": start,
            "tick": tick,
            "lateness": lateness,
            "engine": engine,
            "solve": solve,
        }
        self._time = Timeline([STREAM], step=self._step, start=start, lateness=lateness)
        self._late = LateBox()
        self._unread = Unread(self.program)
        #: The atoms that came while the first time point was not known.
        self._waiting: list[tuple[Fact, Instant]] = []
        self._engine: RunsLars | None = None
        #: Whether the program was found to run.
        self._is_checked = False
        #: The first time point, once the engine runs.
        self._first: Instant | None = None
        if start is not None:
            self._open(start)

    def check(self) -> None:
        """Refuse a program that cannot run, with the place: the first atom does so, too.

        >>> LarsReasoner("a :- not b. b :- not a.").check()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ebbtide.program.origin.ProgramError: <text>:1:1: the rules have no strata, because ...
        """
        if self._engine is None and not self._is_checked:
            self._make(0, None)
            self._is_checked = True

    # ---- atoms in ----------------------------------------------------------------------------

    def add(self, atoms: str | Fact) -> None:
        """State background atoms, before the first time point: they hold at all of them."""
        if self._engine is not None:
            raise ValueError("background is added before the first time point is known")
        self._background += map(self._fitting, self._facts(atoms))

    def push(self, atoms: str | Fact | Iterable[str | Fact], at: SupportsIndex) -> None:
        """State atoms that happen at an instant. If it is too late, `take_late` hands them out.

        Without atoms, it says that time has come so far. Of a predicate that no rule asks for, the
        first atom is warned of (`UnreadPredicate`).
        """
        at = as_instant(at)
        facts = self._facts(atoms)
        over = self._time.last_due
        if over is not None and at <= over:
            for fact in facts:
                self._put_late(fact, at, f"the time point {over} was due when it arrived")
            return
        for fact in facts:
            self._take(fact, at)
            self._warn_of(fact.relation)
        self._time.happened(STREAM, at, at)

    def push_table(
        self, data: Any, predicate: str, *, time: str = "t", columns: Sequence[str] = ()
    ) -> list[int]:
        """State the atoms of a table that speaks Arrow; the numbers of the rows that came late.

        The column `time` holds instants, the others terms: whole numbers, or N-Triples texts, such
        as `<x2>` for the constant x2, best in dictionaries where they repeat. The rows arrive at
        once: only the time points that are over make them late. Late rows are counted, and left to
        the caller. Give `start`: while the first time point is not known, atoms of tables are taken
        one by one. So are those with more arguments than any predicate of the program, if a count
        window over the whole stream counts them.
        """
        if self._engine is None or self._native().is_wide(len(columns)):
            late = self._push_rows(data, predicate, time, columns)
        else:
            late, last = self._native().feed(data, predicate, time, columns)
            if last is not None:
                self._time.happened(STREAM, last, last)
        self._late.count += len(late)
        self._warn_of(predicate)
        return late

    # ---- answers out -------------------------------------------------------------------------

    def advance(self, to: SupportsIndex | None = None) -> list[Answer]:
        """Evaluate every time point that is due; what each of them says.

        `to` says that nothing at or before it is still to come, so that every time point up to it
        is due.

        >>> reasoner = LarsReasoner("q(X) :- p(X) in [1].", lateness=2)
        >>> for atom, at in (("p(a)", 5), ("p(b)", 4), ("p(c)", 8), ("p(d)", 5)):
        ...     reasoner.push(atom, at)
        >>> [(answer.t, *answer.texts()) for answer in reasoner.advance()]
        [(4, 'q(b)'), (5, 'q(a)', 'q(b)')]
        >>> reasoner.late, [str(late.fact) for late in reasoner.take_late()]
        (1, ['p(<d>)'])
        """
        answers = self.answers(to)
        if (due := self._time.count_due) > MANY_TICKS:
            warnings.warn(
                f"{due} time points are due; answers() evaluates them one by one and can be left",
                RuntimeWarning,
                stacklevel=2,
            )
        return list(answers)

    def answers(
        self, to: SupportsIndex | None = None, *, changed: bool = False
    ) -> Iterator[Answer]:
        """As `advance`, but each time point is evaluated when its answer is asked for.

        With `changed`, only the time points are told at which atoms begin or cease to hold (and
        those that have no answer stream, or are asked for all); the kernel leaps over the others.

        >>> reasoner = LarsReasoner("q(X) :- p(X) in [3].")
        >>> reasoner.push("p(a).", at=0)
        >>> reasoner.push("p(b).", at=10_000_000)
        >>> for answer in reasoner.answers(to=20_000_000, changed=True):
        ...     print(answer.t, answer.texts())
        0 ['q(a)']
        4 []
        10000000 ['q(b)']
        10000004 []
        """
        if to is not None:
            self._time.complete(as_instant(to))
        return self._changed() if changed else self._evaluate()

    def run(
        self,
        items: Iterable[tuple[Instant, Iterable[Fact]]],
        to: Instant | None = None,
        *,
        changed: bool = False,
    ) -> Iterator[Answer]:
        """The answers of a stream, each as soon as a later atom shows that it is due.

        They go on to the last atom's time point, or to the time point `to`, if that is later; there
        are none if nothing tells the first one.
        `changed` is as for `answers`.

        >>> reasoner = LarsReasoner("q(X) :- p(X) in [1].")
        >>> from ebbtide.languages.lars.stream import parse_stream
        >>> for answer in reasoner.run(parse_stream(["0\\tp(a).", "3\\tp(b)."])):
        ...     print(answer.t, *answer.texts())
        0 q(a)
        1 q(a)
        2
        3 q(b)
        """
        for at, facts in items:
            self.push(facts, at)
            yield from self.answers(changed=changed)
        if to is not None and (self._engine is not None or self._time.has_happened):
            self._time.changed(to)
        if self._time.has_happened:
            yield from self.answers(self._time.end, changed=changed)

    def play(self, to: SupportsIndex | None = None, *, full: bool = False) -> dict[str, Any]:
        """As `advance`, but the answers are Arrow tables, one a predicate.

        The columns are t, c0, c1, ... and, without `full`, diff: +1 for an atom that begins to hold
        at t and -1 for one that ceases to. Terms are in a dictionary that all columns share, and
        that may have more of them than the rows do. `without_answer` then lists the time points
        that have no answer stream, at which nothing holds.
        """
        if to is not None:
            self._time.complete(as_instant(to))
        if self._engine is None and self._time.count_due and self._time.next is not None:
            self._open(self._time.next)
        engine = self._native()
        last = self._time.last_due
        try:
            return engine.play(engine.next - 1 if last is None else last, full=full)
        finally:
            self._time.skip(engine.next)

    @property
    def incomplete(self) -> list[Instant]:
        """The time points of the last `play` that went beyond a budget and tell only a part."""
        return list(self._native().incomplete)

    @property
    def without_answer(self) -> list[Instant]:
        """The time points of the last `play` that have no answer stream."""
        return list(self._native().without_answer)

    # ---- late atoms --------------------------------------------------------------------------

    @property
    def late(self) -> int:
        """How many atoms came too late, ever."""
        return self._late.count

    def take_late(self) -> list[Late]:
        """The late atoms since the last call, each with the reason; the newest 10,000 are kept."""
        return self._late.take()

    # ---- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Everything a reasoner with the same program and settings needs to go on from here.

        >>> reasoner = LarsReasoner("q(X) :- p(X) in [1].")
        >>> reasoner.push("p(a).", at=3)
        >>> _ = reasoner.advance(to=3)
        >>> again = LarsReasoner.restore(reasoner.snapshot(), "q(X) :- p(X) in [1].")
        >>> [answer.texts() for answer in again.advance(to=5)]
        [['q(a)'], []]
        """
        header = {
            "settings": self._settings,
            **self._time.state(),
            "first": self._first,
            "background": states(self._background),
            "waiting": [[state_of(fact), at] for fact, at in self._waiting],
            "late": self._late.count,
            "late_waiting": [[state_of(late.fact), *late[1:]] for late in self._late.waiting()],
        }
        return pack(header, b"" if self._engine is None else self._engine.snapshot())

    @classmethod
    def restore(
        cls,
        data: bytes,
        program: str | PathLike[str] | LarsProgram,
        **settings: Unpack[LarsSettings],
    ) -> LarsReasoner:
        """The reasoner of a snapshot, given the program and the settings it had.

        The background is in the snapshot; if one is given, it must be the same.
        """
        header, engine = unpack(data)
        start = settings.pop("start", None)
        known = {predicate for predicate, _ in header["background"]}
        reasoner = cls(_as_program(program, known), **settings)
        reasoner._settings["start"] = start
        check_settings(header, reasoner._settings)
        if reasoner._background and states(reasoner._background) != header["background"]:
            raise SnapshotError("the snapshot was taken with another background")
        reasoner._background = list(map(fact_of, header["background"]))
        reasoner._time = Timeline(
            [STREAM], step=reasoner._step, start=start, lateness=settings.get("lateness", 0)
        )
        reasoner._time.restore(header)
        if header["first"] is not None:
            try:
                reasoner._open(header["first"], engine)
            except ValueError as error:
                raise SnapshotError(str(error)) from None
        reasoner._waiting = [(fact_of(state), at) for state, at in header["waiting"]]
        for state, *rest in header["late_waiting"]:
            reasoner._late.put(Late(fact_of(state), *rest))
        reasoner._late.count = header["late"]
        return reasoner

    # ---- why ---------------------------------------------------------------------------------

    def why(self, atom: str | Fact) -> str:
        """Why an intensional atom holds at the last time point: a tree, with times.

        >>> reasoner = LarsReasoner("q(X) :- p(X) in [3], not r(X).")
        >>> reasoner.push("p(a).", at=5)
        >>> _ = reasoner.advance(to=7)
        >>> print(reasoner.why("q(a)"))
        q(a) until 9: by r1 (<text>:1:1)
          p(a) in [3] until 9: input at 5
          not r(a): not at 7
        """
        facts = self._facts(atom)
        if len(facts) != 1:
            raise LookupError(f"one atom is explained at a time, not {len(facts)}")
        if self._engine is None:
            raise LookupError(f"{atom} does not hold: no time point has come yet")
        (fact,), engine = facts, self._native()
        try:
            return str(engine.explain_atom(fact))
        except KeyError:
            if problem := self.program.misfit(fact):
                raise LookupError(problem) from None
            if fact.relation not in self.program.intensional:
                raise LookupError(
                    f"no rule concludes {fact.relation}: `why` is for those"
                ) from None
            last = engine.next - self._step
            raise LookupError(f"{atom} does not hold at {last}") from None

    # ---- inside ------------------------------------------------------------------------------

    def _facts(self, atoms: str | Fact | Iterable[str | Fact]) -> list[Fact]:
        if isinstance(atoms, Fact):
            return [atoms]
        if isinstance(atoms, str):
            text = atoms if atoms.rstrip().endswith(".") else f"{atoms}."
            return parse_atoms(text, "<atoms>", {**WELL_KNOWN, **self.program.prefixes})
        return [fact for each in atoms for fact in self._facts(each)]

    def _warn_of(self, predicate: str) -> None:
        """Warn whoever pushes atoms of a predicate that no rule asks for."""
        if said := self._unread.met(predicate):
            warnings.warn(said, UnreadPredicate, stacklevel=3)

    def _fitting(self, fact: Fact) -> Fact:
        if problem := self.program.misfit(fact):
            raise ValueError(problem)
        return fact

    def _take(self, fact: Fact, at: Instant) -> None:
        if problem := self.program.refuses(fact):
            raise ValueError(problem)
        if self._engine is None:
            self.check()
            self._waiting.append((fact, at))
            return
        try:
            self._engine.take(fact, at)
        except LateFact:
            self._put_late(fact, at, f"it happens before the first time point, {self._first}")

    def _put_late(self, fact: Fact, at: Instant, reason: str) -> None:
        self._late.put(Late(fact, at, None, reason))

    def _push_rows(self, data: Any, predicate: str, time: str, columns: Sequence[str]) -> list[int]:
        """State the atoms of a table one by one; the numbers of the rows that came late."""
        engine = None if self._engine is None else self._native()
        late: list[int] = []
        rows = 0
        for batch in record_batches(data, (time, *columns)):
            instants, *values = (column.to_pylist() for column in batch.columns)
            for number, (at, *row) in enumerate(zip(instants, *values, strict=True), rows):
                if engine is not None and engine.point(at) < engine.next:
                    late.append(number)
                    continue
                terms = (to_term(each) if type(each) is int else parse_term(each) for each in row)
                self._take(Fact(predicate, tuple(terms)), at)
            rows += len(instants)
            if instants:
                self._time.happened(STREAM, min(instants), max(instants))
        return late

    def _evaluate(self) -> Iterator[Answer]:
        for point in self._time.due():
            yield self._open(point).tick()

    def _changed(self) -> Iterator[Answer]:
        """The answers that differ from the one before."""
        while self._time.count_due:
            first, last = self._time.next, self._time.last_due
            assert first is not None
            assert last is not None
            engine = self._open(first)
            engine.leap(last)
            answer = engine.tick() if engine.next <= last else None
            self._time.skip(engine.next)
            if answer is not None and answer.is_news:
                yield answer

    def _open(self, first: Instant, state: bytes | None = None) -> RunsLars:
        """The engine, which is made at the first time point, or made from a snapshot."""
        if self._engine is None:
            self._first = first
            self._engine = self._make(first, state)
            waiting, self._waiting = self._waiting, []
            for fact, at in waiting:
                self._take(fact, at)
        return self._engine

    def _make(self, start: Instant, state: bytes | None) -> RunsLars:
        program = self.program
        if self._background:
            program = replace(program, background=(*program.background, *self._background))
        if self._solve is not None:
            from ebbtide.engines.clingo import ClingoEngine

            return ClingoEngine(
                program,
                start=start,
                step=self._step,
                tick=self._tick,
                mode=self._solve,
                state=state,
            )
        match self._engine_name:
            case "native":
                from ebbtide.engines.lars import LarsEngine

                return LarsEngine(
                    program,
                    start=start,
                    step=self._step,
                    tick=self._tick,
                    budget=self._budget,
                    state=state,
                )
            case "reference":
                from ebbtide.engines.reference.lars_engine import LarsOracle

                return LarsOracle(
                    program, start=start, step=self._step, tick=self._tick, state=state
                )
        raise ValueError(
            f"there is no engine {self._engine_name!r}; there are native and reference"
        )

    def _native(self) -> LarsEngine:
        if self._engine is None:
            raise ValueError("the first time point is not known yet: give `start`, or push an atom")
        if self._engine_name == "native" and self._solve is None:
            return cast("LarsEngine", self._engine)
        raise Unsupported("only the native engine has tables and explanations")


def parse_span(text: str) -> int:
    """The milliseconds of a text such as `1s`, `500 ms` or `1000`.

    >>> parse_span("2 min")
    120000
    """
    length = text.strip()
    try:
        return parse_duration(f"{length}ms" if length.isdecimal() else length)
    except DurationError:
        raise WindowError(f"not a length of time, such as 1s or 500ms: {text}") from None


def _as_program(program: str | PathLike[str] | LarsProgram, inputs: Collection[str]) -> LarsProgram:
    match program:
        case LarsProgram():
            return program
        case PathLike():
            return load_lars(program, inputs)
    is_text = _NOT_IN_PATHS.search(program) or not program
    return parse_lars(program, inputs=inputs) if is_text else load_lars(program, inputs)
