"""Which shards a fact goes to, and what every shard hears of the others.

Every fact goes to the shard of its subject, and to that of its object if the sharding says that its
predicate lives there too. With every batch of a task each shard hears the first and the last
instant in it. So all shards see the same watermark and evaluate the same ticks with every
micro-batch, those to which no fact went included.

    kind  "fact"  a fact for its home       "heard"  an instant of the batch      "end"  no more
          "copy"  a fact for another shard  "bad"    a dead letter, in `s` as JSON, for the first

Between tasks they are parcels, one a shard (`stages.parcels` says why).

If a key is declared, a column `home` has the shard of each fact, and it goes there alone; to every
shard, if that is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide._kernel import Table
from ebbtide.pipeline.dead import bad_letters
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.packed import packed
from ebbtide.plan.schema import TYPE, Schema

PARCELS: Final = "shard int, parcel binary"
#: The stream, of no facts, whose lines say that all streams have ended.
END: Final = "end:"
COLUMNS: Final = ("stream", "source", "line", "t", "s", "p", "o")
ARROW: Final = pa.schema(
    [
        ("shard", pa.int32()),
        *((name, pa.string()) for name in ("kind", "stream", "source")),
        ("line", pa.int32()),
        ("t", pa.int64()),
        *((name, pa.string()) for name in ("s", "p", "o")),
    ]
)


@dataclass(frozen=True)
class Routing:
    """Facts to shards: a table with a column `shard` and a column `kind`."""

    shards: int
    #: The texts of the predicates whose facts live by their object as well.
    by_object: frozenset[str]
    others_by_object: bool
    #: Those that some rule names.
    named: frozenset[str]
    schema: Schema
    by_key: bool = False

    def route(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The work of one task, for batches of facts."""
        for batch in batches:
            table = pa.Table.from_batches([batch])
            is_end = pc.equal(table["stream"], END)
            if pc.any(is_end).as_py():
                rows = [{"shard": shard, "kind": "end"} for shard in range(self.shards)]
                yield from pa.Table.from_pylist(rows, schema=ARROW).to_batches()
                table = table.filter(pc.invert(is_end))
            if "error" in table.column_names:
                is_fact = pc.is_null(table["error"])
                yield from _bad(bad_letters(table.filter(pc.invert(is_fact)))).to_batches()
                table = table.filter(is_fact)
            homes = table["home"] if self.by_key else None
            facts = self._without_schema(table.select(list(COLUMNS)))
            if facts.num_rows:
                yield from self.routed(facts, homes).to_batches()

    def parcels(self, batches: Iterable[Any], labels: Sequence[int]) -> Iterator[Any]:
        """The same, in parcels, each with the label of its shard."""
        for batch in batches:
            rows = pa.Table.from_batches(self.route([batch]), ARROW)
            for shard in pc.unique(rows["shard"]).to_pylist():
                yield parcel_of(rows.filter(pc.equal(rows["shard"], shard)), labels[shard])

    def _without_schema(self, facts: Any) -> Any:
        """The proof is for the schema of the background: more of it must not come on a stream."""
        if self.shards == 1 or self.by_key or not facts.num_rows:
            return facts
        predicates = pa.array([each.text for each in self.schema.predicates], pa.string())
        classes = pa.array([each.text for each in self.schema.classes], pa.string())
        is_type = pc.and_(pc.equal(facts["p"], TYPE.text), pc.is_in(facts["o"], classes))
        is_schema = pc.or_(pc.is_in(facts["p"], predicates), is_type)
        if pc.any(is_schema).as_py():
            first = facts.filter(is_schema).slice(0, 1).to_pylist()[0]
            raise PipelineError(
                "schema must be in the background of shards, and not on a stream: "
                f"{first['s']} {first['p']} {first['o']} at {first['t']}"
            )
        return facts

    def routed(self, facts: Any, homes: Any = None) -> Any:
        """The facts of a table, each for its shards, and what all shards hear."""
        if homes is not None:
            return pa.concat_tables([*self._by_key(facts, homes), *self._heard(facts)])
        home = self.shard_of(facts["s"])
        other = self.shard_of(facts["o"])
        there = pc.and_(self._lives_by_object(facts["p"]), pc.not_equal(home, other))
        parts = [
            _marked(facts, home, "fact"),
            _marked(facts.filter(there), other.filter(there), "copy"),
            *self._heard(facts),
        ]
        return pa.concat_tables(parts)

    def _by_key(self, facts: Any, homes: Any) -> Iterator[Any]:
        has_home = pc.is_valid(homes)
        yield _marked(facts.filter(has_home), homes.filter(has_home), "fact")
        everywhere = facts.filter(pc.invert(has_home))
        for shard in range(self.shards):
            there = pa.repeat(shard, everywhere.num_rows)
            yield _marked(everywhere, there, "copy" if shard else "fact")

    def shard_of(self, terms: Any) -> Any:
        """The numbers of the shards of a column of terms: the same in every process."""
        found = Table(pa.table([terms], ["term"])).shards("term", self.shards)
        return pa.table(found)["shard"].combine_chunks()

    def at_home(self, rows: Any, shard: int) -> Any:
        """The rows about facts whose home a shard is: each is told once, by one shard.

        If a key is declared, Spark finds them out.
        """
        if self.shards == 1 or self.by_key or not rows.num_rows:
            return rows
        return rows.filter(pc.equal(self.shard_of(rows["s"]), shard))

    def _lives_by_object(self, predicates: Any) -> Any:
        by_object = pc.is_in(predicates, pa.array(sorted(self.by_object), pa.string()))
        if not self.others_by_object:
            return by_object
        named = pc.is_in(predicates, pa.array(sorted(self.named), pa.string()))
        return pc.or_(by_object, pc.invert(named))

    def _heard(self, facts: Any) -> Iterator[Any]:
        spans = facts.group_by("stream").aggregate([("t", "min"), ("t", "max")]).to_pylist()
        schema = facts.schema
        for span in spans:
            for at in {span["t_min"], span["t_max"]}:
                row = {"stream": span["stream"], "t": at}
                rows = pa.Table.from_pylist([row] * self.shards, schema=schema)
                yield _marked(rows, pa.array(range(self.shards), pa.int32()), "heard")


def parcel_of(rows: Any, shard: int) -> Any:
    """A record batch of one parcel."""
    columns = [pa.array([shard], pa.int32()), pa.array([packed(rows)], pa.binary())]
    return pa.record_batch(columns, ["shard", "parcel"])


def _bad(letters: Any) -> Any:
    rows = [{"shard": 0, "kind": "bad", "s": json.dumps(row)} for row in letters.to_pylist()]
    return pa.Table.from_pylist(rows, schema=ARROW)


def _marked(facts: Any, shards: Any, kind: str) -> Any:
    kinds = pa.repeat(kind, facts.num_rows)
    columns = [shards.cast(pa.int32()), kinds, *facts.columns]
    return pa.table(columns, names=["shard", "kind", *facts.column_names])
