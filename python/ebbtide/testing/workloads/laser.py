"""The streams of Laser's single-rule programs (its section 4): atoms `p(A,B)` at a steady rate.

diamond    q(A,B) if p(A,B) at some point of the window: every atom comes once
box        q(A,B) if p(A,B) at every point of the window: the same atoms come again and again
join       q(A,C) if p(A,B) and p(B,C): every atom comes once and meets the one before it
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from ebbtide.testing.workloads.atoms import AtomStream, GroundAtom
from ebbtide.testing.workloads.workload import WorkloadError, at_least
from ebbtide.time import Instant

# The chance of an atom of `box` to be missing at a time point, so that some runs break.
MISSING: Final = 0.01


def laser(
    *, kind: str = "diamond", rate: int = 200, ticks: int = 100, start: Instant = 0, seed: int = 0
) -> AtomStream:
    """`rate` atoms at each of `ticks` time points from `start` on; for `box` about as many.

    >>> for at, atoms in laser(kind="join", rate=2, ticks=2)():
    ...     print(at, *atoms)
    0 p(n0,n1) p(n1,n2)
    1 p(n2,n3) p(n3,n4)
    """
    at_least("rate", rate, 0)
    at_least("ticks", ticks, 0)
    if kind not in KINDS:
        raise WorkloadError(f"kind is one of {', '.join(KINDS)}, not {kind}")
    atoms = KINDS[kind]

    def stream() -> Iterator[tuple[Instant, list[GroundAtom]]]:
        random = Random(seed)
        for tick in range(ticks):
            yield start + tick, [GroundAtom("p", pair) for pair in atoms(tick, rate, random)]

    return stream


def _diamond(tick: int, rate: int, random: Random) -> Iterator[tuple[str, str]]:
    for number in range(tick * rate, (tick + 1) * rate):
        yield f"a{number}", f"b{random.randrange(rate)}"


def _box(tick: int, rate: int, random: Random) -> Iterator[tuple[str, str]]:
    for number in range(rate):
        if random.random() >= MISSING:
            yield f"a{number}", f"b{number}"


def _join(tick: int, rate: int, random: Random) -> Iterator[tuple[str, str]]:
    for number in range(tick * rate, (tick + 1) * rate):
        yield f"n{number}", f"n{number + 1}"


KINDS: Final[dict[str, Callable[[int, int, Random], Iterator[tuple[str, str]]]]] = {
    "diamond": _diamond,
    "box": _box,
    "join": _join,
}
