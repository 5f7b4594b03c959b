"""Lines of timed N-Triples to columns of timed facts, on the executors, in Rust.

In: a column `value` of lines. Out, a row for every line that is not blank:

    t  long      the instant, milliseconds
    s  p  o      the terms as N-Triples texts
    error        why the line is no fact (column, reason, line); then t, s, p and o are null

Invariant: no line is lost, a bad one is a row that says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pyspark.sql import DataFrame

SCHEMA: Final = (
    "t long, s string, p string, o string, error struct<column: int, reason: string, line: string>"
)


def parse(lines: DataFrame) -> DataFrame:
    """The timed facts, and the bad lines, of a DataFrame of lines."""
    return lines.mapInArrow(parse_batches, SCHEMA)


def parse_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """The work of one task, Arrow record batch by record batch."""
    import pyarrow as pa

    from ebbtide.terms.formats import parse_lines

    for batch in batches:
        yield from pa.RecordBatchReader.from_stream(parse_lines(batch))
