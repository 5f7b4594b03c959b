"""Placement `sharded`: a kernel a shard, inside a stateful operator of Spark.

    facts ─► routing ─► groupBy(shard) ─► transformWithState ─► rows, each told by its home
             mapInArrow                   placements/shard

The proof that shards can reason for themselves is in `plan/sharding.py`; with one shard there is
nothing to prove.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ebbtide.pipeline.dead import late_letters
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.placements.routing import ARROW, SCHEMA, Routing
from ebbtide.pipeline.placements.shard import Page, Shards
from ebbtide.pipeline.units.rules import ROWS, Rules
from ebbtide.plan.schema import Schema
from ebbtide.program import TRIPLE, Atom, Program
from ebbtide.terms import IRI
from ebbtide.time import FOREVER

#: `letter` is a dead letter in JSON; then the rest is null.
OUTPUT: Final = "t long, op string, s string, p string, o string, until long, letter string"
_OUTPUT: Final = pa.schema([*ROWS, ("letter", pa.string())])
STATE_STORE: Final = (
    "spark.sql.streaming.stateStore.providerClass",
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
)


def routing_of(unit: Rules, shards: int) -> Routing:
    """Where facts go; a `PipelineError` that names the rules if shards cannot reason alone."""
    unit.begin()
    found = unit.detached().reasoner.sharding()
    if shards > 1 and not found.is_proved:
        why = "; ".join(str(cut) for cut in found.cuts if cut.is_global)
        raise PipelineError(f"the program cannot be cut into shards: {why}")
    return Routing(
        shards,
        frozenset(str(each) for each in found.by_object),
        found.others_by_object,
        frozenset(predicate.text for predicate in _named(unit.program)),
        Schema.of(unit.program),
    )


def _named(program: Program) -> Iterator[IRI]:
    for rule in program.rules:
        atoms: Iterable[Atom] = (*rule.heads, *rule.positives, *(n.atom for n in rule.negations))
        for atom in atoms:
            if atom.relation == TRIPLE and isinstance(atom.arguments[1], IRI):
                yield atom.arguments[1]


def reason_in_shards(facts: DataFrame, unit: Rules, shards: int) -> DataFrame:
    """The rows, and the dead letters, of a DataFrame of what `stages.parse` gives."""
    routing = routing_of(unit, shards)
    routed = facts.mapInArrow(routing.route, SCHEMA)
    work = Shards(secrets.token_hex(8), unit.portable(), unit.windows)
    if facts.isStreaming:
        facts.sparkSession.conf.set(*STATE_STORE)
        rows = routed.groupBy("shard").transformWithStateInPandas(
            ShardProcessor(work, routing), OUTPUT, "append", "none"
        )
    else:
        rows = routed.groupBy("shard").applyInArrow(_all_at_once(work, routing), OUTPUT)
    until = F.when(F.col("until") != FOREVER, F.col("until"))
    return rows.withColumn("until", until)


class ShardProcessor(StatefulProcessor):
    """What Spark calls for a shard with every micro-batch."""

    def __init__(self, shards: Shards, routing: Routing) -> None:
        self._shards = shards
        self._routing = routing

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Ask for the state."""
        self._state = _Stored(handle)

    def handleInputRows(  # noqa: N802  (Spark's name)
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """The rows that a batch makes due."""
        frames = [pa.Table.from_pandas(frame, ARROW, preserve_index=False) for frame in rows]
        told = _told(
            self._shards, self._routing, int(key[0]), self._state, pa.concat_tables(frames)
        )
        if told.num_rows:
            yield told.to_pandas()

    def close(self) -> None:
        """The kernel stays in the process, for the next batch."""


def _all_at_once(shards: Shards, routing: Routing) -> Any:
    """What a shard does with facts that do not go on: all ticks, to the end."""

    def reason(key: tuple[Any], rows: Any) -> Any:
        end = pa.Table.from_pylist([{"shard": key[0].as_py(), "kind": "end"}], schema=ARROW)
        whole = pa.concat_tables([rows.cast(ARROW), end])
        return _told(shards, routing, key[0].as_py(), _Nowhere(), whole)

    return reason


def _told(shards: Shards, routing: Routing, shard: int, state: Any, rows: Any) -> Any:
    """What a shard has to say: the rows of its facts, and dead letters."""
    told, late = shards.feed(shard, state, rows)
    told = routing.at_home(told, shard)
    until = told["until"].fill_null(FOREVER)
    told = told.set_column(told.column_names.index("until"), "until", until)
    at_home = {name: routing.at_home(table, shard) for name, table in late.items()}
    letters = late_letters(at_home, {name: [*range(t.num_rows)] for name, t in at_home.items()})
    texts = [json.dumps(letter) for letter in letters.to_pylist()]
    texts += rows.filter(pa.compute.equal(rows["kind"], "bad"))["s"].to_pylist()
    nothing = pa.nulls(told.num_rows, pa.string())
    dead = pa.Table.from_pylist([{"letter": text} for text in texts], schema=_OUTPUT)
    # pandas has no whole numbers that may be missing.
    dead = dead.set_column(0, "t", dead["t"].fill_null(0))
    dead = dead.set_column(5, "until", dead["until"].fill_null(0))
    return pa.concat_tables([told.append_column("letter", nothing), dead])


class _Stored:
    """The state of a shard in Spark's state store."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._head = handle.getValueState("head", "head string")
        self._pages = handle.getMapState("pages", "number long", "until long, facts binary")

    def head(self) -> str | None:
        found = self._head.get()
        return None if found is None else found[0]

    def set_head(self, head: str) -> None:
        self._head.update((head,))

    def pages(self) -> Iterable[tuple[int, Page]]:
        for (number,), (until, facts) in self._pages.iterator():
            yield number, Page(until, bytes(facts))

    def set_page(self, number: int, page: Page) -> None:
        self._pages.updateValue((number,), tuple(page))

    def drop_page(self, number: int) -> None:
        self._pages.removeKey((number,))


class _Nowhere:
    """The state of a shard that has no next batch."""

    def head(self) -> str | None:
        return None

    def set_head(self, head: str) -> None:
        pass

    def pages(self) -> Iterable[tuple[int, Page]]:
        return ()

    def set_page(self, number: int, page: Page) -> None:
        pass

    def drop_page(self, number: int) -> None:
        pass
