"""A LARS program at work: atoms in, answers out, time point by time point.

The face of LARS: it reads atoms as text or as facts, finds the first time point, evaluates every
time point in order and tells what holds. Time points are plain numbers, or with `tick` a grid of
instants that many milliseconds apart; an atom belongs to the first time point at or after it.

Invariant: an answer at t depends on the atoms at or before t, never on how they came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from ebbtide.engines.budget import Budget
from ebbtide.engines.lars_answer import Answer
from ebbtide.languages.lars import LarsProgram, load_lars, parse_atoms, parse_lars
from ebbtide.languages.lars.formula import UNITS
from ebbtide.languages.lars.terms import WELL_KNOWN
from ebbtide.program import Fact
from ebbtide.time import Instant, WindowError, as_instant

if TYPE_CHECKING:
    from ebbtide.engines.lars import LarsEngine


class RunsLars(Protocol):
    """What evaluates a program: the kernel, the oracle or a solver."""

    @property
    def next(self) -> Instant:
        """The time point that comes next."""

    def take(self, fact: Fact, at: Instant) -> None:
        """Take an input atom."""

    def tick(self) -> Answer:
        """Evaluate the next time point."""


class LarsSettings(TypedDict, total=False):
    """The keywords of a `LarsReasoner`."""

    start: Instant | None
    tick: int | None
    engine: str
    solve: str | None
    background: Iterable[Fact]
    budget: Budget | None


class LarsReasoner:
    """Keeps the answers of a LARS program true over a stream of atoms.

    `program` is a text, a path or a `LarsProgram`. The first time point is `start`, or that of the
    first atom. `background` holds at every time point. `engine` is native (the kernel) or reference
    (the oracle); with `solve` a program may negate through recursion, and clingo gives one answer
    stream (`one`), all of them (`all`) or what they have in common (`cautious`).

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
        engine: str = "native",
        solve: str | None = None,
        background: Iterable[Fact] = (),
        budget: Budget | None = None,
    ) -> None:
        self.program = _as_program(program)
        self._step = 1 if tick is None else tick
        self._tick = tick
        self._start = start
        self._engine_name = engine
        self._solve = solve
        self._budget = budget
        self._background: list[Fact] = list(background)
        self._engine: RunsLars | None = None
        self._latest: Instant | None = None
        if start is not None:
            self._open(start)

    # ---- atoms in ----------------------------------------------------------------------------

    def add(self, atoms: str | Fact) -> None:
        """State background atoms, before the first time point: they hold at all of them."""
        if self._engine is not None:
            raise ValueError("background is added before the first atom of a stream")
        self._background += self._facts(atoms)

    def push(self, atoms: str | Fact | Iterable[Fact], at: Instant) -> None:
        """State atoms that happen at an instant; `LateFact` if its time point is over."""
        at = as_instant(at)
        engine = self._open(at)
        for fact in self._facts(atoms):
            engine.take(fact, at)
        self._latest = at if self._latest is None else max(self._latest, at)

    def push_table(
        self, data: Any, predicate: str, *, time: str = "t", columns: Sequence[str] = ()
    ) -> int:
        """State the atoms of a table that speaks Arrow; how many came late.

        The column `time` holds instants, the others the texts of the terms: N-Triples texts, such
        as `<x2>` for the constant x2. The first time point must be known: give `start`.
        """
        return self._native().feed(data, predicate, time, columns)

    # ---- answers out -------------------------------------------------------------------------

    def advance(self, to: Instant) -> list[Answer]:
        """Evaluate every time point up to one; what each of them says."""
        return list(self.answers(to))

    def answers(self, to: Instant) -> Iterator[Answer]:
        """As `advance`, but each time point is evaluated when its answer is asked for."""
        engine = self._open(as_instant(to))
        while engine.next <= to:
            yield engine.tick()

    def run(
        self, items: Iterable[tuple[Instant, Iterable[Fact]]], to: Instant | None = None
    ) -> Iterator[Answer]:
        """The answers of a stream in order, each as soon as a later atom shows that it is due.

        They go on to the last atom's time point, or to the time point `to`, if that is later.

        >>> reasoner = LarsReasoner("q(X) :- p(X) in [1].")
        >>> from ebbtide.languages.lars.stream import parse_stream
        >>> for answer in reasoner.run(parse_stream(["0\\tp(a).", "3\\tp(b)."])):
        ...     print(answer.t, *answer.texts())
        0 q(a)
        1 q(a)
        2
        3 q(b)
        """
        last: Instant | None = None
        for at, facts in items:
            if last is not None and at > last:
                yield from self.answers(self._point(at) - 1)
            self.push(facts, at)
            last = at
        ends = [each for each in (last, to) if each is not None]
        if ends:
            yield from self.answers(self._point(max(ends)))

    def play(self, to: Instant, *, full: bool = False) -> dict[str, Any]:
        """Evaluate the time points up to one, and answer in Arrow tables, one a predicate.

        The columns are t, c0, c1, ... and, without `full`, diff: +1 for an atom that begins to hold
        at t and -1 for one that ceases to.
        """
        return dict(self._native().play(to, full=full))

    def why(self, atom: str | Fact) -> str:
        """Why an intensional atom holds at the last time point: a tree, with times.

        >>> reasoner = LarsReasoner("q(X) :- p(X) in [3], not r(X).")
        >>> reasoner.push("p(a).", at=5)
        >>> _ = reasoner.advance(to=7)
        >>> print(reasoner.why("q(a)"))
        q(a) until 9: by r1 (<text>:1:1)
          p(a) in [3] until 9: input at 5
          not r(X)
        """
        (fact,) = self._facts(atom)
        engine = self._native()
        try:
            return str(engine.explain_atom(fact))
        except KeyError:
            raise LookupError(f"{atom} does not hold, or no rule concludes it") from None

    # ---- inside ------------------------------------------------------------------------------

    def _facts(self, atoms: str | Fact | Iterable[Fact]) -> list[Fact]:
        if isinstance(atoms, Fact):
            return [atoms]
        if isinstance(atoms, str):
            text = atoms if atoms.rstrip().endswith(".") else f"{atoms}."
            return parse_atoms(text, "<atoms>", {**WELL_KNOWN, **self.program.prefixes})
        return list(atoms)

    def _point(self, at: Instant) -> Instant:
        origin = self._start or 0
        return origin - (origin - at) // self._step * self._step

    def _open(self, first: Instant) -> RunsLars:
        if self._engine is None:
            start = self._point(first) if self._start is None else self._start
            self._start = start
            if self._background:
                known = (*self.program.background, *self._background)
                self.program = replace(self.program, background=known)
            self._engine = self._make(start)
        return self._engine

    def _make(self, start: Instant) -> RunsLars:
        if self._solve is not None:
            from ebbtide.engines.clingo import ClingoEngine

            return ClingoEngine(
                self.program, start=start, step=self._step, tick=self._tick, mode=self._solve
            )
        match self._engine_name:
            case "native":
                from ebbtide.engines.lars import LarsEngine

                return LarsEngine(
                    self.program,
                    start=start,
                    step=self._step,
                    tick=self._tick,
                    budget=self._budget,
                )
            case "reference":
                from ebbtide.engines.reference.lars_engine import LarsOracle

                return LarsOracle(self.program, start=start, step=self._step, tick=self._tick)
        raise ValueError(
            f"there is no engine {self._engine_name!r}; there are native and reference"
        )

    def _native(self) -> LarsEngine:
        from ebbtide.engines.abilities import Unsupported
        from ebbtide.engines.lars import LarsEngine

        if self._engine is None:
            raise ValueError("the first time point is not known yet: give `start`, or push an atom")
        if not isinstance(self._engine, LarsEngine):
            raise Unsupported("only the native engine has tables and explanations")
        return self._engine


def parse_span(text: str) -> int:
    """The milliseconds of a text such as `1s`, `500 ms` or `1000`.

    >>> parse_span("2 min")
    120000
    """
    match = re.fullmatch(r"([0-9]+)\s*([a-z]*)", text.strip())
    unit = UNITS.get(match[2] or "ms") if match else None
    if match is None or unit is None or int(match[1]) < 1:
        raise WindowError(f"not a length of time, such as 1s or 500ms: {text}")
    return int(match[1]) * unit


def _as_program(program: str | PathLike[str] | LarsProgram) -> LarsProgram:
    match program:
        case LarsProgram():
            return program
        case PathLike():
            return load_lars(program)
    is_text = ":-" in program or "<-" in program or program.rstrip().endswith(".")
    return parse_lars(program) if is_text else load_lars(program)
