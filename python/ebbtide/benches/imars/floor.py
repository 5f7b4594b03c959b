"""The floor: a fact derived and expired against one insert and one remove in a bare hash table.

The table has the size of the materialisation and lives beside it. After each tick it follows: what
left is removed, what entered is inserted, timed inside Rust. No engine can do with less.
"""

from __future__ import annotations

from typing import Final

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.imars.settings import Settings
from ebbtide.benches.imars.window import steady_feed
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing
from ebbtide.program import TRIPLE

ABOVE_THE_FLOOR: Final = Goal("at most", 5)


def measure_floor(settings: Settings, results: Results, say: Say) -> None:
    """Nanoseconds per fact for each window, against those of the bare table."""
    for window in settings.windows:
        say(f"floor: against a bare table, window of {window:,} facts")
        with no_collector():
            feed = steady_feed(settings, window)
            follow = feed.engine.bare_table(TRIPLE)
            kernel, bare = [], []
            for _ in range(settings.steady_ticks):
                tick = feed.tick()
                nanoseconds, _ = follow()
                kernel.append(tick.per_fact)
                bare.append(nanoseconds / tick.entered)
        timing, floor = Timing.of(kernel), Timing.of(bare)
        results.add(
            Measurement(
                "floor",
                {
                    "window": window,
                    "facts": len(feed.engine),
                    "bare_ns": round(floor.median, 1),
                    "bare_mean_ns": round(floor.mean, 1),
                },
                timing.median,
                "ns a fact",
                mean=timing.mean,
                ratio=timing.median / floor.median,
                ratio_of="kernel / bare",
                goal=ABOVE_THE_FLOOR,
            )
        )
