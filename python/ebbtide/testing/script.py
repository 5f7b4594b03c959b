"""Stream literals: what happens to an engine, in order, written as one short text.

    1 isIn(A, B)            the fact happens at 1, on the stream `default`
    1 cars: isIn(A, B)      ... on the stream `cars`
    3 -isIn(A, B)           it is retracted at 3
    always isIn(B, C)       a background fact
    tick 3    tick 1..14    the engine evaluates a tick, or one after the other

Items stand in the order in which they are told to the engine, so a text is also a story: what
arrives before which tick, and in which order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.engines.protocol import Delta, Engine
from ebbtide.program import Fact
from ebbtide.testing.notation import Reader, show
from ebbtide.time import Instant


@dataclass(frozen=True, slots=True)
class Push:
    """A fact happens."""

    fact: Fact
    at: Instant
    stream: str = "default"

    def __str__(self) -> str:
        stream = "" if self.stream == "default" else f"{self.stream}: "
        return f"{self.at} {stream}{show(self.fact)}"


@dataclass(frozen=True, slots=True)
class Retract:
    """A fact is taken back."""

    fact: Fact
    at: Instant

    def __str__(self) -> str:
        return f"{self.at} -{show(self.fact)}"


@dataclass(frozen=True, slots=True)
class Add:
    """A background fact is stated."""

    fact: Fact

    def __str__(self) -> str:
        return f"always {show(self.fact)}"


@dataclass(frozen=True, slots=True)
class Tick:
    """The engine evaluates a tick."""

    at: Instant

    def __str__(self) -> str:
        return f"tick {self.at}"


Happening: TypeAlias = Push | Retract | Add | Tick


def stream(text: str, source: str = "<text>", first_line: int = 1) -> list[Happening]:
    """Read a stream literal.

    >>> for happening in stream("1 isIn(A,B)  2 cars: isIn(B,C)  tick 1..2"):
    ...     print(happening)
    1 isIn(A, B)
    2 cars: isIn(B, C)
    tick 1
    tick 2
    """
    reader = Reader(text, source, first_line)
    happenings: list[Happening] = []
    while not reader.at_end():
        happenings += _read(reader)
    return happenings


def _read(reader: Reader) -> Iterable[Happening]:
    if reader.accept("always"):
        return [Add(reader.fact())]
    if reader.accept("tick"):
        first = reader.integer()
        last = reader.integer() if reader.accept("..") else first
        return [Tick(at) for at in range(first, last + 1)]
    at = reader.integer()
    if reader.accept("-"):
        return [Retract(reader.fact(), at)]
    fact = reader.fact()
    if not fact.terms and reader.accept(":"):
        return [Push(reader.fact(), at, stream=fact.relation)]
    return [Push(fact, at)]


def play(engine: Engine, happenings: Iterable[Happening]) -> list[Delta]:
    """Tell an engine what happens; the delta of every tick."""
    deltas: list[Delta] = []
    for happening in happenings:
        match happening:
            case Push(fact, at, name):
                engine.push(fact, at, name)
            case Retract(fact, at):
                engine.retract(fact, at)
            case Add(fact):
                engine.add(fact)
            case Tick(at):
                deltas.append(engine.advance(at))
    return deltas
