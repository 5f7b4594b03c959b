"""What every workload gives: background facts, and a stream of facts, each with its instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from ebbtide.program import Fact
from ebbtide.terms import IRI
from ebbtide.time import Instant

TimedFacts: TypeAlias = Iterator[tuple[Fact, Instant]]

EX: Final = "http://example/"


class WorkloadError(ValueError):
    """A parameter of a workload that cannot be."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Background facts and a stream; each call starts from the beginning."""

    background: Callable[[], Iterator[Fact]]
    stream: Callable[[], TimedFacts]


def name(local: str) -> IRI:
    """An IRI in the workloads' namespace."""
    return IRI(EX + local)


def at_least(parameter: str, value: float, least: float) -> None:
    """Refuse a parameter that is too small."""
    if value < least:
        raise WorkloadError(f"{parameter} must be at least {least}, not {value}")
