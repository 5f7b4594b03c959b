"""Messages to columns of timed facts, on the executors, in Rust.

In: where a message came from, its number there (an offset), and its bytes. Out: as `stages.parse`.

    trains/0@17        message 17 of partition 0: the source of a bad line
    trains/0@10..99    the messages that were parsed together: the source of a fact

Lines of timed N-Triples are parsed together, since a message is often one line; a graph is a
document of its own. Invariant: no message is lost, a bad line says which one it was in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from ebbtide.pipeline.stages.parse import (
    SCHEMA,
    Documents,
    as_error,
    bad_lines,
    facts,
    parse_document,
)
from ebbtide.pipeline.stages.settled import settle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_GZIP: Final = b"\x1f\x8b"


def parse_messages(messages: DataFrame, documents: Documents) -> DataFrame:
    """The timed facts, and the bad lines, of a DataFrame of source, number and value."""
    return messages.select("source", "number", "value").mapInArrow(parser(documents), SCHEMA)


def parser(documents: Documents) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The work of one task: record batches of messages to record batches of facts."""

    def parse(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            sources, numbers, values = (column.to_pylist() for column in batch.columns)
            # A message without a value is how Kafka says that a key is gone.
            whole = [(s, n, v) for s, n, v in zip(sources, numbers, values, strict=True) if v]
            together = documents.format == "tnt" and not any(
                v.startswith(_GZIP) for _, _, v in whole
            )
            for source in dict.fromkeys(s for s, _, _ in whole):
                of_source = [(n, v) for s, n, v in whole if s == source]
                if together:
                    yield from parse_together(source, of_source, documents.longest_term)
                    continue
                for number, value in of_source:
                    yield from parse_document(f"{source}@{number}", value, documents)
        settle()

    return parse


def parse_together(
    source: str, messages: Sequence[tuple[int, bytes]], longest_term: int
) -> Iterator[Any]:
    """Messages of whole lines, parsed as if they were one document."""
    import pyarrow as pa

    from ebbtide.terms.formats import read_tables

    texts = [value.removesuffix(b"\n") for _, value in messages]
    place = f"{source}@{messages[0][0]}..{messages[-1][0]}"
    bad: list[Any] = []
    for table in read_tables(b"\n".join(texts), "tnt", name=place, timed=True, bad=bad):
        yield from facts(pa.table(table), place, longest_term)
    first_lines = list(accumulate((text.count(b"\n") + 1 for text in texts), initial=1))
    for each in bad:
        at = bisect_right(first_lines, each.line) - 1
        error = {**as_error(each), "line": each.line - first_lines[at] + 1}
        yield bad_lines(f"{source}@{messages[at][0]}", [error])
