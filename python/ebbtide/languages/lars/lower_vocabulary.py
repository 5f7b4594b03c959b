"""The vocabulary of a lowered LARS program: its relations, streams and clocks, each made once.

Shape: a relation by its name, which tells what its facts say (`lower.py`), with its arity; a stream
by the name of its window.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from ebbtide.languages.lars.analysis import circular, copies, heads, reach
from ebbtide.languages.lars.formula import LarsProgram
from ebbtide.languages.lars.lowered import EVER, NOW, Clock, Lowered, Meaning
from ebbtide.program import TRIPLE, Argument, Atom, BodyPart, Fact, Operator, Origin, Rule, Variable
from ebbtide.program.origin import IN_PYTHON
from ebbtide.time import EARLIEST, Instant, Landmark, Sliding, Window

T: Final = Variable("T")
U: Final = Variable("U")
N: Final = Variable("N")
M: Final = Variable("M")


class Vocabulary:
    """What a program speaks of, and what was made of it so far."""

    def __init__(self, program: LarsProgram, start: Instant, step: int, tick: int | None) -> None:
        self._lars = program
        self._start = start
        self._step = step
        self._tick = tick
        #: The first time point at or after 0, on their grid: a pane begins there.
        self._pane = start % step
        self._arities = {TRIPLE: 3, **program.arities()}
        self._widest = max(self._arities.values())
        self._plain = heads(rule for rule in program.rules if rule.at is None)
        self._timed = heads(rule for rule in program.rules if rule.at is not None)
        self._background = {fact.relation for fact in program.background}
        self._reach = reach(program, tick)
        self._circular = circular(program)
        self._copies = copies(program)
        #: For each box by rules, what it is about.
        self._chained: dict[str, list[tuple[Argument, ...]]] = defaultdict(list)
        self._rules: list[Rule] = []
        #: Where the rule begins that is being lowered.
        self._place: Origin = IN_PYTHON
        self._operators: list[Operator] = []
        self._relations: dict[str, int] = {}
        self._out = Lowered()

    def _clock(self, window: str) -> str:
        if window == NOW:
            self._stream(NOW, Sliding(self._step))
        elif window == EVER:
            self._stream(EVER, Landmark(EARLIEST))
        return self._new_clock(f"clock {window}", 1, Clock(window, f"clock {window}"))

    def _new_clock(self, name: str, arity: int, clock: Clock) -> str:
        name, is_new = self._new(name, arity)
        self._mean(name, "clock", "")
        if is_new:
            self._out.clocks.append(clock)
        return name

    def _imply(self, head: Atom, *body: BodyPart) -> None:
        """A rule that nobody wrote; it comes from the one that is being lowered."""
        self._rules.append(Rule(head.relation, (head,), body, self._place))

    def _known(self, predicate: str) -> str:
        """The background facts of a predicate."""
        name, is_new = self._new(f"{predicate} known", self._arities[predicate])
        self._mean(name, "known", predicate)
        if is_new:
            self._add_background(predicate, name)
        return name

    def _add_background(self, predicate: str, relation: str) -> None:
        for fact in self._lars.background:
            if fact.relation == predicate:
                self._out.background.append(Fact(relation, fact.terms))

    def _variables(self, predicate: str) -> tuple[Variable, ...]:
        return tuple(Variable(f"x{place}") for place in range(self._arities[predicate]))

    def _relation(self, name: str, arity: int) -> str:
        return self._new(name, arity)[0]

    def _new(self, name: str, arity: int) -> tuple[str, bool]:
        is_new = name not in self._relations
        self._relations[name] = arity
        return name, is_new

    def _mean(self, name: str, kind: str, predicate: str, window: str = "") -> None:
        self._out.meanings[name] = Meaning(kind, predicate, window)

    def _stream(self, name: str, window: Window) -> str:
        self._out.streams[name] = window
        return name
