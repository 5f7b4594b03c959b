"""The oracle of LARS behind the face that engines have: atoms in, answers out."""

from __future__ import annotations

from ebbtide.engines.lars_answer import Answer, answered
from ebbtide.engines.protocol import LateFact
from ebbtide.engines.reference.lars import Stream, answer_stream, output
from ebbtide.languages.lars import LarsProgram, strata
from ebbtide.program import Fact
from ebbtide.time import Instant


class LarsOracle:
    """Keeps the whole input, and works out each time point from scratch."""

    def __init__(
        self, program: LarsProgram, *, start: Instant, step: int = 1, tick: int | None = None
    ) -> None:
        strata(program)
        self._program = program
        self._start = start
        self._step = step
        self._tick = tick
        self._atoms: dict[Instant, set[Fact]] = {}
        self._last: Answer | None = None

    @property
    def next(self) -> Instant:
        """The time point that comes next."""
        return self._start if self._last is None else self._last.t + self._step

    def take(self, fact: Fact, at: Instant) -> None:
        """Take an input atom; `LateFact` if its time point is over."""
        point = self._start - (self._start - at) // self._step * self._step
        if point < self.next:
            raise LateFact(f"{fact} happens at {at}, and that time point is over")
        self._atoms.setdefault(point, set()).add(fact)

    def tick(self) -> Answer:
        """Evaluate the next time point."""
        point = self.next
        input = Stream(self._start, point, self._atoms, self._step).up_to(point)
        found = answer_stream(self._program, input, self._tick)
        atoms = None if found is None else output(self._program, input, found)
        self._last = answered(point, self._last, atoms)
        return self._last
