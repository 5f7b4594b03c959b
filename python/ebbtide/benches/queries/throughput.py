"""Triples a second that one core sustains: four queries over a window of ten seconds."""

from __future__ import annotations

from itertools import islice
from time import process_time
from typing import Final

from ebbtide.benches.queries.settings import Settings
from ebbtide.benches.queries.workload import STREAM, WORKLOADS
from ebbtide.benches.results import Measurement, Results, Say
from ebbtide.queries import QueryEngine

SECONDS: Final = 10


def measure_throughput(settings: Settings, results: Results, say: Say) -> None:
    """Thousand triples a second of processor time: taken in, reasoned about and answered."""
    for workload in WORKLOADS:
        say(f"throughput: {workload.name}")
        batch = max(settings.churn, settings.streamed // 50)
        tables = list(islice(workload.tables(batch, settings.seed), settings.streamed // batch))
        engine = QueryEngine(workload.rules or (), background=workload.background())
        answered = 0

        def count(answers: object) -> None:
            nonlocal answered
            answered += len(answers)  # type: ignore[arg-type]

        engine.register(workload.query(SECONDS)).subscribe(count)
        since = process_time()
        for table in tables:
            engine.push_all(STREAM, table)
        engine.finish()
        taken = process_time() - since
        results.add(
            Measurement(
                "throughput",
                {"query": workload.name, "window": SECONDS * batch, "answers": answered},
                batch * len(tables) / taken / 1_000,
                "thousand triples a second",
            )
        )
