"""Continuous queries as a step of Spark: one engine, inside a stateful operator.

    facts ─► groupBy(one) ─► transformWithState ─► t, query, op, answer, letter

The state is what a fresh engine must be fed (`units/queries`), and a mark that is new with every
batch; the engine stays in the worker process as a cache, as the kernels of shards do.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ebbtide.pipeline.placements.sharded import STATE_STORE
from ebbtide.pipeline.units import Fed
from ebbtide.pipeline.units.queries import FACTS, Queries

#: `answer` is what `ebbtide query` writes at a tick, in JSON; op is null for all there is. `letter`
#: is a dead letter in JSON; then the rest is null, and t is 0.
OUTPUT: Final = "t long, query string, op string, answer string, letter string"
_OUTPUT: Final = pa.schema(
    [("t", pa.int64()), *((name, pa.string()) for name in ("query", "op", "answer", "letter"))]
)
_INPUT: Final = pa.schema(
    [("one", pa.int32()), ("source", pa.string()), ("line", pa.int32()), *FACTS]
)

#: The engines of this process, by job: the mark of the state that each is at.
_cache: dict[str, tuple[str, Queries]] = {}


def ask_in_one_place(facts: DataFrame, unit: Queries) -> DataFrame:
    """The answers of some queries, and dead letters, to facts as `stages.parse` gives them."""
    grouped = facts.select(F.lit(0).alias("one"), "source", "line", *FACTS.names).groupBy("one")
    job, portable = secrets.token_hex(8), unit.portable()
    if facts.isStreaming:
        facts.sparkSession.conf.set(*STATE_STORE)
        return grouped.transformWithStateInPandas(
            AskProcessor(job, portable), OUTPUT, "append", "none"
        )

    def ask(key: tuple[Any], rows: Any) -> Any:
        portable.begin()
        told = _told(portable.feed(_by_stream(rows, portable)))
        return pa.concat_tables([told, _told(portable.finish())])

    return grouped.applyInArrow(ask, OUTPUT)


class AskProcessor(StatefulProcessor):
    """What Spark calls with every micro-batch."""

    def __init__(self, job: str, unit: Queries) -> None:
        self._job = job
        self._unit = unit

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Ask for the state."""
        self._state = handle.getValueState("engine", "mark string, facts binary")

    def handleInputRows(  # noqa: N802  (Spark's name)
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """The answers of the ticks that a batch makes due."""
        frames = [pa.Table.from_pandas(frame, _INPUT, preserve_index=False) for frame in rows]
        unit = self._current()
        told = _told(unit.feed(_by_stream(pa.concat_tables(frames), unit)))
        mark = secrets.token_hex(8)
        self._state.update((mark, unit.snapshot()))
        _cache[self._job] = mark, unit
        if told.num_rows:
            yield told.to_pandas()

    def close(self) -> None:
        """The engine stays in the process, for the next batch."""

    def _current(self) -> Queries:
        kept = self._state.get()
        cached = _cache.pop(self._job, None)
        if kept is None:
            self._unit.begin()
        elif cached is not None and cached[0] == kept[0]:
            return cached[1]
        else:
            self._unit.restore(bytes(kept[1]))
        return self._unit


def _by_stream(rows: Any, unit: Queries) -> dict[str, Any]:
    return {name: rows.filter(pc.equal(rows["stream"], name)) for name in unit.streams}


def _told(fed: Fed) -> Any:
    rows: list[dict[str, Any]] = [
        {
            "t": answers.tick,
            "query": answers.query,
            "op": answers.op,
            "answer": json.dumps(answers.json(until=True), ensure_ascii=False),
        }
        for each in fed.rows.values()
        for answers in each
    ]
    # pandas has no whole numbers that may be missing.
    rows += [{"t": 0, "letter": json.dumps(letter)} for letter in fed.late.to_pylist()]
    return pa.Table.from_pylist(rows, _OUTPUT)
