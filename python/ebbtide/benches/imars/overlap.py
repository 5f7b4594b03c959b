"""Expiry against dred, where what leaves is not all that a conclusion rests on.

In a tree each pair has one path, so what dred deletes really goes. Here nodes have several parents,
and trees are streamed together, so that the paths of a pair are of different age: dred deletes the
pair with the first path that leaves and derives it again; expiry knew when the last one would.
"""

from __future__ import annotations

from typing import Final

from ebbtide.benches.imars.settings import GOAL_SHARE, Settings
from ebbtide.benches.imars.share import agree, milliseconds, run_strategy
from ebbtide.benches.results import Measurement, Results, Say
from ebbtide.testing.workloads.isin import edges_upwards

PARENTS: Final = (1, 2, 3)


def measure_overlap(settings: Settings, results: Results, say: Say) -> None:
    """The median tick of expiry and dred at one percent, by the number of parents."""
    for parents in PARENTS:
        edges = len(edges_upwards(settings.depth, settings.fanout, parents))
        # As many trees together as the window holds.
        mixed = max(1, round(settings.window / edges))
        runs = {}
        for strategy in ("expiry", "dred"):
            say(f"overlap: {parents} parents a node, {mixed} trees together, {strategy}")
            runs[strategy] = run_strategy(
                settings, GOAL_SHARE, strategy, parents=parents, mixed=mixed
            )
        agree(GOAL_SHARE, runs)
        expiry = milliseconds(runs["expiry"])
        for strategy, ticks in runs.items():
            timing, is_other = milliseconds(ticks), strategy != "expiry"
            results.add(
                Measurement(
                    "overlap",
                    {
                        "parents": parents,
                        "strategy": strategy,
                        "window": settings.window,
                        "trees together": mixed,
                        "facts": ticks[-1].facts,
                    },
                    timing.median,
                    "ms a tick",
                    mean=timing.mean,
                    ratio=timing.median / expiry.median if is_other else None,
                    ratio_of=f"{strategy} / expiry" if is_other else None,
                )
            )
