"""What can be set: the sizes of the experiment, and how long to look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ebbtide.testing.workloads import WorkloadError
from ebbtide.testing.workloads.workload import at_least

# The share at which the paper's goals are set, and the one below which naive must not win.
GOAL_SHARE: Final = 0.01
HALF: Final = 0.5

SHARES: Final = (0.001, 0.003, GOAL_SHARE, 0.03, 0.1, 0.3, HALF, 1.0)


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes in facts.

    `window` is the window of share, memory and ingest; window and floor look at a tenth of it, at
    itself and at ten times it. `ticks` of naive are timed per share, `steady_ticks` per window, and
    `turns` windows full of facts stream through memory.
    """

    window: int = 100_000
    background: int = 10_000
    shares: tuple[float, ...] = SHARES
    depth: int = 4
    fanout: int = 3
    seed: int = 0
    ticks: int = 15
    steady_ticks: int = 500
    turns: int = 100

    def __post_init__(self) -> None:
        at_least("window", self.window, 1_000)
        at_least("background", self.background, 0)
        for share in self.shares:
            if not 0 < share <= 1 or share * self.window < 1:
                raise WorkloadError(
                    f"a share of {share:g} replaces no fact or too many of {self.window:,} facts"
                )

    @property
    def windows(self) -> tuple[int, int, int]:
        """The windows that are compared."""
        return self.window // 10, self.window, self.window * 10

    @property
    def churn(self) -> int:
        """The facts in and out per tick where that is fixed: 1,000 for a window of 100,000."""
        return self.window // 100


FULL: Final = Settings()
# Seconds instead of minutes: it shows that everything works, and no more.
QUICK: Final = Settings(window=4_000, background=400, ticks=3, steady_ticks=20, turns=20)
