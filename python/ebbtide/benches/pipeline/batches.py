"""Batches through pipelines that differ by a stage, in turns, so that all see the same machine.

    round 0   source, rows, parcels, no-op, ...       everything warms up: not timed
    round 1   rules and a query, rules, no-op, ...    `batches` of each, the first
    round 2   source, rows, ...                       `warm` of a run not timed

A ratio is the median over rounds of the ratio within a round; p50 and p95 are of all batches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final, TypeAlias

from pyspark.sql import SparkSession

from ebbtide.benches.pipeline.contenders import CONTENDERS, Contender
from ebbtide.benches.pipeline.files import write_files
from ebbtide.benches.pipeline.settings import Rounds, Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say
from ebbtide.pipeline.progress import Latency

#: Of one contender: the batches of each round, each by stage.
Timed: TypeAlias = Sequence[Sequence[Mapping[str, float]]]
WHOLE: Final = "rules and a query"


def measure_large(
    settings: Settings, results: Results, spark: SparkSession, folder: Path, say: Say
) -> None:
    """Large batches, against the pipeline without reasoning."""
    rounds = settings.large
    timed = _rounds("large", rounds, settings.seed, spark, folder, say)
    _report("large", rounds, timed, "no-op", 1.3, results)
    stages = {
        "source": _difference(timed["source"]),
        "parse": _difference(timed["parcels"], timed["source"]),
        "transfer, log and commit": _difference(timed["no-op"], timed["parcels"]),
    }
    _report_stages("large", stages, timed[WHOLE], results)
    results.extend(
        Measurement(
            "facts a second",
            {"facts": rounds.facts, "pipeline": name},
            1000 * rounds.facts / _latency(batches).p50,
            "facts/s",
        )
        for name, batches in timed.items()
    )


def measure_small(
    settings: Settings, results: Results, spark: SparkSession, folder: Path, say: Say
) -> None:
    """Small batches, against Spark's own no-op sink behind the source."""
    timed = _rounds("small", settings.small, settings.seed, spark, folder, say)
    _report("small", settings.small, timed, "source", 1.2, results)
    # Few facts are parsed by the driver, without a job: there is no stage of Spark's to compare.
    driver = median(_all(timed["no-op"], "driver"))
    stages = {
        "Spark, reading and parsing": _latency(timed["no-op"]).p50 - driver,
        "log and commit": driver,
    }
    _report_stages("small", stages, timed[WHOLE], results)
    results.extend(
        Measurement(
            "small batches, other ratios",
            {"facts": settings.small.facts, "pipeline": WHOLE, "of batches": which},
            getattr(_latency(timed[WHOLE]), which),
            "ms",
            ratio=_ratio(timed[WHOLE], timed[base], which),
            ratio_of=base,
        )
        for base in ("rows", "parcels", "no-op")
        for which in ("p50", "p95")
    )


def _rounds(
    name: str, rounds: Rounds, seed: int, spark: SparkSession, folder: Path, say: Say
) -> Mapping[str, Timed]:
    say(f"{name}: writing files")
    a_run = rounds.warm + rounds.batches
    files = write_files(folder, rounds.facts, a_run * (1 + rounds.rounds), seed)
    contenders = [Contender(each, spark, folder) for each in CONTENDERS]
    timed: dict[str, list[list[dict[str, float]]]] = {each: [] for each in CONTENDERS}
    for number in range(1 + rounds.rounds):
        mine = files[a_run * number : a_run * (number + 1)]
        for contender in contenders[:: -1 if number % 2 else 1]:
            say(f"{name}: round {number} of {rounds.rounds}: {contender.name}")
            batches = contender.run(mine)[rounds.warm :]
            if number:
                timed[contender.name].append(batches)
    return timed


def _report(
    name: str,
    rounds: Rounds,
    timed: Mapping[str, Timed],
    base: str,
    bound: float,
    results: Results,
) -> None:
    for contender, batches in timed.items():
        for which in ("p50", "p95"):
            # Of a few large batches a p95 is only the slowest.
            is_judged = contender == WHOLE and (which == "p50" or name == "small")
            results.add(
                Measurement(
                    f"{name} batches",
                    {"facts": rounds.facts, "pipeline": contender, "of batches": which},
                    getattr(_latency(batches), which),
                    "ms",
                    ratio=_ratio(batches, timed[base], which),
                    ratio_of=base,
                    goal=Goal("at most", bound) if is_judged else None,
                )
            )


def _report_stages(name: str, stages: Mapping[str, float], whole: Timed, results: Results) -> None:
    """Some stages, and those that the driver itself has timed."""
    timed_there = {stage: median(_all(whole, stage)) for stage in ("reasoning", "sink")}
    total = _latency(whole).p50
    results.extend(
        Measurement(
            f"{name} stages", {"stage": stage}, value, "ms", ratio=value / total, ratio_of="batch"
        )
        for stage, value in {**stages, **timed_there}.items()
    )


def _all(batches: Timed, stage: str = "batch") -> list[float]:
    return [each.get(stage, 0.0) for of_round in batches for each in of_round]


def _latency(batches: Timed) -> Latency:
    return Latency.of(_all(batches))


def _by_round(batches: Timed, number: Callable[[Latency], float]) -> list[float]:
    return [number(_latency([of_round])) for of_round in batches]


def _ratio(batches: Timed, base: Timed, which: str) -> float:
    """Within rounds for the median; a p95 needs all the batches there are."""
    if which == "p95":
        return _latency(batches).p95 / _latency(base).p95
    both = zip(_by_round(batches, _p50), _by_round(base, _p50), strict=True)
    return median(mine / theirs for mine, theirs in both)


def _difference(batches: Timed, base: Timed | None = None) -> float:
    """The median over rounds of what a stage more takes."""
    less = [0.0] * len(batches) if base is None else _by_round(base, _p50)
    both = zip(_by_round(batches, _p50), less, strict=True)
    return median(mine - theirs for mine, theirs in both)


def _p50(latency: Latency) -> float:
    return latency.p50
