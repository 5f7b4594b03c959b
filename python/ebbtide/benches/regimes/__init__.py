"""Regimes: LUBM and other classics under OWL 2 RL, alone and against peers.

One file per measurement; every contender and every stream runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from ebbtide.benches.regimes.settings import Settings

if TYPE_CHECKING:
    from ebbtide.benches.results import Results, Say

__all__ = ["MEASUREMENTS", "Settings", "run"]

#: The files here, each with a function `measure_NAME`. They are imported when they are run: the
#: memory of a contender, whose process imports this package, should be its own.
MEASUREMENTS: Final = ("lubm", "rules", "large", "events", "chain", "clique")


def run(settings: Settings, names: Iterable[str], say: Say) -> Results:
    """Measure what is named, and say what is being measured."""
    from ebbtide.benches.results import Results

    results = Results("regimes", asdict(settings))
    with TemporaryDirectory(prefix="ebbtide-bench-") as folder:
        for name in names:
            measure = getattr(import_module(f"{__name__}.{name}"), f"measure_{name}")
            measure(settings, results, Path(folder), say)
    return results
