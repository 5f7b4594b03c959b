"""Expiry against dred and naive, as the share of the window that a tick replaces grows.

The strategies see the same stream and must agree on what every tick changed; if they do not, there
is nothing to compare. A strategy crosses naive at the share where maintaining stops to pay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp, log
from typing import Final

from ebbtide.benches.imars.feed import Feed, Tick, no_collector
from ebbtide.benches.imars.settings import GOAL_SHARE, HALF, Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing

STRATEGIES: Final = ("expiry", "dred", "naive")

FASTER_THAN: Final = {"dred": Goal("at least", 5), "naive": Goal("at least", 20)}
NOT_SLOWER: Final = Goal("at least", 1)

# Expiry and dred are timed until the window was replaced so often, but not for more than so many
# times the ticks of naive, which takes as long in one tick as they do in a hundred.
TURNS: Final = 2
MOST: Final = 20


class Disagreement(RuntimeError):
    """Two strategies changed or hold different numbers of facts: a bug in one of them."""


def measure_share(settings: Settings, results: Results, say: Say) -> None:
    """The median tick of every strategy at every share, and where the strategies cross naive."""
    medians: dict[str, list[float]] = {strategy: [] for strategy in STRATEGIES}
    for share in settings.shares:
        runs = {}
        for strategy in STRATEGIES:
            say(f"share: {100 * share:g} % of {settings.window:,} facts a tick, {strategy}")
            runs[strategy] = run_strategy(settings, share, strategy)
        agree(share, runs)
        results.extend(_measurement(settings, share, name, runs) for name in STRATEGIES)
        for strategy in STRATEGIES:
            medians[strategy].append(milliseconds(runs[strategy]).median)
    for strategy in ("expiry", "dred"):
        point = crossing(settings.shares, medians[strategy], medians["naive"])
        percent = None if point is None else 100 * point
        results.add(Measurement("crossing", {"strategy": strategy}, percent, "% of window"))


def run_strategy(
    settings: Settings, share: float, strategy: str, *, parents: int = 1, mixed: int = 1
) -> list[Tick]:
    """The ticks after the window was filled, less the first. The stream is the same for all."""
    ticks = max(settings.ticks, min(round(TURNS / share), MOST * settings.ticks))
    feed = Feed(
        settings,
        window=settings.window,
        churn=round(share * settings.window),
        ticks=ticks + 1,
        strategy=strategy,
        parents=parents,
        mixed=mixed,
    )
    with no_collector():
        feed.fill()
        feed.tick()
        return [feed.tick() for _ in range(settings.ticks if strategy == "naive" else ticks)]


def agree(share: float, runs: Mapping[str, Sequence[Tick]]) -> None:
    """Strategies that differ in what they changed or hold are not compared."""
    for number, ticks in enumerate(zip(*runs.values(), strict=False), start=1):
        if len({(tick.entered, tick.left, tick.facts) for tick in ticks}) > 1:
            found = dict(zip(runs, ticks, strict=True))
            raise Disagreement(f"at a share of {share:g}, tick {number}: {found}")


def milliseconds(ticks: Sequence[Tick]) -> Timing:
    """What the ticks took."""
    return Timing.of([tick.evaluate / 1e6 for tick in ticks])


def _measurement(
    settings: Settings, share: float, strategy: str, runs: Mapping[str, Sequence[Tick]]
) -> Measurement:
    ticks = runs[strategy]
    timing, expiry = milliseconds(ticks), milliseconds(runs["expiry"])
    other = strategy != "expiry"
    return Measurement(
        "share",
        {
            "percent": round(100 * share, 6),
            "strategy": strategy,
            "window": settings.window,
            "ticks": len(ticks),
            "entered": Timing.of([tick.entered for tick in ticks]).median,
            "facts": ticks[settings.ticks - 1].facts,
        },
        timing.median,
        "ms a tick",
        mean=timing.mean,
        ratio=timing.median / expiry.median if other else None,
        ratio_of=f"{strategy} / expiry" if other else None,
        goal=_goal(strategy, share) if other else None,
    )


def _goal(strategy: str, share: float) -> Goal | None:
    if share == GOAL_SHARE:
        return FASTER_THAN[strategy]
    return NOT_SLOWER if strategy == "naive" and share < HALF else None


def crossing(
    shares: Sequence[float], line: Sequence[float], other: Sequence[float]
) -> float | None:
    """The share from which `line` is above `other`, straight between points on log scales.

    None if it is below to the end; the first share if it is above from the start.

    >>> round(crossing([0.01, 0.1, 1], [1, 10, 100], [20, 20, 20]), 3)
    0.2
    >>> crossing([0.01, 0.1], [1, 10], [20, 20]) is None
    True
    """
    points = [(log(x), log(a / b)) for x, a, b in zip(shares, line, other, strict=True)]
    if points[0][1] >= 0:
        return shares[0]
    for (left, below), (right, above) in pairwise(points):
        if below < 0 <= above:
            return exp(left - below * (right - left) / (above - below))
    return None
