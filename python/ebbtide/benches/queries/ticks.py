"""What a tick of a query costs, for us and for peers: processor time in milliseconds.

The window is filled in one go; then each tick brings `churn` triples and takes as many. Making the
tables is nobody's cost. We take a table and answer; a peer adds and removes the triples in its own
store and is asked for the query.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from time import process_time
from typing import Any, TypeAlias

import pyarrow as pa

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.queries.workload import STREAM, Workload
from ebbtide.benches.results import Timing
from ebbtide.queries import QueryEngine

Tick: TypeAlias = Callable[[pa.Table], object]


def tick_cost(workload: Workload, window: int, churn: int, ticks: int, how: str) -> Timing:
    """The milliseconds of a tick, by `incremental`, `sparql`, `rdflib` or `pyoxigraph`."""
    tables = workload.tables(churn, seed=0)
    # One more than the window has: the last one is taken by the tick that follows.
    filling = [next(tables) for _ in range(window // churn + 1)]
    match how:
        case "incremental" | "sparql":
            tick = _ours(workload, window // churn, filling, how == "incremental")
        case "rdflib":
            tick = _peer(workload, filling, _rdflib(workload))
        case _:
            tick = _peer(workload, filling, _pyoxigraph(workload))
    # The first two ticks have the window's fill to take, and indexes to make.
    for table in islice(tables, 2):
        tick(table)
    taken = []
    with no_collector():
        for table in islice(tables, ticks):
            since = process_time()
            tick(table)
            taken.append(1_000 * (process_time() - since))
    return Timing.of(taken)


def _ours(workload: Workload, seconds: int, filling: list[pa.Table], incremental: bool) -> Tick:
    engine = QueryEngine(
        workload.rules or (), background=workload.background(), incremental=incremental
    )
    query = engine.register(workload.query(seconds))
    query.subscribe(len)
    query.pause()
    engine.push_all(STREAM, pa.concat_tables(filling))
    query.resume()
    return lambda table: engine.push_all(STREAM, table)


def _peer(
    workload: Workload, filling: list[pa.Table], store: tuple[Any, Any, Callable[[], object]]
) -> Tick:
    add, remove, ask = store
    held: deque[list[Any]] = deque()

    def rows(table: pa.Table) -> list[Any]:
        return list(zip(*(table[name].to_pylist() for name in "spo"), strict=True))

    for table in filling:
        held.append(rows(table))
        for triple in held[-1]:
            add(triple)

    def tick(table: pa.Table) -> object:
        held.append(rows(table))
        for triple in held[-1]:
            add(triple)
        for triple in held.popleft():
            remove(triple)
        return ask()

    return tick


def _rdflib(workload: Workload) -> tuple[Any, Any, Callable[[], object]]:
    import rdflib
    from rdflib.plugins.sparql import prepareQuery
    from rdflib.util import from_n3

    graph = rdflib.Graph()

    def terms(triple: Any) -> Any:
        return tuple(map(from_n3, triple))

    for triple in workload.background():
        graph.add(terms(triple))
    prepared = prepareQuery(workload.sparql)
    return (
        lambda triple: graph.add(terms(triple)),
        lambda triple: graph.remove(terms(triple)),
        lambda: len(list(graph.query(prepared))),
    )


def _pyoxigraph(workload: Workload) -> tuple[Any, Any, Callable[[], object]]:
    import pyoxigraph

    store = pyoxigraph.Store()

    def quads(triple: Any) -> Iterator[Any]:
        line = f"{' '.join(triple)} ."
        yield from pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_TRIPLES)

    def add(triple: Any) -> None:
        for quad in quads(triple):
            store.add(quad)

    def remove(triple: Any) -> None:
        for quad in quads(triple):
            store.remove(quad)

    for triple in workload.background():
        add(triple)

    def ask() -> int:
        found: Any = store.query(workload.sparql)
        return len(list(found))

    return add, remove, ask
