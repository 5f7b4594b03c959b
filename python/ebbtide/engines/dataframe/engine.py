"""The engine protocol over DataFrames: facts wait, a tick runs the maintenance program.

Facts come one by one, or as DataFrames of any size. What a tick changed is asked for as a `Delta`
(which collects) or as DataFrames (which does not).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.engines.abilities import Unsupported
from ebbtide.engines.dataframe.extent import cut
from ebbtide.engines.dataframe.fixpoint import fixpoint
from ebbtide.engines.protocol import Delta, LateFact
from ebbtide.engines.reference.closure import derivations
from ebbtide.maintenance import maintenance_program
from ebbtide.plan.joins import why_no_joins
from ebbtide.program import Fact, Program
from ebbtide.program.user_module import UserModule
from ebbtide.terms import parse_term
from ebbtide.time import (
    EARLIEST,
    FOREVER,
    LATEST,
    Instant,
    Landmark,
    Sliding,
    TimeWindow,
    Tumbling,
    Window,
)


class Changes(NamedTuple):
    """What a tick changed in a relation: its columns, `until`, and op: +, - or ~."""

    tick: Instant
    frames: Mapping[str, DataFrame]


class DataFrameEngine:
    """Keeps the closure of a positive program as DataFrames, one a relation.

    `builtins` define what its guards call beyond Ebbtide's own: executors run them.
    """

    def __init__(
        self,
        spark: SparkSession,
        program: Program,
        windows: Mapping[str, Window],
        builtins: Iterable[UserModule] = (),
    ) -> None:
        if reason := why_no_joins(program):
            raise Unsupported(f"the dataframe engine runs positive programs: {reason}")
        if not all(isinstance(window, TimeWindow) for window in windows.values()):
            raise Unsupported("the dataframe engine has no count windows and no sessions")
        self.program = program
        self.windows = dict(windows)
        self._builtins = tuple(builtins)
        self.rounds = 0
        self._spark = spark
        self._maintenance = maintenance_program(program, "expiry")
        self._last: Instant | None = None
        self._whole: dict[str, DataFrame] = {}
        self._sizes: dict[str, int] = {}
        #: Facts with the instant from which they count, and until: those that were gathered,
        #: DataFrames that came since, and facts that came one by one.
        self._waiting: dict[str, DataFrame] = {}
        self._arrived: dict[str, list[DataFrame]] = {}
        self._loose: dict[str, list[tuple[object, ...]]] = {}
        for rule in program.rules:
            if not rule.positives:
                for fact, until in derivations(rule, {}):
                    self._put(fact, None, until)

    # ---- facts in ----------------------------------------------------------------------------

    def add(self, fact: Fact) -> None:
        """State a background fact. It is seen from the next tick on."""
        self._put(fact, None, FOREVER)

    def push(self, fact: Fact, at: Instant, stream: str = "default") -> None:
        """State a fact that happens at `at` on a stream; `LateFact` if that tick is over."""
        if self._last is not None and at <= self._last:
            raise LateFact(f"{fact} happens at {at}, and that tick is over")
        window = self.windows[stream]
        assert isinstance(window, TimeWindow)
        until = window.until(at)
        if until is not None:
            self._put(fact, at, until)

    def retract(self, fact: Fact, at: Instant) -> None:
        """Not here: Table 5 has no deletions but expiry."""
        raise Unsupported("the dataframe engine cannot retract")

    def add_frame(self, facts: DataFrame, relation: str) -> None:
        """State background facts: a DataFrame with the relation's columns."""
        named = facts.toDF(*self._columns(relation))
        whole = named.withColumn("at", F.lit(None).cast("long")).withColumn("until", F.lit(FOREVER))
        self._arrived.setdefault(relation, []).append(whole)

    def push_frame(self, facts: DataFrame, relation: str, stream: str = "default") -> None:
        """State timed facts: a DataFrame with the relation's columns and, last, the instants.

        Whoever drives the engine has left out those that are late.
        """
        named = facts.toDF(*self._columns(relation), "at")
        until = _until(self.windows[stream])
        timed = named.withColumn("until", F.expr(until)).where("until IS NOT NULL")
        self._arrived.setdefault(relation, []).append(timed)

    # ---- ticks and answers -------------------------------------------------------------------

    def advance(self, tick: Instant) -> Delta:
        """Evaluate the tick. Ticks must ascend."""
        found: dict[str, dict[Fact, Instant]] = {"+": {}, "-": {}, "~": {}}
        for relation, frame in self.changes(tick).frames.items():
            for *texts, until, op in frame.collect():
                found[op][_fact(relation, texts)] = until
        return Delta(tick, found["+"], found["-"], found["~"])

    def changes(self, tick: Instant) -> Changes:
        """Evaluate the tick; what it changed, as DataFrames."""
        before = self._whole
        alive = {relation: frame.where(F.col("until") > tick) for relation, frame in before.items()}
        inserted = self._entering(tick)
        after, self.rounds = fixpoint(self._maintenance, alive, inserted, tick, self._builtins)
        self._whole = {name: extent.facts for name, extent in after.items()}
        self._sizes = {name: extent.size for name, extent in after.items()}
        self._last = tick
        return Changes(tick, {name: self._change(name, before) for name in self._whole})

    def quiet_until(self) -> Instant:
        """Before this no tick after the last one changes anything, unless something is said."""
        self._gather()
        ends = [frame.select("until") for frame in self._whole.values()]
        # What holds for ever waits for the next tick, whenever that is.
        begin = F.coalesce("at", F.lit(EARLIEST))
        begins = [frame.select(begin) for frame in self._waiting.values()]
        if not (ends or begins):
            return LATEST
        instants = reduce(lambda a, b: a.union(b), [*ends, *begins]).toDF("at")
        first = instants.agg(F.min("at")).collect()[0][0]
        return LATEST if first is None else min(first, LATEST)

    def facts(self, relations: Collection[str] | None = None) -> Mapping[Fact, Instant]:
        """The materialisation at the last tick, of some relations or all; each fact's `until`."""
        return {
            _fact(relation, texts): until
            for relation, frame in self._whole.items()
            if relations is None or relation in relations
            for *texts, until in frame.collect()
        }

    def frame(self, relation: str) -> DataFrame | None:
        """The facts of a relation at the last tick; None if there are none."""
        return self._whole.get(relation)

    def size(self, relation: str) -> int:
        """How many facts of a relation hold at the last tick."""
        return self._sizes.get(relation, 0)

    # ---- snapshots ---------------------------------------------------------------------------

    def state(self) -> Iterator[tuple[str, DataFrame | None, DataFrame | None]]:
        """For each relation what holds, and what waits for a tick."""
        self._gather()
        for relation in self.program.relations:
            yield relation, self._whole.get(relation), self._waiting.get(relation)

    def resume(
        self,
        last: Instant | None,
        state: Iterable[tuple[str, DataFrame | None, DataFrame | None]],
    ) -> None:
        """Go on from a state after the tick `last`; the engine must be fresh."""
        self._last = last
        self._loose.clear()
        for relation, whole, waiting in state:
            if whole is not None:
                self._whole[relation] = cut(whole)
                self._sizes[relation] = self._whole[relation].count()
            if waiting is not None:
                self._waiting[relation] = waiting.localCheckpoint()

    # ---- inside ------------------------------------------------------------------------------

    def _columns(self, relation: str) -> list[str]:
        return [f"a{place}" for place in range(self.program.relations[relation])]

    def _put(self, fact: Fact, at: Instant | None, until: Instant) -> None:
        row = (*(term.text for term in fact.terms), at, until)
        self._loose.setdefault(fact.relation, []).append(row)

    def _entering(self, tick: Instant) -> dict[str, DataFrame]:
        """What waited and happened by the tick; the rest goes on waiting."""
        self._gather()
        entering = {}
        for relation, whole in self._waiting.items():
            here = whole.where(F.col("at").isNull() | (F.col("at") <= tick))
            entering[relation] = here.where(F.col("until") > tick).drop("at")
            self._waiting[relation] = whole.where(F.col("at") > tick)
        return entering

    def _gather(self) -> None:
        """Let what waits be one DataFrame a relation, that needs no source any more."""
        for relation, rows in self._loose.items():
            terms = "".join(f"{name} string, " for name in self._columns(relation))
            frame = self._spark.createDataFrame(rows, f"{terms}at long, until long")
            self._arrived.setdefault(relation, []).append(frame)
        self._loose.clear()
        for relation, frames in self._arrived.items():
            if relation in self._waiting:
                frames.append(self._waiting[relation])
            whole = reduce(lambda a, b: a.unionByName(b), frames)
            self._waiting[relation] = whole.localCheckpoint()
        self._arrived.clear()

    def _change(self, relation: str, before: Mapping[str, DataFrame]) -> DataFrame:
        columns = self._columns(relation)
        new = self._whole[relation].withColumnRenamed("until", "new")
        if relation not in before:
            return new.select(*columns, F.col("new").alias("until"), F.lit("+").alias("op"))
        old = before[relation].withColumnRenamed("until", "old")
        joined = new.join(old, columns, "full") if columns else new.crossJoin(old)
        op = F.when(F.col("old").isNull(), "+").when(F.col("new").isNull(), "-").otherwise("~")
        changed = joined.where("old IS NULL OR new IS NULL OR old <> new")
        until = F.coalesce("new", "old").alias("until")
        return changed.select(*columns, until, op.alias("op"))


def _until(window: Window) -> str:
    """When a fact that happens at `at` leaves, in SQL."""
    match window:
        case Sliding(range):
            return f"least(at + {range}, {FOREVER - 1})"
        case Tumbling(width, origin):
            pane = f"ceil((at - ({origin})) / {width})"
            return f"least({origin} + CAST({pane} AS LONG) * {width} + 1, {FOREVER - 1})"
        case Landmark(start):
            return f"CASE WHEN at >= {start} THEN {FOREVER} END"
    raise Unsupported(f"the dataframe engine has no {window}")


def _fact(relation: str, texts: list[str]) -> Fact:
    return Fact(relation, tuple(map(parse_term, texts)))
