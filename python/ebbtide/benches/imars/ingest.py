"""How fast Arrow batches come in when there are no rules: push and evaluate, on one core.

Two kinds of columns, because texts decide: plain strings with subjects that were never seen, which
must all be interned and forgotten again; and dictionary-encoded columns of few terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.benches.imars.feed import STEP, STREAM, no_collector, timed_tick
from ebbtide.benches.imars.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing
from ebbtide.engines.native import NativeEngine
from ebbtide.program import Program
from ebbtide.testing.workloads.isin_arrow import TERMS, TIME
from ebbtide.time import Sliding

FACTS_A_SECOND: Final = Goal("at least", 2_000_000)
# A window is this many batches, and so many windows are timed after the first.
BATCHES: Final = 10
WINDOWS: Final = 10
# So many subjects and as many objects where there are few: enough for a window without repeats.
FEW: Final = 1_000


def measure_ingest(settings: Settings, results: Results, say: Say) -> None:
    """Facts a second through a window, for each kind of columns."""
    batch = settings.window // BATCHES
    for kind, columns in KINDS.items():
        say(f"ingest: {kind}, batches of {batch:,} facts")
        engine = NativeEngine(Program(), {STREAM: Sliding(BATCHES * STEP)}, step=STEP)
        seconds, pushing = [], []
        with no_collector():
            for number in range(BATCHES * (WINDOWS + 1)):
                tick = (number + 1) * STEP
                timed = timed_tick(engine, _batch(columns, number, batch), tick)
                if number >= BATCHES:
                    seconds.append((timed.push + timed.evaluate) / 1e9)
                    pushing.append(timed.push / 1e9)
        typical = Timing.of(seconds)
        results.add(
            Measurement(
                "ingest",
                {
                    "columns": kind,
                    "window": settings.window,
                    "batch": batch,
                    "push_percent": round(100 * sum(pushing) / sum(seconds), 1),
                },
                batch / typical.median,
                "facts a second",
                mean=batch / typical.mean,
                goal=FACTS_A_SECOND,
            )
        )


def _batch(columns: Callable[[pa.Array], Mapping[str, Any]], number: int, size: int) -> pa.Table:
    rows = pa.array(range(number * size, (number + 1) * size), pa.int64())
    return pa.table({TIME: pc.add(pc.divide(pc.multiply(rows, STEP), size), 1), **columns(rows)})


def _plain(rows: pa.Array) -> dict[str, Any]:
    subjects = pc.binary_join_element_wise(
        "<http://example/s", pc.cast(pc.add(rows, 1_000_000_000), pa.string()), ">", ""
    )
    objects = _terms("o").take(_remainder(rows))
    return dict(zip(TERMS, (subjects, pa.repeat(PREDICATE, len(rows)), objects), strict=True))


def _encoded(rows: pa.Array) -> dict[str, Any]:
    predicates = pa.DictionaryArray.from_arrays(
        pa.repeat(pa.scalar(0, pa.int32()), len(rows)), [PREDICATE]
    )
    subjects = pa.DictionaryArray.from_arrays(_remainder(rows), _terms("s"))
    objects = pa.DictionaryArray.from_arrays(_remainder(pc.divide(rows, FEW)), _terms("o"))
    return dict(zip(TERMS, (subjects, predicates, objects), strict=True))


PREDICATE: Final = "<http://example/p>"
KINDS: Final = {"plain texts of new subjects": _plain, "dictionary of few terms": _encoded}


def _terms(letter: str) -> pa.Array:
    return pa.array([f"<http://example/{letter}{number:03}>" for number in range(FEW)])


def _remainder(rows: pa.Array) -> pa.Array:
    wholes = pc.multiply(pc.divide(rows, FEW), FEW)
    return pc.cast(pc.subtract(rows, wholes), pa.int32())
