"""What can be set: how large batches are, and how many are timed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ebbtide.testing.workloads.workload import at_least


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes in facts.

    `batches` large ones of `large` facts, and `small_batches` of `small`; the first `warm` of each
    are not timed. `parsed` lines are parsed in three ways; closures of chains with `closures` facts
    are made by joins and by the kernel; a window of `window` facts is brought back.
    """

    large: int = 100_000
    batches: int = 8
    small: int = 100
    small_batches: int = 120
    warm: int = 3
    parsed: int = 1_000_000
    closures: tuple[int, ...] = (100_000, 1_000_000)
    window: int = 1_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        at_least("batches", self.batches, self.warm + 1)
        at_least("small_batches", self.small_batches, self.warm + 1)


FULL: Final = Settings()
# Seconds instead of minutes: it shows that everything works, and no more.
QUICK: Final = Settings(
    large=2_000,
    batches=4,
    small_batches=6,
    warm=1,
    parsed=5_000,
    closures=(2_000,),
    window=5_000,
)
