"""The windows of a view, and what queries must have in common to share one.

Ranges are relative: queries whose windows differ by the same span on every stream share a view,
which is kept for the widest. What a narrower query sees are the facts that end more than the
difference later. With negation in the rules, with count windows or with rules that ask the time,
that would be wrong, so there the ranges themselves are part of the key.

A window that is looked at between its closes is as it was when it closed last. So its facts enter
at the first close at or after them, and leave at the first close that no longer sees them:

    #  at     enter          at + range   leave         closes are step apart
    #  ┼────────┼─────── ... ──┼────────────┼──►        k = range // step

They hold for k * step, or for one step more, depending on where between two closes they happen:
two streams of the engine, each with a window as long as that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ebbtide.languages.rspql import CountWindow, StreamWindow, TimeWindow
from ebbtide.program import TRIPLE, Atom, Program, Rule, Variable
from ebbtide.program.reserved import NOW
from ebbtide.queries.grid import Grid
from ebbtide.terms import IRI
from ebbtide.time import EARLIEST, LATEST, Count, Instant, Landmark, Sliding, Window


@dataclass(frozen=True, slots=True, order=True)
class Pane:
    """A window of a view: on a stream, the last `size` facts; or a range, told as what it is less
    than the widest one of the view.

    `closes` are the instants at which it moves, if it is looked at in between.
    """

    stream: str
    kind: Literal["time", "count"]
    size: int
    closes: Grid | None = None
    #: By how many facts a count window moves.
    step: int = 1

    @property
    def name(self) -> str:
        """What the stream of the engine is called."""
        moves = "" if self.closes is None else f" {self.closes.step} {self.closes.anchor}"
        return f"{self.stream} {self.kind} {self.size} {self.step}{moves}"

    @property
    def relation(self) -> str:
        """Where the facts of a window are that moves by several facts."""
        return f"window:{self.name}"

    @property
    def rule(self) -> Rule:
        """The rule that what such a window holds is seen."""
        terms = tuple(map(Variable, "spo"))
        return Rule(self.relation, (Atom(TRIPLE, terms),), (Atom(self.relation, terms),))

    def streams(self, widest: int) -> dict[str, Window]:
        """The streams of the engine, and their windows, in a view of a widest range."""
        if self.kind == "count":
            return {self.name: Count(self.size) if self.step == 1 else Landmark(EARLIEST)}
        if self.closes is None:
            return {self.name: Sliding(widest + self.size)}
        step = self.closes.step
        steps = (widest + self.size) // step
        return {f"{self.name}+{k}": Sliding(k * step) for k in (steps, steps + 1) if k > 0}

    def place(self, at: Instant, widest: int) -> tuple[str, Instant] | None:
        """The stream that a fact goes to, and when it enters; None if no close sees it."""
        if self.closes is None:
            return self.name, at
        enter = self.closes.at_or_after(at)
        steps = (self.closes.at_or_after(at + widest + self.size) - enter) // self.closes.step
        return (f"{self.name}+{steps}", enter) if steps else None


@dataclass(frozen=True, slots=True)
class ViewKey:
    """What queries must have in common to share a view.

    `range` is the widest range of the windows where ranges cannot be shared.
    """

    program: str
    statics: frozenset[IRI | None]
    windows: frozenset[Pane]
    range: int | None
    #: Whether its triples say when they happened, though its windows differ.
    is_dated: bool = False


def can_share(program: Program, windows: Sequence[StreamWindow]) -> bool:
    """Whether a narrower window is a filter on `until`."""
    return (
        all(isinstance(each.window, TimeWindow) for each in windows)
        and not any(rule.negations for rule in program.rules)
        and not program.operators
        and NOW not in program.relations
    )


def view_key(
    program: Program,
    statics: frozenset[IRI | None],
    windows: Mapping[StreamWindow, Grid | None],
) -> tuple[ViewKey, int]:
    """The key of the view that shows some windows in one graph, and their widest range.

    With each window goes when it moves, if it is looked at in between.
    """
    ranges = [each.window.range for each in windows if isinstance(each.window, TimeWindow)]
    widest = max(ranges, default=0)
    panes = frozenset(
        Pane(each.stream.value, "time", each.window.range - widest, closes)
        if isinstance(each.window, TimeWindow)
        else Pane(each.stream.value, "count", each.window.size, None, each.window.step)
        for each, closes in windows.items()
    )
    shared = can_share(program, list(windows)) and not any(windows.values())
    return ViewKey(program.fingerprint, statics, panes, None if shared else widest), widest


def window_grid(window: StreamWindow, t0: Instant | None) -> Grid | None:
    """When a window closes; None for one that moves with every fact."""
    match window.window:
        case CountWindow():
            return None
        case TimeWindow(range, step, "(]"):
            return Grid(step, t0 or 0, t0)
        case TimeWindow(range, step, _):
            # What holds everything that happened opens at t0, and closes whenever it is asked.
            close = (t0 or 0) + (range if range < LATEST else 0)
            return Grid(step, close, None if t0 is None else close)
