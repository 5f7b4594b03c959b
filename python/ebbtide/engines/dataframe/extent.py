"""The facts of a relation in a round of the fixpoint, and how many there are of each kind.

    a0  a1  ...   until   fresh      one copy of each fact, the longest; whether the last round
                                     brought it, or made it last longer

`settle` puts what a round concluded into the whole: one aggregation keeps of each fact its longest
copy (ΔOld) and tells what is fresh (Δ+, `not P^Old`). Counting is the one job of a round. Triples
are counted by those predicates that rules name, so that rules that meet nothing are not planned.

Invariant: the frame of an extent has no history: plans do not grow with the rounds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.program import TRIPLE, Atom, Variable


@dataclass(frozen=True)
class Extent:
    """The facts of one relation."""

    whole: DataFrame
    #: By predicate, None for the others: how many facts, and how many that are fresh.
    counts: Mapping[str | None, tuple[int, int]]

    @property
    def facts(self) -> DataFrame:
        """What holds: the columns of the relation, and until."""
        return self.whole.drop("fresh")

    @property
    def delta(self) -> DataFrame:
        """What the last round brought."""
        return self.whole.where("fresh").drop("fresh")

    @property
    def size(self) -> int:
        """How many facts there are."""
        return sum(whole for whole, _ in self.counts.values())

    @property
    def fresh(self) -> int:
        """How many of them are fresh."""
        return sum(fresh for _, fresh in self.counts.values())

    def most(self, atom: Atom, *, fresh: bool) -> int:
        """How many facts, or fresh ones, can match an atom at the most."""
        predicate = atom.arguments[1] if atom.relation == TRIPLE else None
        if predicate is None or isinstance(predicate, Variable):
            return self.fresh if fresh else self.size
        return self.counts.get(predicate.text, (0, 0))[fresh]

    def settled(self) -> Extent:
        """The same facts, none of them fresh."""
        counts = {kind: (size, 0) for kind, (size, _) in self.counts.items()}
        return Extent(self.facts.withColumn("fresh", F.lit(False)), counts)


def settle(
    relation: str, whole: DataFrame | None, copies: DataFrame | None, named: Collection[str]
) -> Extent:
    """The whole with some copies of facts, those that last longer than what it has."""
    old, until = F.col("until").alias("old"), F.col("until")
    none = F.lit(None).cast("long").alias("old")
    parts = []
    if whole is not None:
        parts.append(whole.select(*_terms(whole), old, until))
    if copies is not None:
        parts.append(copies.select(*_terms(copies), none, until))
    both = parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1])
    terms = [name for name in both.columns if name not in ("old", "until")]
    merged = both.groupBy(*terms).agg(F.max("until").alias("until"), F.max("old").alias("old"))
    if not terms:
        merged = merged.where("until IS NOT NULL")
    fresh = F.col("old").isNull() | (F.col("old") < F.col("until"))
    frame = cut(merged.select(*terms, "until", fresh.alias("fresh")))
    return Extent(frame, _counts(frame, named if relation == TRIPLE else ()))


def cut(frame: DataFrame) -> DataFrame:
    """A frame without history, computed by the first job that needs it, if not before.

    Where Spark has a folder for checkpoints it goes there, and survives executors.
    """
    if frame.sparkSession.sparkContext.getCheckpointDir() is None:
        return frame.localCheckpoint(eager=False)
    kept = frame.persist()
    try:
        return kept.checkpoint()
    finally:
        kept.unpersist()


def _counts(frame: DataFrame, named: Collection[str]) -> dict[str | None, tuple[int, int]]:
    kind = F.when(F.col("a1").isin(*named), F.col("a1")) if named else F.lit(None).cast("string")
    counted = frame.groupBy(kind.alias("kind")).agg(
        F.count(F.lit(1)).alias("whole"), F.count_if("fresh").alias("fresh")
    )
    return {row.kind: (row.whole, row.fresh) for row in counted.collect()}


def _terms(frame: DataFrame) -> list[str]:
    return [name for name in frame.columns if name != "until"]
