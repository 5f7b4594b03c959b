"""Atoms one by one as Python objects, answers as Python objects: microseconds an input atom."""

from __future__ import annotations

from time import thread_time_ns

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.lars.settings import Settings
from ebbtide.benches.lars.workloads import WORKLOADS, Workload, facts
from ebbtide.benches.results import Measurement, Results, Say, Timing
from ebbtide.engines.lars import LarsEngine


def measure_objects(settings: Settings, results: Results, say: Say) -> None:
    """Each workload and window at the first rate. An answer has all atoms and the changes."""
    rate = settings.rates[0]
    for workload in WORKLOADS:
        for window in settings.windows:
            say(f"{workload.name}: Python objects, window {window}, {rate} atoms a time point")
            timing = _time(settings, workload, window, rate)
            results.add(
                Measurement(
                    "objects",
                    {"workload": workload.name, "window": window, "rate": rate},
                    timing.median,
                    "us an atom",
                    mean=timing.mean,
                )
            )


def _time(settings: Settings, workload: Workload, window: int, rate: int) -> Timing:
    measured = max(settings.ticks // 5, 1)
    stream = list(facts(workload.stream(rate, window + 1 + measured, settings.seed)))
    engine = LarsEngine(workload.program(window), start=0)
    timings = []
    with no_collector():
        for at, atoms in stream:
            before = thread_time_ns()
            for fact in atoms:
                engine.take(fact, at)
            engine.tick()
            if at > window:
                timings.append((thread_time_ns() - before) / 1_000 / len(atoms))
    return Timing.of(timings)
