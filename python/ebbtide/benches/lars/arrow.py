"""Atoms in and answers out as Arrow batches: microseconds an input atom, output included."""

from __future__ import annotations

from time import thread_time_ns
from typing import Final

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.lars.settings import Settings
from ebbtide.benches.lars.workloads import WORKLOADS, Workload, tables
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing
from ebbtide.reasoner.lars import LarsReasoner

TIMES_FULL: Final = Goal("at least", 20)
TIMES_CHANGES: Final = Goal("at least", 50)
FLAT: Final = Goal("at most", 2)
FLAT_ONES: Final = frozenset({"diamond", "box", "cooling"})


def measure_arrow(settings: Settings, results: Results, say: Say) -> None:
    """Each workload, window and rate, with full output and with output as changes."""
    for workload in WORKLOADS:
        for output in ("full", "changes"):
            for rate in settings.rates:
                found = {}
                for window in settings.windows:
                    say(f"{workload.name}: {output}, window {window}, {rate} atoms a time point")
                    found[window] = time_arrow(
                        settings, workload, window, rate, settings.batch, full=output == "full"
                    )
                    results.add(_against_laser(workload, output, rate, window, found[window]))
                if output == "changes" and workload.name in FLAT_ONES:
                    results.add(_flatness(settings, workload, rate, found))


def time_arrow(
    settings: Settings, workload: Workload, window: int, rate: int, batch: int, *, full: bool
) -> Timing:
    """Microseconds an input atom, batch by batch, once the window is full."""
    fill = -(-(window + 1) // batch)
    ticks = fill * batch + settings.ticks
    stream = workload.stream(rate, ticks, settings.seed)
    batches = list(tables(stream, batch, workload.columns))
    reasoner = LarsReasoner(workload.program(window), start=0)
    timings = []
    with no_collector():
        for number, (last, rows, table) in enumerate(batches):
            before = thread_time_ns()
            reasoner.push_table(table, workload.predicate, columns=workload.columns)
            reasoner.play(last, full=full)
            spent = thread_time_ns() - before
            if number >= fill:
                timings.append(spent / 1_000 / rows)
    return Timing.of(timings)


def _against_laser(
    workload: Workload, output: str, rate: int, window: int, timing: Timing
) -> Measurement:
    laser = workload.laser.get(window)
    goal = TIMES_FULL if output == "full" else TIMES_CHANGES
    return Measurement(
        f"{workload.name} {output}",
        {"window": window, "rate": rate, "laser": laser or ""},
        timing.median,
        "us an atom",
        mean=timing.mean,
        ratio=None if laser is None else laser / timing.median,
        ratio_of=None if laser is None else "laser / ebbtide",
        goal=None if laser is None else goal,
    )


def _flatness(
    settings: Settings, workload: Workload, rate: int, found: dict[int, Timing]
) -> Measurement:
    first, last = settings.windows[0], settings.windows[-1]
    return Measurement(
        "flat",
        {"workload": workload.name, "rate": rate},
        found[last].median,
        "us an atom",
        ratio=found[last].median / found[first].median,
        ratio_of=f"window {last} / {first}",
        goal=FLAT,
    )
