"""The maintenance program of expiry, run on DataFrames to its fixpoint.

    delta    Ins:  what the last round concluded and no copy outlives
    whole    New:  one copy of each fact, the longest

Each round joins the delta with the whole in every place of every rule (ΔIns), keeps of each fact
the longest copy (ΔOld), and drops what the whole outlives (Δ+, `not P^Old`). The order of the
copies does not matter (docs/semantics/maintenance.md): what is concluded too early is outlived
later. It ends because there are finitely many facts over the terms, and times only grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.engines.dataframe.lower import conclusions
from ebbtide.maintenance import Extension, MaintenanceProgram
from ebbtide.time import Instant


def longest(frame: DataFrame) -> DataFrame:
    """One copy of each fact, the one with the latest `until`."""
    terms = [name for name in frame.columns if name != "until"]
    if not terms:
        return frame.agg(F.max("until").alias("until")).where("until IS NOT NULL")
    return frame.groupBy(*terms).agg(F.max("until").alias("until"))


def outliving(copies: DataFrame, whole: DataFrame | None) -> DataFrame:
    """The copies that no copy of the whole lasts as long as."""
    if whole is None:
        return copies
    terms = [name for name in copies.columns if name != "until"]
    theirs = whole.withColumnRenamed("until", "theirs")
    joined = copies.join(theirs, terms, "left") if terms else copies.crossJoin(theirs)
    return joined.where("theirs IS NULL OR theirs < until").drop("theirs")


def fixpoint(
    program: MaintenanceProgram,
    whole: Mapping[str, DataFrame],
    inserted: Mapping[str, DataFrame],
    now: Instant,
) -> tuple[dict[str, DataFrame], int]:
    """The whole with what was inserted and all that follows, and the number of rounds."""
    rules = program.concluding(Extension.INSERTED)
    new = dict(whole)
    delta = _fresh(new, inserted)
    rounds = 0
    while delta:
        rounds += 1
        for relation, frame in delta.items():
            grown = frame if relation not in new else new[relation].unionByName(frame)
            new[relation] = longest(grown).localCheckpoint()
        extensions = {Extension.INSERTED: delta, Extension.NEW: new}
        found: dict[str, list[DataFrame]] = {}
        for rule in rules:
            concluded = conclusions(rule, extensions)
            if concluded is not None:
                found.setdefault(rule.head.atom.relation, []).append(concluded)
        merged = {
            relation: reduce(lambda a, b: a.unionByName(b), frames).where(F.col("until") > now)
            for relation, frames in found.items()
        }
        delta = _fresh(new, merged)
    return new, rounds


def _fresh(whole: Mapping[str, DataFrame], copies: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Of the copies the longest, where the whole has none as long; no relation is empty."""
    fresh = {}
    for relation, frame in copies.items():
        kept = outliving(longest(frame), whole.get(relation)).localCheckpoint()
        if not kept.isEmpty():
            fresh[relation] = kept
    return fresh
