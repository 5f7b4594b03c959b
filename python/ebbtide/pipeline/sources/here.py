"""A few documents, read and parsed by this process: Spark takes longer to begin a job.

What a batch reads, as `sinks.parcels` is told it, a line each:

    file:///data/in/7.tnt                        a file that is read whole
    {"last": "3.tnt", ...} TAB {"last": ...}     the offsets of a source, which may be a spool
    Scan ExistingRDD                             something else

Invariant: the rows are those that workers would make of the same batch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ebbtide.pipeline.failed import unreadable
from ebbtide.pipeline.sources.spool import pieces_of
from ebbtide.pipeline.stages.parse import GZIP, of_stream, path_of, rows_table

if TYPE_CHECKING:
    from ebbtide.pipeline.stages.parcels import Parse

#: Bytes of documents that are parsed sooner than a worker is told of them.
FEW: Final = 65_536


class Home(NamedTuple):
    """Where the documents of a stream are, if this process can read them, and what parses them."""

    stream: str
    folder: Path
    parse: Parse


class _Document(NamedTuple):
    home: Home
    #: As workers are told it.
    name: str
    path: Path


def few_rows(read: str, homes: Sequence[Home]) -> Any:
    """The rows, with their streams, of what a batch reads; None if that is much, or elsewhere."""
    import pyarrow as pa

    found = [_documents(line, homes) for line in read.splitlines()]
    if not homes or None in found:
        return None
    documents = [document for each in found for document in each or ()]
    try:
        if sum(document.path.stat().st_size for document in documents) > FEW:
            return None
        read_here = [(each, each.path.read_bytes()) for each in documents]
    except OSError as error:
        raise unreadable(str(error.filename), str(error.strerror)) from None
    # How much is in them shows when they are unpacked: a thousand times as much, perhaps.
    if any(content.startswith(GZIP) for _, content in read_here):
        return None
    tables = []
    for home in homes:
        mine = [(each.name, content) for each, content in read_here if each.home is home]
        columns = [
            pa.array([name for name, _ in mine], pa.string()),
            pa.array([content for _, content in mine], pa.binary()),
        ]
        rows = rows_table(home.parse([pa.record_batch(columns, ["path", "content"])]))
        tables.append(of_stream(home.stream, rows))
    return pa.concat_tables(tables)


def _documents(line: str, homes: Sequence[Home]) -> list[_Document] | None:
    """The documents of a line; None if it is not known to be of any home."""
    if line.startswith("{"):
        start, end = map(json.loads, line.split("\t"))
        # The offsets of other sources have no such key, nor have those of earlier builds.
        of = (home for home in homes if home.stream == end.get("stream"))
        return next((_pieces(home, start["last"], end["last"]) for home in of), None)
    path = Path(path_of(line))
    around = [home for home in homes if path.is_relative_to(home.folder)]
    if not line.startswith("file:") or not around:
        return None
    innermost = max(around, key=lambda home: len(home.folder.parts))
    return [_Document(innermost, str(path), path)]


def _pieces(home: Home, after: str, last: str) -> list[_Document]:
    return [_Document(home, piece.name, piece) for piece in pieces_of(home.folder, after, last)]
