"""What a tick costs for windows of growing size at fixed churn: kept, or asked anew at every tick.

Ours must be flat, within what caches cost. Peers ask the whole window anew, without rules.
"""

from __future__ import annotations

from ebbtide.benches.imars.settings import Say
from ebbtide.benches.queries.settings import Settings
from ebbtide.benches.queries.ticks import tick_cost
from ebbtide.benches.queries.workload import GROUPS, JOIN
from ebbtide.benches.results import Goal, Measurement, Parameter, Results


def measure_windows(settings: Settings, results: Results, say: Say) -> None:
    """Milliseconds a tick, and how many times as long asking anew takes."""
    limits = {"sparql": max(settings.windows)}
    if settings.peers:
        limits |= {
            "rdflib": settings.rdflib_window,
            "pyoxigraph": settings.pyoxigraph_window,
        }
    for workload in (JOIN, GROUPS):
        first: float | None = None
        for window in settings.windows:
            say(f"windows: {workload.name}, {window:,} triples")
            what: dict[str, Parameter] = {
                "query": workload.name,
                "window": window,
                "churn": settings.churn,
            }
            ours = tick_cost(workload, window, settings.churn, settings.ticks, "incremental")
            first = first or ours.median
            results.extend(
                [
                    Measurement(
                        "windows",
                        {**what, "how": "incremental"},
                        ours.median,
                        "ms a tick",
                        ours.mean,
                        ours.median / first,
                        "the smallest window",
                        Goal("at most", 3),
                    )
                ]
            )
            for how, limit in limits.items():
                if window > limit:
                    continue
                say(f"windows: {workload.name}, {window:,} triples, {how}")
                ticks = max(3, settings.ticks // 5)
                theirs = tick_cost(workload, window, settings.churn, ticks, how)
                results.extend(
                    [
                        Measurement(
                            "windows",
                            {**what, "how": f"{how}, anew"},
                            theirs.median,
                            "ms a tick",
                            theirs.mean,
                            theirs.median / ours.median,
                            "incremental",
                        )
                    ]
                )
