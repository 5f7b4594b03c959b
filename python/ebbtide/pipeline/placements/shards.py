"""Placement `sharded` in a pipeline: Spark reasons, and what it says is written here.

The state is in Spark's checkpoint, batch by batch; a batch that comes again brings the same rows,
and each sink puts them into the same place. The end of the streams is told to the shards as a file
in a folder that is read like a stream; unlike in the driver, it cannot be taken back. What each
shard holds, and how long its ticks took, comes with the rows as notes.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.pipeline.checkpoint.sealed import replace_file
from ebbtide.pipeline.dead import LETTERS
from ebbtide.pipeline.file.meaning import RULES
from ebbtide.pipeline.listener import observed
from ebbtide.pipeline.placements.placement import Placement
from ebbtide.pipeline.placements.routing import END
from ebbtide.pipeline.placements.sharded import NOTE, doubt, reason_in_shards
from ebbtide.pipeline.sources.files import OLDEST
from ebbtide.pipeline.units.rules import ROWS, Rules
from ebbtide.testing.crash import crash_point

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(kw_only=True)
class ShardedPlacement(Placement):
    """A unit of rules in several shards."""

    unit: Rules
    shards: int
    key: str | None = None
    #: How many facts hold in each shard; those in several of them are in each.
    _holding: dict[int, int] = field(default_factory=dict)

    @property
    def _ends(self) -> Path:
        return self.checkpoint.folder / "end"

    def prepare(self, facts: DataFrame) -> DataFrame:
        """Reason in shards; what says that the streams have ended is one more stream."""
        from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

        # Facts never come to the driver: Spark counts them on their way.
        facts = observed(facts, self.streams)
        self._ends.mkdir(exist_ok=True)
        # The clock may be put back between two ends.
        reader = facts.sparkSession.readStream.option("maxFileAge", OLDEST)
        lines = reader.text(str(self._ends))
        nothing = (F.lit(None).cast(kind).alias(name) for name, kind in facts.dtypes[2:])
        ends = lines.select(F.lit(END).alias("stream"), F.lit(END).alias("source"), *nothing)
        if self.key is not None:
            self.say(doubt(self.unit, self.key))
        facts = facts.unionByName(ends)
        return reason_in_shards(facts, self.unit, self.shards, self.key, notes=True)

    def take(self, number: int, batch: DataFrame, begun: float) -> None:
        """Write what the shards said of a batch."""
        table = batch.toArrow()
        is_row = pc.is_null(table["letter"])
        rows = table.filter(is_row).select(ROWS.names).cast(ROWS)
        said = [json.loads(text) for text in table.filter(pc.invert(is_row))["letter"].to_pylist()]
        notes = [each[NOTE] for each in said if NOTE in each]
        letters = pa.Table.from_pylist([each for each in said if NOTE not in each], LETTERS)
        self.dead.allow(letters)
        self.write(number, {RULES: rows}, letters)
        crash_point("before the commit", str(number))
        late = pc.sum(pc.is_valid(letters["t"])).as_py() or 0
        self._holding |= {note["shard"]: note["holding"] for note in notes}
        # Shards tick together: a tick is over when the last of them is done with it.
        ticks = list(zip_longest(*(note["tick_seconds"] for note in notes), fillvalue=0.0))
        self.progress.tick_milliseconds += [1000 * max(seconds) for seconds in ticks]
        for event in dict.fromkeys(event for note in notes for event in note["events"]):
            self.say(event)
        self.tell(
            begun,
            {RULES: rows},
            batch=number,
            facts=None,
            bad=letters.num_rows - late,
            late=late,
            ticks=len(ticks),
            tick=max((note["tick"] for note in notes if note["tick"] is not None), default=None),
            holding=sum(self._holding.values()),
        )

    def end(self, query: StreamingQuery) -> None:
        """Tell the shards, and wait until they have answered."""
        replace_file(self._ends / f"{time.time_ns()}.txt", b"end\n")
        query.processAllAvailable()
