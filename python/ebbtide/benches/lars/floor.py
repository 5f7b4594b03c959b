"""A yardstick: what the same texts and facts take in ordinary hash tables.

Each text of the input is read and kept from its batch to the next, each fact of the program from
the tick that brings it to the one that takes it. No time, no rules, no counts, no answers.
"""

from __future__ import annotations

from time import thread_time_ns

from ebbtide._kernel import BareTexts
from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.lars.settings import Settings
from ebbtide.benches.lars.workloads import WORKLOADS, Workload, tables
from ebbtide.benches.results import Measurement, Results, Say, Timing
from ebbtide.engines.lars import LarsEngine


def measure_floor(settings: Settings, results: Results, say: Say) -> None:
    """Each workload in the smallest window, at the first rate; the ratio is ours to the floor."""
    window, rate = settings.windows[0], settings.rates[0]
    for workload in WORKLOADS:
        say(f"floor: {workload.name}, window {window}, {rate} atoms a time point")
        floor, ours = _time(settings, workload, window, rate)
        results.add(
            Measurement(
                "floor",
                {"workload": workload.name, "window": window, "rate": rate},
                floor.median,
                "us an atom",
                mean=floor.mean,
                ratio=ours.median / floor.median,
                ratio_of="ebbtide / floor",
            )
        )


def _time(settings: Settings, workload: Workload, window: int, rate: int) -> tuple[Timing, Timing]:
    """The floor, and the same batches as `arrow` measures them, with changes."""
    batch = settings.batch
    stream = workload.stream(rate, (window // batch + 1) * batch + settings.ticks, settings.seed)
    followed = LarsEngine(workload.program(window), start=0)
    measured = LarsEngine(workload.program(window), start=0)
    texts = BareTexts()
    facts = [followed.bare_table(name) for name in followed.program.relations]
    floor, ours = [], []
    with no_collector():
        for last, rows, table in tables(stream, batch, workload.columns):
            before = thread_time_ns()
            measured.feed(table, workload.predicate, "t", workload.columns)
            measured.play(last)
            ours.append((thread_time_ns() - before) / 1_000 / rows)
            spent = texts.follow(table, workload.columns)
            followed.feed(table, workload.predicate, "t", workload.columns)
            while followed.next <= last:
                followed.play(followed.next)
                spent += sum(follow()[0] for follow in facts)
            floor.append(spent / 1_000 / rows)
    full = window // batch + 1
    return Timing.of(floor[full:]), Timing.of(ours[full:])
