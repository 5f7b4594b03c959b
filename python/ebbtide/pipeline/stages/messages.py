"""Messages to columns of timed facts, on the executors, in Rust.

In: where a message came from, its number there (an offset), and its bytes. Out: as `stages.parse`.

    trains/0@17        message 17 of partition 0: the source of a fact or of a bad line

Lines of timed N-Triples are parsed together, since a message is often one line; a graph is a
document of its own. Invariant: no message is lost, a bad line says which one it was in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ebbtide.pipeline.stages.parcels import Parse
from ebbtide.pipeline.stages.parse import (
    GZIP,
    LINES,
    Documents,
    as_error,
    bad_lines,
    facts,
    parse_document,
    parsed,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def parse_messages(messages: DataFrame, documents: Documents) -> DataFrame:
    """The timed facts, and the bad lines, of a DataFrame of source, number and value."""
    columns = messages.select("source", "number", "value")
    return parsed(columns, parser(documents), documents.parcels)


def parser(documents: Documents) -> Parse:
    """Record batches of messages to record batches of facts."""

    def parse(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            sources, numbers, values = (column.to_pylist() for column in batch.columns)
            # A message without a value is how Kafka says that a key is gone.
            whole = [(s, n, v) for s, n, v in zip(sources, numbers, values, strict=True) if v]
            together = documents.format == LINES and not any(
                v.startswith(GZIP) for _, _, v in whole
            )
            for source in dict.fromkeys(s for s, _, _ in whole):
                of_source = [(n, v) for s, n, v in whole if s == source]
                if together:
                    yield from parse_together(source, of_source, documents.longest_term)
                    continue
                for number, value in of_source:
                    yield from parse_document(f"{source}@{number}", value, documents)

    return parse


def parse_together(
    source: str, messages: Sequence[tuple[int, bytes]], longest_term: int
) -> Iterator[Any]:
    """Messages of whole lines, parsed as if they were one document."""
    import numpy as np
    import pyarrow as pa

    from ebbtide.terms.formats import read_tables

    texts = [value.removesuffix(b"\n") for _, value in messages]
    place = f"{source}@{messages[0][0]}..{messages[-1][0]}"
    bad: list[Any] = []
    whole = b"\n".join(texts)
    first_lines = np.fromiter(
        accumulate((text.count(b"\n") + 1 for text in texts[:-1]), initial=1), np.int64
    )
    places = pa.array([f"{source}@{number}" for number, _ in messages])
    for each in read_tables(whole, LINES, name=place, timed=True, lines=True, bad=bad):
        table = pa.table(each)
        numbers = table["line"].to_numpy()
        at = np.searchsorted(first_lines, numbers, "right") - 1
        in_messages = pa.array(numbers - first_lines[at] + 1, pa.int32())
        table = table.set_column(table.column_names.index("line"), "line", in_messages)
        yield from facts(table, places.take(pa.array(at)), longest_term)
    for wrong in bad:
        (at,) = np.searchsorted(first_lines, [wrong.line], "right") - 1
        error = {**as_error(wrong), "line": wrong.line - int(first_lines[at]) + 1}
        yield bad_lines(places[int(at)].as_py(), [error])
