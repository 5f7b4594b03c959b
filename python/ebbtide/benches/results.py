"""The one results format: where and how a bench ran, and what it measured.

    Results       bench, command, parameters, machine, versions, started, seconds
      Measurement name, parameters, value, unit, mean, ratio, goal, passed

A goal speaks of the ratio where there is one, and of the value otherwise. A measurement without a
goal has neither passed nor failed. A value of None is one that does not exist, as the crossing
point of two lines that do not cross.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any, Final, Literal, TypeAlias

import psutil

FORMAT: Final = 1
LIBRARIES: Final = ("ebbtide", "pyarrow", "matplotlib", "psutil")

Parameter: TypeAlias = str | int | float
#: Told what is being measured.
Say: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Goal:
    """What a number should be.

    >>> print(Goal("at least", 5)), Goal("at least", 5).met(7.2), Goal("at most", 1.5).met(1.6)
    at least 5
    (None, True, False)
    """

    relation: Literal["at least", "at most"]
    bound: float

    def met(self, number: float) -> bool:
        """Whether the number is what it should be."""
        return number >= self.bound if self.relation == "at least" else number <= self.bound

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:,.10g}"


@dataclass(frozen=True, slots=True)
class Timing:
    """Many ticks as two numbers: the typical one, and the mean, which the rare slow ones move.

    >>> Timing.of([1.0, 1.0, 4.0])
    Timing(median=1.0, mean=2.0)
    """

    median: float
    mean: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Timing:
        """The timing of at least one tick."""
        return cls(median(values), fmean(values))


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number, what it is compared with, and what it should be."""

    name: str
    parameters: Mapping[str, Parameter]
    value: float | None
    unit: str
    mean: float | None = None
    ratio: float | None = None
    ratio_of: str | None = None
    goal: Goal | None = None

    @property
    def judged(self) -> float | None:
        """The number that the goal speaks of."""
        return self.value if self.ratio is None else self.ratio

    @property
    def passed(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.goal is None:
            return None
        return self.judged is not None and self.goal.met(self.judged)

    def as_json(self) -> dict[str, Any]:
        """As it stands in results.json."""
        goal = self.goal and {"relation": self.goal.relation, "bound": self.goal.bound}
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "value": self.value,
            "unit": self.unit,
            "mean": self.mean,
            "ratio": self.ratio,
            "ratio_of": self.ratio_of,
            "goal": goal,
            "passed": self.passed,
        }


@dataclass(slots=True)
class Results:
    """What one run of a bench found. `series` holds the lines that only a plot shows."""

    bench: str
    parameters: Mapping[str, Any]
    notes: list[str] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    series: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=lambda: _machine())
    versions: Mapping[str, str] = field(default_factory=lambda: _versions())
    command: str = field(default_factory=lambda: _command())
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: float = 0.0
    _began: float = field(default_factory=perf_counter)

    def extend(self, measurements: Iterable[Measurement]) -> None:
        """Take measurements in, and note the time that has passed."""
        self.measurements += measurements
        self.seconds = perf_counter() - self._began

    def add(self, measurement: Measurement) -> None:
        """Take one measurement in."""
        self.extend((measurement,))

    def named(self, name: str) -> list[Measurement]:
        """The measurements of one name, in the order they were made."""
        return [each for each in self.measurements if each.name == name]

    @property
    def names(self) -> list[str]:
        """The names of the measurements, each once."""
        return list(dict.fromkeys(each.name for each in self.measurements))

    @property
    def goals(self) -> list[Measurement]:
        """The measurements that have a goal."""
        return [each for each in self.measurements if each.goal is not None]

    def as_json(self) -> dict[str, Any]:
        """As it stands in results.json."""
        return {
            "format": FORMAT,
            "bench": self.bench,
            "command": self.command,
            "parameters": dict(self.parameters),
            "notes": self.notes,
            "machine": dict(self.machine),
            "versions": dict(self.versions),
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 1),
            "measurements": [each.as_json() for each in self.measurements],
            "series": self.series,
        }


def _machine() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        # Timings on a busy machine are worth less.
        "load_at_start": round(psutil.getloadavg()[0], 2),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def _command() -> str:
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
