"""Many queries of different ranges over one stream: one engine for all, or an engine for each."""

from __future__ import annotations

from itertools import islice
from time import process_time

import pyarrow as pa

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.queries.settings import Settings
from ebbtide.benches.queries.workload import FIGURE_2, STREAM, Workload
from ebbtide.benches.results import Goal, Measurement, Parameter, Results, Say, Timing
from ebbtide.queries import QueryEngine


def measure_sharing(settings: Settings, results: Results, say: Say) -> None:
    """Milliseconds a tick of all queries, together and apart."""
    workload = FIGURE_2
    seconds = settings.shared_window // settings.churn
    ranges = [max(1, seconds * (n + 1) // settings.sharing) for n in range(settings.sharing)]
    say(f"sharing: {settings.sharing} queries in one engine")
    together = _cost(workload, [ranges], settings)
    say(f"sharing: {settings.sharing} engines")
    apart = _cost(workload, [[each] for each in ranges], settings)
    what: dict[str, Parameter] = {
        "query": workload.name,
        "queries": settings.sharing,
        "window": settings.shared_window,
    }
    results.extend(
        [
            Measurement("sharing", {**what, "engines": 1}, together.median, "ms a tick"),
            Measurement(
                "sharing",
                {**what, "engines": settings.sharing},
                apart.median,
                "ms a tick",
                None,
                apart.median / together.median,
                "one engine",
                Goal("at least", 5),
            ),
        ]
    )


def _cost(workload: Workload, groups: list[list[int]], settings: Settings) -> Timing:
    engines = []
    for ranges in groups:
        engine = QueryEngine(workload.rules, background=workload.background())
        for number, seconds in enumerate(ranges):
            engine.register(workload.query(seconds, f"q{number}")).subscribe(len)
        engines.append(engine)
    tables = workload.tables(settings.churn, settings.seed)
    filling = pa.concat_tables(islice(tables, settings.shared_window // settings.churn + 1))
    for engine in engines:
        for query in engine.queries:
            query.pause()
        engine.push_all(STREAM, filling)
        for query in engine.queries:
            query.resume()
    # The first ticks tell what has come since the beginning.
    for table in islice(tables, 2):
        for engine in engines:
            engine.push_all(STREAM, table)
    taken = []
    with no_collector():
        for table in islice(tables, max(3, settings.ticks // 3)):
            since = process_time()
            for engine in engines:
                engine.push_all(STREAM, table)
            taken.append(1_000 * (process_time() - since))
    return Timing.of(taken)
