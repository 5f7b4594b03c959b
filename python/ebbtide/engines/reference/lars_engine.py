"""The oracle of LARS behind the face that engines have: atoms in, answers out."""

from __future__ import annotations

from ebbtide.engines.lars_answer import Answer
from ebbtide.engines.lars_input import KeptInput
from ebbtide.engines.reference.lars import answer_stream, output
from ebbtide.languages.lars import LarsProgram, strata
from ebbtide.time import Instant


class LarsOracle(KeptInput):
    """Keeps the whole input, and works out each time point from scratch."""

    def __init__(
        self,
        program: LarsProgram,
        *,
        start: Instant,
        step: int = 1,
        tick: int | None = None,
        state: bytes | None = None,
    ) -> None:
        strata(program)
        super().__init__(start, step, state)
        self._program = program
        self._tick = tick

    def tick(self) -> Answer:
        """Evaluate the next time point."""
        input = self._input()
        found = answer_stream(self._program, input, self._tick)
        return self._answered(None if found is None else output(self._program, input, found))
