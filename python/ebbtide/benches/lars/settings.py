"""What can be set: windows, rates, and how long to look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ebbtide.testing.workloads.workload import at_least


@dataclass(frozen=True, slots=True)
class Settings:
    """Windows and rates in time points and atoms a time point.

    Once a window is full, `ticks` time points are timed, in Arrow batches of `batch` time points,
    in so many `rounds`. One by one as Python objects, only the first rate is measured. `live` facts
    hold while ticks without any change are timed. `laser` is the folder of Laser, which
    `pypy` runs; without one, its reported times stand for it.
    """

    windows: tuple[int, ...] = (1, 10, 20, 40, 80)
    rates: tuple[int, ...] = (200, 400, 800)
    ticks: int = 2_000
    batch: int = 20
    rounds: int = 10
    live: int = 10_000
    seed: int = 0
    laser: str = ""
    pypy: str = "pypy3"

    def __post_init__(self) -> None:
        for window in self.windows:
            at_least("window", window, 1)
        for rate in self.rates:
            at_least("rate", rate, 1)
        at_least("batch", self.batch, 1)
        at_least("rounds", self.rounds, 1)
        at_least("ticks", self.ticks, self.batch)


FULL: Final = Settings()
# Seconds instead of minutes: it shows that everything works, and no more.
QUICK: Final = Settings(windows=(1, 5), rates=(20,), ticks=8, batch=4, rounds=2, live=100)
