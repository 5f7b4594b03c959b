"""LUBM(N) under OWL 2 RL: processor time and peak memory, against reasonable.

owlrl is left out: what takes it minutes for one university would take it hours here.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

from ebbtide.benches.regimes.contenders import Job, Took, run
from ebbtide.benches.regimes.data import Data, generated
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing

OURS: Final = "ebbtide"
PEER: Final = "reasonable"
# Ours over theirs.
MEMORY: Final = Goal("at most", 0.2)
# Large files take long, and memory does not differ from run to run.
ROUNDS: Final = 3


def measure_large(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Both contenders on the same file."""
    data = generated(folder, settings.universities, settings.seed)
    names = (OURS, PEER) if settings.peers else (OURS,)
    rounds: dict[str, list[Took]] = {name: [] for name in names}
    for number in range(min(ROUNDS, settings.rounds)):
        for name in names:
            say(f"large: {data.name}, {name}, round {number + 1}")
            rounds[name].append(run(Job(name, str(data.path))))
    results.extend(_seconds(data, name, rounds) for name in names)
    results.extend(_megabytes(data, name, rounds) for name in reversed(names))


def _seconds(data: Data, name: str, rounds: dict[str, list[Took]]) -> Measurement:
    runs = rounds[name]
    timing = Timing.of([ran.reason for ran in runs])
    ours = median(ran.reason for ran in rounds[OURS])
    return Measurement(
        "large",
        {
            "contender": name,
            "data": data.name,
            "stated": data.triples,
            "triples": runs[0].facts,
            "hand_out": round(median(ran.hand_out for ran in runs), 3),
        },
        timing.median,
        "s to reason",
        mean=timing.mean,
        ratio=None if name == OURS else timing.median / ours,
        ratio_of=None if name == OURS else f"{name} / {OURS}",
    )


def _megabytes(data: Data, name: str, rounds: dict[str, list[Took]]) -> Measurement:
    peak = {each: median(ran.peak_bytes for ran in runs) for each, runs in rounds.items()}
    compared = name == OURS and PEER in peak
    return Measurement(
        "peak",
        {"contender": name, "data": data.name},
        peak[name] / 1e6,
        "MB at most",
        ratio=peak[OURS] / peak[PEER] if compared else None,
        ratio_of=f"{OURS} / {PEER}" if compared else None,
        goal=MEMORY if compared else None,
    )
