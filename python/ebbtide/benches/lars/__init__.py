"""LARS: the workloads of the paper's section 4, in microseconds an input atom, output included.

One file per measurement: arrow, objects, batches, quiet, floor; and laser, the peer beside arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Final

from ebbtide.benches.lars.arrow import measure_arrow
from ebbtide.benches.lars.batches import measure_batches
from ebbtide.benches.lars.floor import measure_floor
from ebbtide.benches.lars.grid import grid
from ebbtide.benches.lars.objects import measure_objects
from ebbtide.benches.lars.quiet import measure_quiet
from ebbtide.benches.lars.settings import Settings
from ebbtide.benches.results import Results, Say

__all__ = ["MEASUREMENTS", "Settings", "grid", "run"]

MEASUREMENTS: Final[Mapping[str, Callable[[Settings, Results, Say], None]]] = {
    "arrow": measure_arrow,
    "objects": measure_objects,
    "batches": measure_batches,
    "quiet": measure_quiet,
    "floor": measure_floor,
}


def run(settings: Settings, names: Iterable[str], say: Say) -> Results:
    """Measure what is named, and say what is being measured."""
    results = Results("lars", asdict(settings))
    for name in names:
        MEASUREMENTS[name](settings, results, say)
    return results
