"""What can be set: how much data, how often, and whether peers run too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ebbtide.testing.workloads.lubm.queries import QUERIES
from ebbtide.testing.workloads.workload import at_least


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes of the measurements.

    `universities` is the N of the generated LUBM(N); every contender runs `rounds` times, but the
    slow owlrl once. The cost of rules is measured on so many `departments`. `queries` are streamed
    through one by one. `chains` are the lengths of the subclass chains. Cliques of equal terms are
    smaller under the rules as they are written, whose cost is cubic.
    """

    universities: int = 5
    rounds: int = 5
    departments: int = 15
    queries: tuple[str, ...] = tuple(QUERIES)
    chains: tuple[int, ...] = (1_000, 10_000, 100_000)
    cliques: tuple[int, ...] = (100, 300, 1_000)
    cliques_as_written: tuple[int, ...] = (50, 100, 200)
    peers: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        at_least("universities", self.universities, 1)
        at_least("rounds", self.rounds, 1)
        at_least("departments", self.departments, 1)
        for chain in self.chains:
            at_least("chain", chain, 1)
        for clique in (*self.cliques, *self.cliques_as_written):
            at_least("clique", clique, 2)


FULL: Final = Settings()
# A first number in half a minute, not a measurement.
QUICK: Final = Settings(
    universities=1,
    rounds=1,
    departments=1,
    queries=("q1", "q9"),
    chains=(100, 1_000),
    cliques=(10, 100),
    cliques_as_written=(10, 20),
)
