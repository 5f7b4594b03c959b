"""Continuous queries: kept or asked anew, shared or apart, and how much a core sustains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Final

from ebbtide.benches.queries.settings import Settings
from ebbtide.benches.queries.sharing import measure_sharing
from ebbtide.benches.queries.throughput import measure_throughput
from ebbtide.benches.queries.windows import measure_windows
from ebbtide.benches.results import Results, Say

__all__ = ["MEASUREMENTS", "Settings", "run"]

MEASUREMENTS: Final[Mapping[str, Callable[[Settings, Results, Say], None]]] = {
    "windows": measure_windows,
    "sharing": measure_sharing,
    "throughput": measure_throughput,
}


def run(settings: Settings, names: Iterable[str], say: Say) -> Results:
    """Measure what is named, and say what is being measured."""
    results = Results("queries", asdict(settings))
    for name in names:
        MEASUREMENTS[name](settings, results, say)
    return results
