"""What a time point costs at which nothing changes, however much holds.

Boxes, diamonds and negations over facts that stay: nothing may be looked at again.
"""

from __future__ import annotations

from dataclasses import replace
from time import thread_time_ns
from typing import Final

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.lars.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing
from ebbtide.engines.lars import LarsEngine
from ebbtide.languages.lars import parse_lars
from ebbtide.program import Fact

PROGRAMS: Final = {
    "box": "on(X) :- always p(X) in [80].",
    "negation": "free(X) :- p(X), not busy(X) in [80].",
    "diamond": "seen(X) :- p(X) in [80].",
}
# The cost of ten times as many facts over that of one, if none is looked at again.
FLAT: Final = Goal("at most", 2)
TOGETHER: Final = 100


def measure_quiet(settings: Settings, results: Results, say: Say) -> None:
    """Microseconds a time point, with `live` facts and with ten times as many."""
    for name, text in PROGRAMS.items():
        timings = []
        for live in (settings.live, settings.live * 10):
            say(f"quiet: {name}, {live:,} facts")
            timings.append(_time(settings, text, live))
            is_last = len(timings) == 2
            results.add(
                Measurement(
                    "quiet",
                    {"workload": name, "facts": live},
                    timings[-1].median,
                    "us a time point",
                    mean=timings[-1].mean,
                    ratio=timings[1].median / timings[0].median if is_last else None,
                    ratio_of="ten times the facts / once" if is_last else None,
                    goal=FLAT if is_last else None,
                )
            )


def _time(settings: Settings, text: str, live: int) -> Timing:
    known = tuple(Fact.of("p", number) for number in range(live))
    engine = LarsEngine(replace(parse_lars(text), background=known), start=0)
    engine.play(99)
    timings = []
    with no_collector():
        for last in range(99 + TOGETHER, 99 + TOGETHER * (settings.ticks // 4 + 2), TOGETHER):
            before = thread_time_ns()
            engine.play(last)
            timings.append((thread_time_ns() - before) / 1_000 / TOGETHER)
    return Timing.of(timings)
