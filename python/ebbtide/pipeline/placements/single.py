"""A unit that cannot be cut, as a step of Spark: one engine, inside a stateful operator.

    facts ─► groupBy(one) ─► transformWithState ─► the columns of the unit's rows, and letter

The state is the unit's snapshot, with what it belongs to, and a mark that is new with every batch;
the engine stays in the worker process as a cache, as the kernels of shards do. `letter` is a dead
letter in JSON; then t is 0, and the rest is null. Units are queries, programs of LARS, and rules
whose windows are not of time.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ebbtide.pipeline.checkpoint import Plan
from ebbtide.pipeline.dead import letters_of
from ebbtide.pipeline.placements.shard import (
    ENGINE,
    HEAD,
    IN_ONE_PLACE,
    IN_SHARDS,
    refuse_if,
    refuse_other,
)
from ebbtide.pipeline.placements.sharded import STATE_STORE, own_workers
from ebbtide.pipeline.units import Fed, Unit

#: What was no fact when it was parsed has a letter, and no time.
_INPUT: Final = pa.schema(
    [
        ("one", pa.int32()),
        ("stream", pa.string()),
        ("source", pa.string()),
        ("line", pa.int32()),
        ("t", pa.int64()),
        *((name, pa.string()) for name in ("s", "p", "o", "letter")),
    ]
)


class Carried(Unit, Protocol):
    """A unit that can go to an executor."""

    @property
    def streams(self) -> Sequence[str]:
        """The names of the streams."""

    def portable(self) -> Self:
        """This unit, not begun, with its background in it."""


@dataclass(frozen=True)
class Single:
    """A unit, and how its rows become a table: `schema` begins with t, a whole number."""

    unit: Carried
    schema: pa.Schema
    table: Callable[[Fed], Any]

    @property
    def output(self) -> pa.Schema:
        """The columns of the rows, and the letter."""
        return self.schema.append(pa.field("letter", pa.string()))

    def feed(self, rows: Any) -> Any:
        """What a batch makes due."""
        streams = {name: rows.filter(pc.equal(rows["stream"], name)) for name in self.unit.streams}
        facts = {name: some.filter(pc.is_null(some["letter"])) for name, some in streams.items()}
        bad = rows["letter"].drop_null().to_pylist()
        fed = self.unit.feed(facts)
        late = letters_of(facts, [(self.unit.title, fed)]).to_pylist()
        return self.told(fed, [*bad, *map(json.dumps, late)])

    def told(self, fed: Fed, letters: Sequence[str] = ()) -> Any:
        """The rows, and dead letters: of what was no fact, and of what was late."""
        rows = self.table(fed)
        dead = [{"t": 0, "letter": letter} for letter in letters]
        rows = rows.append_column("letter", pa.nulls(rows.num_rows, pa.string()))
        return pa.concat_tables([rows, pa.Table.from_pylist(dead, self.output)])


#: The engines of this process, by job: the mark of the state that each is at.
_cache: dict[str, tuple[str, Single]] = {}


def reason_in_one_place(facts: DataFrame, single: Single) -> DataFrame:
    """The rows of a unit, and dead letters, of facts as `stages.parse` gives them."""
    letter = _letter() if "error" in facts.columns else F.lit(None).cast("string")
    columns = [F.lit(0).alias("one"), *_INPUT.names[1:-1], letter.alias("letter")]
    grouped = facts.select(*columns).groupBy("one")
    job = secrets.token_hex(8)
    carried = Single(single.unit.portable(), single.schema, single.table)
    output = from_arrow_schema(single.output)
    if facts.isStreaming:
        facts.sparkSession.conf.set(*STATE_STORE)
        with own_workers(facts.sparkSession):
            return grouped.transformWithStateInPandas(
                SingleProcessor(job, carried, single.unit.identity, Plan.of(single.unit.pieces)),
                output,
                "append",
                "none",
            )

    def all_at_once(key: tuple[Any], rows: Any) -> Any:
        carried.unit.begin()
        told = carried.feed(rows.cast(_INPUT))
        return pa.concat_tables([told, carried.told(carried.unit.finish())])

    return grouped.applyInArrow(all_at_once, output)


def _letter() -> Column:
    """The dead letter of a row that is no fact."""
    letter = F.to_json(F.struct("stream", "source", "line", "error.reason", "error.text"))
    return F.when(F.col("error").isNotNull(), letter)


class SingleProcessor(StatefulProcessor):
    """What Spark calls with every micro-batch."""

    def __init__(self, job: str, single: Single, identity: Mapping[str, str], plan: Plan) -> None:
        self._job = job
        self._single = single
        self._identity = dict(identity)
        self._plan = plan

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Ask for the state."""
        self._state = handle.getValueState(*ENGINE)
        self._head = handle.getValueState(*HEAD)

    def handleInputRows(  # noqa: N802  (Spark's name)
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """The rows of the ticks that a batch makes due."""
        frames = [pa.Table.from_pandas(frame, _INPUT, preserve_index=False) for frame in rows]
        single = self._current()
        told = single.feed(pa.concat_tables(frames))
        mark = secrets.token_hex(8)
        kept = [self._identity, single.unit.snapshot(), self._plan.written()]
        self._state.update((mark, msgspec.msgpack.encode(kept)))
        _cache[self._job] = mark, single
        if told.num_rows:
            # Whole numbers stay what they are beside those that are missing.
            yield told.to_pandas(integer_object_nulls=True)

    def close(self) -> None:
        """The engine stays in the process, for the next batch."""

    def _current(self) -> Single:
        kept = self._state.get()
        cached = _cache.pop(self._job, None)
        if kept is None:
            refuse_if(self._head.exists(), IN_SHARDS, IN_ONE_PLACE)
            self._single.unit.begin()
        elif cached is not None and cached[0] == kept[0]:
            return cached[1]
        else:
            # Earlier builds kept no plan.
            identity, snapshot, *plan = msgspec.msgpack.decode(bytes(kept[1]))
            refuse_other(identity, self._identity, plan[0] if plan else None, self._plan)
            self._single.unit.restore(snapshot)
        return self._single
