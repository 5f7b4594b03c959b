"""Dead letters: what came in and is no fact, or came too late. Each with its place and the reason.

    stream  source  line  column  t     reason                              text
    trains  07.tnt  3     1             not an instant (milliseconds ...)   noon ...
    trains  09.tnt  7           1500    its tick was over when it arrived   <a> <b> <c>

Invariant: what is not taken in is here, once, however many units it is too late for: the letters
are made of all that these say of a batch, and the file of a batch is replaced if it comes again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.languages.lars import show_fact
from ebbtide.pipeline.errors import DeadLetterError
from ebbtide.pipeline.sinks import Sink
from ebbtide.pipeline.stages.atoms import fact_of
from ebbtide.pipeline.units.unit import Fed

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
#: Of a letter, where its fact came from.
PLACE = ("stream", "source", "line")
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


def letters_of(batch: Mapping[str, Any], said: Sequence[tuple[str, Fed]]) -> Any:
    """Dead letters of what units, by their titles, say of a batch: one of each fact that was late.

    It names the units that were past the fact, unless all were that read its stream.
    """
    tables = [DeadLetters.none]
    for stream, rows in batch.items():
        readers = [(title, fed.late[stream]) for title, fed in said if stream in fed.late]
        past: dict[int, list[str]] = {}
        for title, late in readers:
            for row in late:
                past.setdefault(row, []).append(title)
        if past:
            places = sorted(past)
            reasons = [
                LATE if len(past[place]) == len(readers) else f"{LATE}, for {_and(past[place])}"
                for place in places
            ]
            tables.append(late_letters(rows.take(pa.array(places, pa.int64())), reasons))
    return pa.concat_tables([*tables, *(fed.refused for _, fed in said if fed.refused is not None)])


def late_letters(rows: Any, reasons: Sequence[str] | None = None) -> Any:
    """Dead letters of rows that came too late; those that only tell the time are none."""
    count = rows.num_rows
    reason = pa.repeat(LATE, count) if reasons is None else pa.array(reasons, pa.string())
    terms = zip(*(rows[name].to_pylist() for name in ("s", "p", "o")), strict=True)
    letters = pa.table(
        [
            *(rows[name] if name in rows.column_names else pa.nulls(count) for name in PLACE),
            pa.nulls(count, pa.int32()),
            rows["t"],
            reason,
            pa.array([_text(*each) for each in terms], pa.string()),
        ],
        LETTERS.names,
    )
    return letters.cast(LETTERS).filter(pc.is_valid(letters["text"]))


def _text(s: str | None, p: str | None, o: str | None) -> str | None:
    """A triple as it came, or an atom."""
    if s is not None:
        return f"{s} {p} {o}"
    fact = fact_of(s, p, o)
    return None if fact is None else show_fact(fact)


def _and(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> _and(["rules", "queries", "alarms"])
    'rules, queries and alarms'
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
