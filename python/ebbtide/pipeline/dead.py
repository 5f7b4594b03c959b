"""Dead letters: what came in and is no fact, or came too late. Each with its place and the reason.

    stream  source  line  column  t     reason                              text
    trains  07.tnt  3     1             not an instant (milliseconds ...)   noon ...
    trains  09.tnt  7           1500    its tick was over when it arrived   <a> <b> <c>

Invariant: what is not taken in is here, once: the file of a batch is replaced if it comes again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.pipeline.errors import DeadLetterError
from ebbtide.pipeline.sinks import Sink

LETTERS = pa.schema(
    [
        ("stream", pa.string()),
        ("source", pa.string()),
        ("line", pa.int32()),
        ("column", pa.int32()),
        ("t", pa.int64()),
        ("reason", pa.string()),
        ("text", pa.string()),
    ]
)
#: The same in Spark's words.
LETTER = "stream string, source string, line int, column int, t long, reason string, text string"
LATE = "its tick was over when it arrived"


class DeadLetters:
    """Where dead letters go; with `fail` the first one ends the run."""

    none = LETTERS.empty_table()

    def __init__(self, sink: Sink | None, fail: bool) -> None:
        self._sink = sink
        self._fail = fail

    def allow(self, letters: Any) -> None:
        """Go on, unless there are dead letters and they must not be."""
        if self._fail and letters.num_rows:
            first = letters.slice(0, 1).to_pylist()[0]
            place = ":".join(
                str(first[name]) for name in ("source", "line", "column") if first[name] is not None
            )
            raise DeadLetterError(f"{place}: {first['reason']}: {first['text']}")

    def write(self, batch: int, letters: Any) -> None:
        """Keep those of a batch."""
        if self._sink is not None:
            self._sink.write(batch, letters)

    def close(self) -> None:
        """There is no more."""
        if self._sink is not None:
            self._sink.close()


def bad_letters(rows: Any) -> Any:
    """Dead letters of the rows that `stages.parse` could not make facts of."""
    if not rows.num_rows:
        return DeadLetters.none
    errors = rows["error"].combine_chunks()
    line, column, reason, text = (
        pc.struct_field(errors, name) for name in ("line", "column", "reason", "text")
    )
    nothing = pa.nulls(rows.num_rows, pa.int64())
    return pa.table(
        [rows["stream"], rows["source"], line, column, nothing, reason, text], schema=LETTERS
    )


def late_letters(batch: Mapping[str, Any], late: Mapping[str, list[int]]) -> Any:
    """Dead letters of the rows of a batch that came too late."""
    tables = [
        _late(batch[stream].take(pa.array(rows, pa.int64())))
        for stream, rows in late.items()
        if rows
    ]
    return pa.concat_tables([DeadLetters.none, *tables])


def _late(rows: Any) -> Any:
    count = rows.num_rows
    nowhere = pa.nulls(count, pa.int32())
    text = pc.binary_join_element_wise(rows["s"], rows["p"], rows["o"], " ")
    reason = pa.repeat(LATE, count)
    return pa.table(
        [rows["stream"], rows["source"], rows["line"], nowhere, rows["t"], reason, text],
        schema=LETTERS,
    )
