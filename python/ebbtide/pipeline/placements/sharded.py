"""Placement `sharded`: a kernel a shard, inside a stateful operator of Spark.

    facts ─► routing ─► groupBy(shard) ─► transformWithState ─► rows, each told by its home
             parcels                      placements/shard       unpacked

The proof that shards can reason for themselves is in `plan/sharding.py`; with one shard there is
nothing to prove, and with a declared key nothing is proved: the user promises that only facts of
one key meet in a rule, and that a conclusion has the key of what it rests on.

Spark spreads shards over its tasks by the hash of their labels, so these are chosen such that with
as many tasks as shards every task has one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import StructType

from ebbtide.pipeline.checkpoint import Plan
from ebbtide.pipeline.dead import late_letters
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.failed import sentence_of, untold
from ebbtide.pipeline.packed import unpacked
from ebbtide.pipeline.placements.choose import is_one_machine, master_of
from ebbtide.pipeline.placements.routing import ARROW, PARCELS, Routing, parcel_of
from ebbtide.pipeline.placements.shard import (
    ENGINE,
    HEAD,
    IN_ONE_PLACE,
    IN_SHARDS,
    Page,
    Shards,
    refuse_if,
)
from ebbtide.pipeline.stages.parcels import Parse
from ebbtide.pipeline.units.pieces import setting
from ebbtide.pipeline.units.rules import ROWS, Rules
from ebbtide.plan.schema import Schema
from ebbtide.program import TRIPLE, Program
from ebbtide.terms import IRI

NOTE: Final = "note"
#: `letter` is a dead letter in JSON, or the note of a shard if they are wanted; then the rest is
#: null, but for the shard.
OUTPUT: Final = pa.schema([*ROWS, ("letter", pa.string()), ("shard", pa.int32())])
#: A variable of the environment of workers that keep kernels, and of no others.
WORKERS: Final = "EBBTIDE_KEEPS_KERNELS"
#: Of a stateful operator: a task a shard, and no more.
PARTITIONS: Final = "spark.sql.shuffle.partitions"
STATE_STORE: Final = (
    "spark.sql.streaming.stateStore.providerClass",
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
)


def routing_of(unit: Rules, shards: int, key: str | None = None) -> Routing:
    """Where facts go; a `PipelineError` that names the rules if shards cannot reason alone."""
    unit.begin()
    found = unit.detached().reasoner.sharding()
    if shards > 1 and key is None and not found.is_proved:
        raise PipelineError(
            f"the program cannot be cut into shards: {found.reason}; a key may be declared"
        )
    return Routing(
        shards,
        frozenset(str(each) for each in found.by_object),
        found.others_by_object,
        frozenset(predicate.text for predicate in _named(unit.program)),
        Schema.of(unit.program),
        by_key=key is not None,
    )


def shards_for(unit: Rules, spark: SparkSession, key: str | None) -> int:
    """How many shards a stateful operator gets if nobody says: one, if it cannot be cut."""
    if is_one_machine(master_of(spark)):
        return 1
    unit.begin()
    can_be_cut = key is not None or unit.detached().reasoner.sharding().is_proved
    return spark.sparkContext.defaultParallelism if can_be_cut else 1


def doubt(unit: Rules, key: str) -> str:
    """What a user who declares a key must know."""
    unit.begin()
    found = unit.detached().reasoner.sharding()
    without = "without it they are" if found.is_proved else f"the proof fails for {found.reason}"
    return (
        f"the rules are not proved to be cut by the declared key, {key}: conclusions from facts "
        f"of different keys will be missing; {without}"
    )


def _named(program: Program) -> Iterator[IRI]:
    for rule in program.rules:
        for atom in rule.atoms:
            if atom.relation == TRIPLE and isinstance(atom.arguments[1], IRI):
                yield atom.arguments[1]


def reason_in_shards(
    facts: DataFrame,
    unit: Rules,
    shards: int,
    key: str | None = None,
    see: Parse | None = None,
    *,
    letters: bool = True,
    notes: bool = False,
) -> DataFrame:
    """The rows, and with `letters` the dead letters, of a DataFrame of what `stages.parse` gives.

    `see` makes rows such, if they are not, before they go to their shards; a `key` is of rows that
    are. With `notes` every shard of a stream tells of every batch what it holds, and how long ticks
    took: a letter of the one key NOTE.
    """
    spark = facts.sparkSession
    routing = routing_of(unit, shards, key)
    value = None if key is None else value_of(spark, key)
    if value is not None:
        facts = facts.withColumn("home", F.when(value.isNotNull(), _shard_of(value, shards)))
    labels = labels_of(spark, shards)
    # What Python can do by the way is no step of Spark's: each is planned anew with every batch.
    grouped = facts.mapInArrow(_routed(routing, see, labels), PARCELS)
    identity = {"shards": f"{shards} by crc32", "key": str(key), **unit.identity}
    cut = [setting("the number of shards", shards), setting("the key of shards", key or "none")]
    plan = Plan.of([*cut, *unit.pieces])
    work = Shards(secrets.token_hex(8), unit.portable(), unit.windows, identity, plan)
    if facts.isStreaming:
        spark.conf.set(*STATE_STORE)
        with own_workers(spark):
            told = grouped.groupBy("shard").transformWithStateInPandas(
                ShardProcessor(work, routing, labels, notes), PARCELS, "append", "none"
            )
    else:
        told = grouped.groupBy("shard").applyInArrow(_all_at_once(work, routing, labels), PARCELS)
    columns = [*ROWS.names, *(["letter"] if letters else [])]
    if value is None:
        return told.mapInArrow(_rows(columns), _spark_schema(columns))
    rows = told.mapInArrow(_rows([*columns, "shard"]), _spark_schema([*columns, "shard"]))
    # A fact without a key is in every shard, and one of them tells it. What a filter names it
    # evaluates each time, and a key may be a regular expression: it is named once.
    is_told = _shard_of(value, shards) == F.col("shard")
    if letters:
        is_told |= F.col("letter").isNotNull()
    return rows.where(is_told).drop("shard")


def _routed(routing: Routing, see: Parse | None, labels: Sequence[int]) -> Parse:
    """Rows to parcels for shards, in one step with what sees that they are facts."""
    if see is None:
        return lambda batches: routing.parcels(batches, labels)
    return lambda batches: routing.parcels(see(batches), labels)


@contextmanager
def own_workers(spark: SparkSession) -> Iterator[None]:
    """Let the Python function that is made within have workers that no other function gets.

    Spark hands a task whichever worker has waited longest, and asks for one that was started with
    the environment of its function. So one that keeps kernels is not lent to a parser, and where
    executors have one core a shard always finds its own.
    """
    environment = spark.sparkContext.environment
    environment[WORKERS] = "1"
    try:
        yield
    finally:
        del environment[WORKERS]


def value_of(spark: SparkSession, key: str) -> Column:
    """The declared key of a fact as a text; null if it has none."""
    try:
        with untold():
            spark.createDataFrame([], "s string, p string, o string").select(F.expr(key))
    except (AnalysisException, ParseException) as error:
        wrong = sentence_of(error)
        raise PipelineError(f"the key {key} is no expression over s, p and o: {wrong}") from None
    return F.expr(key).cast("string")


def _shard_of(value: Column, shards: int) -> Column:
    """The shard of a key; of facts that have none, any."""
    return F.pmod(F.xxhash64(value), F.lit(shards)).cast("int")


def labels_of(spark: SparkSession, shards: int) -> list[int]:
    """Numbers that Spark hashes to different tasks, if there are as many; the first is 0.

    They depend on the number of shards alone: the state is kept by them.
    """
    labels: dict[int, int] = {}
    label = 0
    while len(labels) < shards:
        some = range(label, label + 16 * shards)
        values = ", ".join(f"({each})" for each in some)
        found = spark.sql(f"SELECT v, pmod(hash(v), {shards}) FROM VALUES {values} AS some(v)")
        for each, task in sorted(found.collect()):
            labels.setdefault(task, each)
        label = some.stop
    return sorted(labels.values())


class ShardProcessor(StatefulProcessor):
    """What Spark calls for a shard with every micro-batch."""

    def __init__(
        self, shards: Shards, routing: Routing, labels: Sequence[int], notes: bool
    ) -> None:
        self._shards = shards
        self._routing = routing
        self._labels = labels
        self._notes = notes

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
        tables = [unpacked(parcel) for frame in rows for parcel in frame["parcel"]]
        shard = self._labels.index(int(key[0]))
        rows = pa.concat_tables(tables)
        told = _told(self._shards, self._routing, shard, self._state, rows, notes=self._notes)
        if told.num_rows:
            yield parcel_of(told, shard).to_pandas()

    def close(self) -> None:
        """The kernel stays in the process, for the next batch."""


def _all_at_once(shards: Shards, routing: Routing, labels: Sequence[int]) -> Any:
    """What a shard does with facts that do not go on: all ticks, to the end."""

    def reason(key: tuple[Any], parcels: Any) -> Any:
        end = pa.Table.from_pylist([{"kind": "end"}], schema=ARROW)
        tables = [unpacked(parcel.as_buffer()) for parcel in parcels["parcel"]]
        shard = labels.index(key[0].as_py())
        told = _told(shards, routing, shard, _Nowhere(), pa.concat_tables([*tables, end]))
        return pa.Table.from_batches([parcel_of(told, shard)])

    return reason


def _told(
    shards: Shards, routing: Routing, shard: int, state: Any, rows: Any, *, notes: bool = False
) -> Any:
    """What a shard has to say: the rows of its facts, dead letters, and a note if it is wanted."""
    said = shards.feed(shard, state, rows)
    told = routing.at_home(said.rows, shard)
    letters = [letter for table in said.late.values() for letter in late_letters(table).to_pylist()]
    texts = [json.dumps(letter) for letter in letters]
    texts += rows.filter(pc.equal(rows["kind"], "bad"))["s"].to_pylist()
    if notes:
        texts.append(json.dumps({NOTE: said.note}))
    dead = [{"letter": text, "shard": shard} for text in texts]
    here = pa.repeat(pa.scalar(shard, pa.int32()), told.num_rows)
    columns = [*told.columns, pa.nulls(told.num_rows, pa.string()), here]
    return pa.concat_tables(
        [pa.table(columns, schema=OUTPUT), pa.Table.from_pylist(dead, schema=OUTPUT)]
    )


def _rows(columns: Sequence[str]) -> Parse:
    """What is in parcels: some columns, and no dead letters unless they are among these."""

    def rows(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for parcel in batch.column("parcel"):
                told = unpacked(parcel.as_buffer())
                if "letter" not in columns and told["letter"].null_count < told.num_rows:
                    told = told.filter(pc.is_null(told["letter"]))
                yield from told.select(columns).to_batches()

    return rows


def _spark_schema(columns: Iterable[str]) -> StructType:
    return from_arrow_schema(pa.schema([OUTPUT.field(name) for name in columns]))


class _Stored:
    """The state of a shard in Spark's state store."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._head = handle.getValueState(*HEAD)
        self._engine = handle.getValueState(*ENGINE)
        self._pages = handle.getMapState("pages", "number long", "until long, facts binary")

    def head(self) -> str | None:
        found = self._head.get()
        if found is not None:
            head: str = found[0]
            return head
        refuse_if(self._engine.exists(), IN_ONE_PLACE, IN_SHARDS)
        return None

    def set_head(self, head: str) -> None:
        self._head.update((head,))

    def pages(self) -> Iterable[tuple[int, Page]]:
        for (number,), (until, facts) in self._pages.iterator():
            yield number, Page(until, bytes(facts))

    def page(self, number: int) -> Page | None:
        if not self._pages.containsKey((number,)):
            return None
        found = self._pages.getValue((number,))
        assert found is not None
        return Page(found[0], bytes(found[1]))

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

    def page(self, number: int) -> Page | None:
        return None

    def set_page(self, number: int, page: Page) -> None:
        pass

    def drop_page(self, number: int) -> None:
        pass
