"""The oracle: keeps everything it was ever told and works out each tick from scratch.

Nothing here is clever; it is the specification the other engines are compared with. The journal
says what is in sight at a tick, the closure says what follows, and a delta is the difference
between two ticks.

A background fact takes effect right after the tick that was over when it was added (before all
events, if there was none): a retraction at a later instant takes it back, an earlier one does not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ebbtide.engines.protocol import Delta, LateFact
from ebbtide.engines.reference.closure import closure
from ebbtide.engines.reference.journal import Journal, Kind
from ebbtide.program import Fact, Program
from ebbtide.time import EARLIEST, Instant, Window


class ReferenceEngine:
    """One materialisation, computed anew at every tick.

    >>> from ebbtide.testing import play, program, rows, show_rows, stream
    >>> from ebbtide.time import Sliding
    >>> rules = program("isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).")
    >>> engine = ReferenceEngine(rules, {"default": Sliding(10)})
    >>> deltas = play(engine, stream("1 isIn(A, B)  2 isIn(B, C)  tick 1  tick 2  tick 11"))
    >>> print(show_rows(rows(deltas)))
    tick  diff  until    fact
    1     +1    11       isIn(A, B)
    2     +1    11       isIn(A, C)
    2     +1    12       isIn(B, C)
    11    -1    11       isIn(A, B)
    11    -1    11       isIn(A, C)
    """

    def __init__(self, program: Program, windows: Mapping[str, Window]) -> None:
        self._program = program
        self._journal = Journal(windows)
        self._tick: Instant | None = None
        self._facts: dict[Fact, Instant] = {}
        self._past: list[tuple[Instant, dict[Fact, Instant]]] = []

    def add(self, fact: Fact) -> None:
        """State a background fact. It is seen from the next tick on."""
        at = EARLIEST if self._tick is None else self._tick
        self._journal.record(Kind.BACKGROUND, fact, at)

    def push(self, fact: Fact, at: Instant, stream: str = "default") -> None:
        """State a fact that happens at `at` on a stream; `LateFact` if that tick is over."""
        self._refuse_late(fact, at)
        self._journal.record(Kind.STATEMENT, fact, at, stream)

    def retract(self, fact: Fact, at: Instant) -> None:
        """Take back every statement of the fact made at or before `at`."""
        self._refuse_late(fact, at)
        self._journal.record(Kind.RETRACTION, fact, at)

    def advance(self, tick: Instant) -> Delta:
        """Evaluate the tick. Ticks must ascend."""
        if self._tick is not None and tick <= self._tick:
            raise ValueError(f"ticks must ascend: {tick} after {self._tick}")
        stated = self._journal.stated(tick)
        before, after = self._facts, closure(self._program, stated, tick, self._past)
        self._tick, self._facts = tick, after
        if self._program.operators:
            self._past.append((tick, after))
        return Delta(
            tick,
            entered={fact: until for fact, until in after.items() if fact not in before},
            left={fact: until for fact, until in before.items() if fact not in after},
            renewed={
                fact: until
                for fact, until in after.items()
                if fact in before and before[fact] != until
            },
        )

    def facts(self, relations: Collection[str] | None = None) -> Mapping[Fact, Instant]:
        """The materialisation at the last tick, of some relations or all; each fact's `until`."""
        return {
            fact: until
            for fact, until in self._facts.items()
            if relations is None or fact.relation in relations
        }

    def _refuse_late(self, fact: Fact, at: Instant) -> None:
        if self._tick is not None and at <= self._tick:
            raise LateFact(f"{fact} at {at} is late: the tick {self._tick} is over")
