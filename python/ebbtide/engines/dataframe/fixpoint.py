"""The maintenance program of expiry, run on DataFrames to its fixpoint.

    delta    Ins:  what the last round concluded and no copy outlives
    whole    New:  one copy of each fact, the longest

Each round joins the delta with the whole in every place of every rule (ΔIns), and settles what is
concluded (`extent.py`). The order of the copies does not matter (docs/semantics/maintenance.md):
what is concluded too early is outlived later. It ends when a round's delta counts nothing, which it
does because there are finitely many facts over the terms, and times only grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.engines.dataframe.extent import Extent, settle
from ebbtide.engines.dataframe.lower import conclusions
from ebbtide.maintenance import Extension, MaintenanceProgram
from ebbtide.maintenance.rule import Marked
from ebbtide.program import TRIPLE, Variable
from ebbtide.program.user_module import UserModule
from ebbtide.time import Instant


def fixpoint(
    program: MaintenanceProgram,
    whole: Mapping[str, DataFrame],
    inserted: Mapping[str, DataFrame],
    now: Instant,
    builtins: Sequence[UserModule] = (),
) -> tuple[dict[str, Extent], int]:
    """The whole with what was inserted and all that follows, and the number of rounds.

    `builtins` are what guards call, which executors must run first.
    """
    rules = program.concluding(Extension.INSERTED)
    named = named_predicates(program)
    extents = {
        relation: settle(relation, whole.get(relation), inserted.get(relation), named)
        for relation in {**whole, **inserted}
    }
    rounds = 0
    while any(extent.fresh for extent in extents.values()):
        rounds += 1
        found: dict[str, list[DataFrame]] = {}
        for rule in rules:
            concluded = conclusions(rule, extents, builtins)
            if concluded is not None:
                found.setdefault(rule.head.atom.relation, []).append(concluded)
        settled = {relation: extent.settled() for relation, extent in extents.items()}
        for relation, frames in found.items():
            copies = reduce(lambda a, b: a.unionByName(b), frames).where(F.col("until") > now)
            before = settled[relation].facts if relation in settled else None
            settled[relation] = settle(relation, before, copies, named)
        extents = settled
    return extents, rounds


def named_predicates(program: MaintenanceProgram) -> frozenset[str]:
    """The predicates of triples that the bodies of rules name."""
    return frozenset(
        predicate.text
        for rule in program.concluding(Extension.INSERTED)
        for part in rule.body
        if isinstance(part, Marked) and part.atom.relation == TRIPLE
        if not isinstance(predicate := part.atom.arguments[1], Variable)
    )
