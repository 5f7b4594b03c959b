"""Resident memory while ever-new terms stream through a window of fixed size.

The stream runs in a process of its own (`resident`), so that no other measurement's memory is
counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from ebbtide.benches.imars.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say

# At the end, against what it was after a tenth of the stream.
GROWTH: Final = Goal("at most", 1.1)
EARLY: Final = 10

RESIDENT: Final = "ebbtide.benches.imars.resident"


def measure_memory(settings: Settings, results: Results, say: Say) -> None:
    """Resident memory at the end of the stream, and over it."""
    total = settings.window * settings.turns
    samples: list[tuple[float, float]] = []
    for facts, resident in _samples(settings):
        if len(samples) % (settings.turns // EARLY) == 0:
            say(f"memory: {facts:,} of {total:,} facts, {resident / 1e6:,.0f} MB")
        samples.append((facts, resident))
    early = next(resident for facts, resident in samples if facts >= total / EARLY)
    final = samples[-1][1]
    results.series["memory"] = samples
    results.add(
        Measurement(
            "memory",
            {"window": settings.window, "stated": total, "early_mb": round(early / 1e6, 1)},
            final / 1e6,
            "MB",
            ratio=final / early,
            ratio_of=f"after {total:,} / after {total // EARLY:,} facts",
            goal=GROWTH,
        )
    )


def _samples(settings: Settings) -> Iterator[tuple[int, int]]:
    command = [sys.executable, "-m", RESIDENT, json.dumps(asdict(settings))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            facts, resident = line.split("\t")
            yield int(facts), int(resident)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
