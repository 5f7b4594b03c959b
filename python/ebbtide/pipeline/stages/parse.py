"""Lines of timed N-Triples to columns of timed facts, on the executors.

In: a column `value` of lines. Out, a row for every line that is not blank:

    t  long      the instant, milliseconds
    s  p  o      the terms as N-Triples texts
    problem      why the line is no fact; then t, s, p and o are null

Invariant: no line is lost, a bad one is a row that says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, Final

from pyspark.sql import DataFrame

COLUMNS: Final = ("t", "s", "p", "o", "problem")
SCHEMA: Final = "t long, s string, p string, o string, problem string"


def parse(lines: DataFrame) -> DataFrame:
    """The timed facts, and the bad lines, of a DataFrame of lines."""
    return lines.mapInArrow(parse_batches, SCHEMA)


def parse_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """The work of one task, Arrow record batch by record batch."""
    import pyarrow as pa

    from ebbtide.terms.formats import BadLine, parse_timed

    for batch in batches:
        text = "\n".join(batch.column(0).to_pylist())
        rows: list[tuple[int | None, str | None, str | None, str | None, str | None]] = []
        for found in parse_timed(BytesIO(text.encode()), "stream"):
            if isinstance(found, BadLine):
                problem = f"column {found.column}: {found.reason}: {found.text}"
                rows.append((None, None, None, None, problem))
            else:
                s, p, o = found.triple
                rows.append((found.at, s.text, p.text, o.text, None))
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in COLUMNS]
        types = (pa.int64(), pa.string(), pa.string(), pa.string(), pa.string())
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))
