"""What a tick costs per fact derived and expired, in small and large windows.

The facts in and out per tick are the same in every window. What a tick changes is then the same
too, and its cost should be: caches may tell the windows apart, the algorithm may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ebbtide.benches.imars.feed import Feed, Tick, no_collector
from ebbtide.benches.imars.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing

# The largest window against one of a hundredth and of a tenth of its size.
LARGEST_AGAINST: Final = (Goal("at most", 3), Goal("at most", 1.5))


def measure_window(settings: Settings, results: Results, say: Say) -> None:
    """Nanoseconds per fact for each window, and per stated fact for pushing, apart."""
    timings, pushes = [], []
    for window in settings.windows:
        say(f"window: {settings.churn:,} facts in and out a tick, window of {window:,} facts")
        with no_collector():
            ticks = list(steady(steady_feed(settings, window), settings.steady_ticks))
        timings.append(Timing.of([tick.per_fact for tick in ticks]))
        pushes.append(Timing.of([tick.push / settings.churn for tick in ticks]))
    largest = settings.windows[-1]
    for window, timing, goal in zip(
        settings.windows, timings, (*LARGEST_AGAINST, None), strict=True
    ):
        results.add(
            Measurement(
                "window",
                {"window": window, "churn": settings.churn},
                timing.median,
                "ns a fact",
                mean=timing.mean,
                ratio=timings[-1].median / timing.median if goal else None,
                ratio_of=f"{largest:,} / {window:,}" if goal else None,
                goal=goal,
            )
        )
    results.extend(
        Measurement(
            "push",
            {"window": window, "churn": settings.churn},
            push.median,
            "ns a stated fact",
            mean=push.mean,
        )
        for window, push in zip(settings.windows, pushes, strict=True)
    )


def steady_feed(settings: Settings, window: int) -> Feed:
    """A feed whose window was filled and then replaced as a whole, tick by tick."""
    turn = window // settings.churn
    feed = Feed(settings, window=window, churn=settings.churn, ticks=turn + settings.steady_ticks)
    feed.fill()
    for _ in range(turn):
        feed.tick()
    return feed


def steady(feed: Feed, ticks: int) -> Iterator[Tick]:
    """The next ticks of a steady feed."""
    return (feed.tick() for _ in range(ticks))
