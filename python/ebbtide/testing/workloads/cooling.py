"""The water of a cooling system: random temperature readings `temp(V)`, in whole degrees.

The stream of the LARS program that tells steam from liquid and raises the alarm (Laser, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from ebbtide.testing.workloads.atoms import AtomStream, GroundAtom
from ebbtide.testing.workloads.workload import at_least
from ebbtide.time import Instant

# Below 1 it freezes, from 100 on it is steam, from 150 on very hot.
COLDEST: Final = -20
HOTTEST: Final = 180


def cooling(*, rate: int = 200, ticks: int = 100, start: Instant = 0, seed: int = 0) -> AtomStream:
    """`rate` readings at each of `ticks` time points from `start` on.

    >>> [(at, len(atoms)) for at, atoms in cooling(rate=3, ticks=2, start=5)()]
    [(5, 3), (6, 3)]
    """
    at_least("rate", rate, 0)
    at_least("ticks", ticks, 0)

    def stream() -> Iterator[tuple[Instant, list[GroundAtom]]]:
        random = Random(seed)
        for tick in range(start, start + ticks):
            readings = (random.randint(COLDEST, HOTTEST) for _ in range(rate))
            yield tick, [GroundAtom("temp", (reading,)) for reading in readings]

    return stream
