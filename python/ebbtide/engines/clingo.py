"""LARS by the ASP solver clingo: for programs with several answer streams, or none.

A program is translated once, in layers (`asp.py`); at each time point the input is added, and what
the solver finds are the answer streams. Input that no window reaches any more is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from ebbtide.engines.asp import Found, layers
from ebbtide.engines.lars_answer import Answer
from ebbtide.engines.lars_input import KeptInput
from ebbtide.engines.reference.lars import Stream
from ebbtide.extras import needing
from ebbtide.languages.lars.formula import LarsProgram, Mode, TimeWindow, TumblingWindow
from ebbtide.program import Fact
from ebbtide.time import Instant

MODES: Final = ("one", "all", "cautious")


class ClingoEngine(KeptInput):
    """A LARS program whose answer streams clingo finds, time point by time point."""

    def __init__(
        self,
        program: LarsProgram,
        *,
        start: Instant,
        step: int = 1,
        tick: int | None = None,
        mode: str = "one",
        state: bytes | None = None,
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"a solver gives {', '.join(MODES)}, not {mode!r}")
        super().__init__(start, step, state)
        self._clingo = _clingo()
        self._program = program
        self._tick = tick
        self._mode = mode
        self._layers = list(layers(program))
        self._reach = _furthest(program, tick)

    def tick(self) -> Answer:
        """Evaluate the next time point."""
        if self._reach is not None:
            oldest = self.next - self._reach * self._step
            for old in [at for at in self._atoms if at < oldest]:
                del self._atoms[old]
        input = self._input()
        every = tuple(self.answer_streams(input))
        outputs = tuple(dict.fromkeys(self._output(found, input) for found in every))
        atoms = frozenset.intersection(*outputs) if outputs else None
        return self._answered(atoms, outputs if self._mode == "all" else None)

    def answer_streams(self, input: Stream) -> Iterator[Found]:
        """The answer streams at the last time point, as what they have beyond the input.

        In the mode `one` a single one; in the mode `cautious` what all have in common, if there is
        any.
        """
        found = self._solved(len(self._layers) - 1, input)
        if self._mode == "cautious":
            every = tuple(found)
            yield from [frozenset.intersection(*every)] if every else []
        else:
            yield from islice(found, 1 if self._mode == "one" else None)

    def _solved(self, place: int, input: Stream) -> Iterator[Found]:
        """The answer streams of the layers up to one; each cautious one stands for many."""
        if place < 0:
            yield frozenset()
            return
        is_cautious = self._mode == "cautious" and place == len(self._layers) - 1
        layer = self._layers[place]
        for below in self._solved(place - 1, input):
            control = self._clingo.Control(["--warn=none"])
            control.configuration.solve.models = 0
            if is_cautious:
                control.configuration.solve.enum_mode = "cautious"
            texts = [*layer.rules, *layer.input(input, below, self._tick)]
            control.add("base", [], "\n".join(texts))
            control.ground([("base", [])], context=layer.context(self._clingo))
            last: Found | None = None
            with control.solve(yield_=True) as models:
                for model in models:
                    last = frozenset(layer.concluded(model.symbols(atoms=True), input))
                    if not is_cautious:
                        yield last
            if is_cautious and last is not None:
                yield last

    def _output(self, found: Found, input: Stream) -> frozenset[Fact]:
        now = {fact for at, fact in found if at == input.last}
        now |= input.at(input.last) | set(self._program.background)
        return frozenset(filter(self._program.is_intensional, now))


def _furthest(program: LarsProgram, tick: int | None) -> int | None:
    """How many time points back a program looks at most; None: to the beginning."""
    furthest = 0
    for rule in program.rules:
        for part in rule.atoms():
            match part.window:
                case TimeWindow(span) | TumblingWindow(span):
                    furthest = max(furthest, span.points(tick, part.origin))
                case None if part.mode is Mode.NOW:
                    pass
                case _:
                    return None
    return furthest


def _clingo() -> Any:
    with needing("a program with several answer streams", "lars"):
        import clingo
    return clingo
