"""What can be set: how large batches are, and how many are timed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ebbtide.testing.workloads.workload import at_least


@dataclass(frozen=True, slots=True)
class Rounds:
    """Batches of `facts` facts: `rounds` runs, of `batches` timed after `warm` that are not."""

    facts: int
    rounds: int
    batches: int
    warm: int

    def __post_init__(self) -> None:
        for name in ("facts", "rounds", "batches"):
            at_least(name, getattr(self, name), 1)


@dataclass(frozen=True, slots=True)
class Burst:
    """Facts a second that can be sustained, for so many seconds, and `times` as many for a few."""

    rate: int
    before: int
    seconds: float
    times: int = 100

    @property
    def facts(self) -> int:
        """How many there are in the burst."""
        return round(self.times * self.rate * self.seconds)


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes in facts.

    `parsed` lines are parsed in three ways; closures of chains with `closures` facts are made by
    joins and by the kernel; a window of `window` facts is brought back; a `burst` is caught up
    with.
    """

    large: Rounds = Rounds(100_000, rounds=5, batches=2, warm=1)
    small: Rounds = Rounds(100, rounds=6, batches=20, warm=3)
    # Facts are cut by their terms, as is proved for the rules.
    shards: tuple[Rounds, ...] = (
        # The window has five batches, and an executor, of which there may be two, compiles its code
        # for two million facts. Short rounds: what disturbs one cluster disturbs the other, too.
        Rounds(40_000, rounds=12, batches=2, warm=100),
        Rounds(100_000, rounds=12, batches=2, warm=40),
        Rounds(400_000, rounds=6, batches=2, warm=10),
    )
    # Facts are cut by a declared key, their departments.
    keyed: Rounds = Rounds(100_000, rounds=12, batches=2, warm=40)
    parsed: int = 1_000_000
    closures: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)
    window: int = 1_000_000
    burst: Burst = Burst(5_000, before=40, seconds=1.0)
    seed: int = 0


FULL: Final = Settings()
# Seconds instead of minutes: it shows that everything works, and no more.
QUICK: Final = Settings(
    large=Rounds(2_000, rounds=1, batches=1, warm=0),
    small=Rounds(100, rounds=1, batches=2, warm=0),
    shards=(Rounds(2_000, rounds=1, batches=4, warm=4),),
    keyed=Rounds(2_000, rounds=1, batches=1, warm=1),
    parsed=5_000,
    closures=(2_000,),
    window=5_000,
    burst=Burst(400, before=2, seconds=0.1),
)
