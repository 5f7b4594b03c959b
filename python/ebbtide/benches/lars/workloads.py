"""The five workloads of the paper's section 4: programs, their streams, and what Laser takes.

diamond    q(A,B) if p(A,B) in [n]: every atom comes once
box        q(A,B) if always p(A,B) in [n]: the same atoms again and again, but for one in a hundred
join       q(A,C) if p(A,B) in [n] and p(B,C) in [n]
rules      ten such rules, each with a head of its own
cooling    the program of Fig. 4 over random temperatures
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from ebbtide.languages.lars import LarsProgram, parse_lars
from ebbtide.program import Fact
from ebbtide.terms import IRI, to_term
from ebbtide.testing.workloads.atoms import AtomStream
from ebbtide.testing.workloads.cooling import cooling
from ebbtide.testing.workloads.laser import laser
from ebbtide.time import Instant

DIAMOND: Final = "q(A,B) :- p(A,B) in [N]."
BOX: Final = "q(A,B) :- always p(A,B) in [N]."
JOIN: Final = "q(A,C) :- p(A,B) in [N], p(B,C) in [N]."
COOLING: Final = """
    @T steam(V)  :- @T temp(V) in [N], V >= 100.
    @T liquid(V) :- @T temp(V) in [N], V >= 1, V < 100.
    @T isSteam   :- @T steam(V) in [N].
    @T isLiquid  :- @T liquid(V) in [N].
    alarm        :- always isSteam in [N].
    normal       :- always isLiquid in [N].
    freeze       :- not alarm, not normal.
    veryHot(T)   :- @T steam(V) in [N], V >= 150.
    veryCold(T)  :- @T liquid(V) in [N], V = 1.
"""


@dataclass(frozen=True, slots=True)
class Workload:
    """A program with a window N, its input predicate, and Laser's microseconds by window."""

    name: str
    text: str
    predicate: str
    arity: int
    laser: dict[int, float]

    def program(self, window: int) -> LarsProgram:
        """The program with a window of that size."""
        return parse_lars(self.text.replace("N", str(window)))

    def stream(self, rate: int, ticks: int, seed: int) -> AtomStream:
        """Its input: so many atoms at each of so many time points from 0 on."""
        if self.name == "cooling":
            return cooling(rate=rate, ticks=ticks, seed=seed)
        kind = "join" if self.name == "rules" else self.name
        return laser(kind=kind, rate=rate, ticks=ticks, seed=seed)

    @property
    def columns(self) -> list[str]:
        """The names of the columns of terms."""
        return [f"c{place}" for place in range(self.arity)]


#: The public Laser engine under PyPy, full output, microseconds an input atom, for some windows.
WORKLOADS: Final = (
    Workload("diamond", DIAMOND, "p", 2, {1: 4, 20: 13, 80: 45}),
    Workload("box", BOX, "p", 2, {1: 5, 20: 9, 80: 24}),
    Workload("join", JOIN, "p", 2, {1: 14, 20: 40, 80: 115}),
    Workload(
        "rules",
        "\n".join(JOIN.replace("q(", f"q{number}(") for number in range(10)),
        "p",
        2,
        {1: 140, 20: 400, 80: 1_300},
    ),
    Workload("cooling", COOLING, "temp", 1, {1: 10, 20: 20, 80: 42}),
)


def facts(stream: AtomStream) -> Iterator[tuple[Instant, list[Fact]]]:
    """A stream as facts."""
    for at, atoms in stream():
        yield at, [Fact(atom.predicate, tuple(map(_term, atom.arguments))) for atom in atoms]


def tables(
    stream: AtomStream, batch: int, columns: list[str]
) -> Iterator[tuple[Instant, int, Any]]:
    """A stream as Arrow tables of `batch` time points: the last one, the rows, the table.

    Whole numbers are numbers, texts are in dictionaries, one a table: as columnar files have them.
    """
    import pyarrow as pa

    points = stream()
    while chunk := list(islice(points, batch)):
        times = [at for at, atoms in chunk for _ in atoms]
        rows = [atom.arguments for _, atoms in chunk for atom in atoms]
        arrays = [pa.array(times, pa.int64())]
        arrays += [_column([row[place] for row in rows]) for place in range(len(columns))]
        yield chunk[-1][0], len(rows), pa.table(arrays, names=["t", *columns])


def _column(arguments: list[str | int]) -> Any:
    import pyarrow as pa

    if all(isinstance(argument, int) for argument in arguments):
        return pa.array(arguments, pa.int64())
    return pa.array([_term(argument).text for argument in arguments]).dictionary_encode()


def _term(argument: str | int) -> Any:
    return IRI(argument) if isinstance(argument, str) else to_term(argument)
