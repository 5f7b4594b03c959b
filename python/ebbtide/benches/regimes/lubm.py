"""LUBM(1) under OWL 2 RL: processor time from loaded triples to all that follow.

Rounds are interleaved, so that a busy minute of the machine meets everybody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from ebbtide.benches.regimes.closure import compare
from ebbtide.benches.regimes.contenders import PEERS, Job, Took, run
from ebbtide.benches.regimes.data import Data, lubm_1
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing

OURS: Final = "ebbtide"
FASTER_THAN: Final = {"reasonable": Goal("at least", 5), "owlrl": Goal("at least", 200)}
# A contender that takes minutes runs once.
ONCE: Final = frozenset({"owlrl"})


def measure_lubm(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Every contender on the same file, and what each derived."""
    data = lubm_1(folder, settings.seed)
    names = (OURS, *PEERS) if settings.peers else (OURS,)
    closures = {name: folder / f"closure-{name}.nt" for name in names}
    rounds: dict[str, list[Took]] = defaultdict(list)
    for number in range(settings.rounds):
        for name in names:
            if number and name in ONCE:
                continue
            say(f"lubm: {data.name}, {name}, round {number + 1} of {settings.rounds}")
            closure = "" if number else str(closures[name])
            rounds[name].append(run(Job(name, str(data.path), closure)))
    results.extend(_measurements(data, rounds))
    results.add(_wanted(settings, data, median(ran.reason for ran in rounds[OURS]), say))
    results.extend(compare(closures, OURS))


def _measurements(data: Data, rounds: dict[str, list[Took]]) -> Iterator[Measurement]:
    ours = median(ran.reason for ran in rounds[OURS])
    for name, runs in rounds.items():
        timing = Timing.of([ran.reason for ran in runs])
        yield Measurement(
            "lubm",
            {
                "contender": name,
                "data": data.name,
                "rounds": len(runs),
                "load": _seconds(ran.load for ran in runs),
                "hand_out": _seconds(ran.hand_out for ran in runs),
                "peak_mb": round(median(ran.peak_bytes for ran in runs) / 1e6),
                "triples": runs[0].facts,
            },
            timing.median,
            "s to reason",
            mean=timing.mean,
            ratio=None if name == OURS else timing.median / ours,
            ratio_of=None if name == OURS else f"{name} / {OURS}",
            goal=FASTER_THAN.get(name),
        )
        if name == "reasonable":
            yield _alone(name, runs, ours)


def _wanted(settings: Settings, data: Data, everything: float, say: Say) -> Measurement:
    """Only what the queries can see is wanted, against everything."""
    runs = []
    for number in range(settings.rounds):
        say(f"lubm: {data.name}, the queries alone, round {number + 1} of {settings.rounds}")
        runs.append(run(Job(OURS, str(data.path), wanted=True)))
    timing = Timing.of([ran.reason for ran in runs])
    return Measurement(
        "wanted",
        {"contender": OURS, "data": data.name, "rounds": len(runs), "triples": runs[0].facts},
        timing.median,
        "s to reason, for the queries alone",
        mean=timing.mean,
        ratio=everything / timing.median,
        ratio_of="everything / the queries alone",
        goal=Goal("at least", 1),
    )


def _alone(name: str, runs: list[Took], ours: float) -> Measurement:
    """Without handing out: the difference of two timings, so it has no goal."""
    timing = Timing.of([ran.reason - ran.hand_out for ran in runs])
    return Measurement(
        "alone",
        {"contender": name, "rounds": len(runs)},
        timing.median,
        "s to reason, handing out aside",
        mean=timing.mean,
        ratio=timing.median / ours,
        ratio_of=f"{name} / {OURS}",
    )


def _seconds(values: Iterator[float]) -> float:
    return round(median(values), 3)
