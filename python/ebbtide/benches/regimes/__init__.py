"""Regimes: LUBM and other classics under OWL 2 RL, alone and against peers.

One file per measurement; every contender and every stream runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ebbtide.benches.imars.settings import Say
from ebbtide.benches.regimes.chain import measure_chain
from ebbtide.benches.regimes.clique import measure_clique
from ebbtide.benches.regimes.events import measure_events
from ebbtide.benches.regimes.large import measure_large
from ebbtide.benches.regimes.lubm import measure_lubm
from ebbtide.benches.regimes.rules import measure_rules
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Results

__all__ = ["MEASUREMENTS", "Settings", "run"]

MEASUREMENTS: Final[Mapping[str, Callable[[Settings, Results, Path, Say], None]]] = {
    "lubm": measure_lubm,
    "rules": measure_rules,
    "large": measure_large,
    "events": measure_events,
    "chain": measure_chain,
    "clique": measure_clique,
}


def run(settings: Settings, names: Iterable[str], say: Say) -> Results:
    """Measure what is named, and say what is being measured."""
    results = Results("regimes", asdict(settings))
    with TemporaryDirectory(prefix="ebbtide-bench-") as folder:
        for name in names:
            MEASUREMENTS[name](settings, results, Path(folder), say)
    return results
