"""The process that streams departments through one query.

    python -m ebbtide.benches.regimes.stream '{"universities": 5, "seed": 0, "queries": ["q9"]}'

Each department is a window: it comes at its instant, is answered, and is gone at the next. The
ontology is background. It prints a line of JSON a department: the triples and answers so far, the
processor time of taking them in, evaluating and reading the answers, and the resident bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import psutil
import pyarrow as pa

from ebbtide.benches.regimes.contenders import Stopwatch
from ebbtide.benches.regimes.materialise import COLUMNS, table_of
from ebbtide.engines.planned import PlannedEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.program import TRIPLE
from ebbtide.program.join import join
from ebbtide.regimes import load
from ebbtide.testing.workloads.lubm import departments, ontology
from ebbtide.testing.workloads.lubm.queries import query_rules
from ebbtide.time import Tumbling

STREAM: Final = "departments"
EVERY: Final = 1_000


class Sample(NamedTuple):
    """Where the stream stands after a department."""

    departments: int
    triples: int
    answers: int
    seconds: float
    resident: int


def stream(universities: int, seed: int, queries: Sequence[str]) -> Iterator[Sample]:
    """A sample a department."""
    program = join([load("owl2rl"), parse_rules(query_rules(*queries))])
    engine = PlannedEngine(program, {STREAM: Tumbling(EVERY)}, step=EVERY)
    engine.add_arrow(table_of(ontology()), TRIPLE, COLUMNS)
    engine.evaluate(0)
    process = psutil.Process()
    triples, answers, seconds = 0, 0, 0.0
    for number, department in enumerate(departments(universities, seed), start=1):
        tick = number * EVERY
        table = table_of(department.rows)
        table = table.append_column("t", pa.repeat(pa.scalar(tick, pa.int64()), table.num_rows))
        watch = Stopwatch()
        engine.push_arrow(table, STREAM, TRIPLE, "t", COLUMNS)
        engine.evaluate(tick)
        answers += sum(len(engine.native.facts_arrow(query)) for query in queries)
        seconds += watch.lap()
        triples += table.num_rows
        yield Sample(number, triples, answers, seconds, process.memory_info().rss)


if __name__ == "__main__":
    for sample in stream(**json.loads(sys.argv[1])):
        print(json.dumps(sample), flush=True)
