"""What can be set: the windows, the churn, and whether peers run too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ebbtide.testing.workloads.workload import at_least


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes in triples.

    A tick brings `churn` triples to each of the `windows` and takes as many; `ticks` of them are
    timed. SPARQL is asked anew, by ourselves and by peers, for windows up to their limits.
    `sharing` queries of different ranges look at one stream. `streamed` triples are taken for the
    throughput.
    """

    windows: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    churn: int = 500
    ticks: int = 15
    rdflib_window: int = 10_000
    pyoxigraph_window: int = 100_000
    sharing: int = 100
    shared_window: int = 20_000
    streamed: int = 200_000
    peers: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        at_least("churn", self.churn, 1)
        at_least("ticks", self.ticks, 1)
        for window in (*self.windows, self.shared_window):
            at_least("window", window, self.churn)


FULL: Final = Settings()
# Seconds instead of minutes: it shows that everything works, and no more.
QUICK: Final = Settings(
    windows=(500, 2_000),
    churn=100,
    ticks=3,
    rdflib_window=500,
    pyoxigraph_window=2_000,
    sharing=10,
    shared_window=1_000,
    streamed=3_000,
)
