"""What a tick costs for windows of growing size at fixed churn: kept, or asked anew at every tick.

Ours must be flat, within what caches cost. Peers ask the whole window anew, without rules.
"""

from __future__ import annotations

from collections.abc import Mapping

from ebbtide.benches.queries.settings import Settings
from ebbtide.benches.queries.ticks import tick_cost
from ebbtide.benches.queries.workload import GROUPS, JOIN
from ebbtide.benches.results import Goal, Measurement, Parameter, Results, Say, Timing


def measure_windows(settings: Settings, results: Results, say: Say) -> None:
    """Milliseconds a tick, and how many times as long asking anew takes."""
    limits = {"sparql": max(settings.windows)}
    if settings.peers:
        limits |= {
            "rdflib": settings.rdflib_window,
            "pyoxigraph": settings.pyoxigraph_window,
        }
    for workload in (JOIN, GROUPS):
        smallest: Timing | None = None
        for window in settings.windows:
            say(f"windows: {workload.name}, {window:,} triples")
            ours = tick_cost(workload, window, settings.churn, settings.ticks, "incremental")
            smallest = smallest or ours
            what: dict[str, Parameter] = {
                "query": workload.name,
                "window": window,
                "churn": settings.churn,
            }
            results.add(
                _compared(
                    {**what, "how": "incremental"},
                    ours,
                    smallest,
                    "the smallest window",
                    Goal("at most", 3),
                )
            )
            for how in (how for how, limit in limits.items() if window <= limit):
                say(f"windows: {workload.name}, {window:,} triples, {how}")
                ticks = max(3, settings.ticks // 5)
                theirs = tick_cost(workload, window, settings.churn, ticks, how)
                what["how"] = f"{how}, anew"
                results.add(_compared(dict(what), theirs, ours, "incremental"))


def _compared(
    what: Mapping[str, Parameter],
    timing: Timing,
    other: Timing,
    name: str,
    goal: Goal | None = None,
) -> Measurement:
    """Milliseconds a tick, and how many times those of another, by its name."""
    ratio = timing.median / other.median
    return Measurement("windows", what, timing.median, "ms a tick", timing.mean, ratio, name, goal)
