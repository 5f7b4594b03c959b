"""The paper's experiment: trees of isIn under the transitive rule, through a sliding window.

One file per measurement: share, overlap, window, floor, memory, ingest. Each is a function from
settings to measurements; `run` calls them one after another, in one process on one machine (only
`memory` has a process of its own, so that nobody else's memory is counted).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Final

from ebbtide.benches.imars.floor import measure_floor
from ebbtide.benches.imars.ingest import measure_ingest
from ebbtide.benches.imars.memory import measure_memory
from ebbtide.benches.imars.overlap import measure_overlap
from ebbtide.benches.imars.settings import Settings
from ebbtide.benches.imars.share import measure_share
from ebbtide.benches.imars.window import measure_window
from ebbtide.benches.results import Results, Say

__all__ = ["MEASUREMENTS", "Settings", "run"]

MEASUREMENTS: Final[Mapping[str, Callable[[Settings, Results, Say], None]]] = {
    "share": measure_share,
    "overlap": measure_overlap,
    "window": measure_window,
    "floor": measure_floor,
    "memory": measure_memory,
    "ingest": measure_ingest,
}


def run(settings: Settings, names: Iterable[str], say: Say) -> Results:
    """Measure what is named, and say what is being measured."""
    results = Results("imars", asdict(settings))
    for name in names:
        MEASUREMENTS[name](settings, results, say)
    return results
