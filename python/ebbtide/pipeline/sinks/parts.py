"""A folder with a file a batch: JSON lines, Parquet or N-Triples.

Invariant: the file of a batch is named by it, and put into place at once, so that a batch that is
written again replaces itself, and a reader never meets half a file. A batch without rows has none.
A file of any other name is not ours: it is never replaced nor taken away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import pyarrow as pa

from ebbtide.pipeline.checkpoint.sealed import replace_file
from ebbtide.testing.crash import crash_point

if TYPE_CHECKING:
    from ebbtide.queries import Answers

Encode: TypeAlias = Callable[[Any], bytes]


class Parts:
    """A sink that writes `part-00000012.SUFFIX` for batch 12."""

    def __init__(self, folder: Path, suffix: str, encode: Encode) -> None:
        self.folder = folder
        self._suffix = suffix
        self._encode = encode

    def written(self) -> list[Path]:
        """The parts that are there, in order."""
        return sorted(path for path in self._parts() if self._is_own(path))

    def others(self) -> list[Path]:
        """Files of others that a reader of the folder would take for parts."""
        return sorted(path for path in self._parts() if not self._is_own(path))

    def reset(self) -> None:
        """Take away what was written."""
        for part in self.written():
            part.unlink()

    def write(self, batch: int, rows: Any) -> None:
        """Put the file of a batch into place."""
        part = self.folder / f"part-{batch:08d}.{self._suffix}"
        if len(rows):
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(part, self._encode(rows))
        else:
            part.unlink(missing_ok=True)
        crash_point("sink", part.name)

    def close(self) -> None:
        """Nothing is open."""

    def _parts(self) -> set[Path]:
        # Spark's own files are part-00000-c0ffee.snappy.parquet.
        return {*self.folder.glob("part-*"), *self.folder.glob(f"[!._]*.{self._suffix}")}

    def _is_own(self, path: Path) -> bool:
        return re.fullmatch(rf"part-\d{{8,}}\.{self._suffix}", path.name) is not None


def json_lines(rows: Any) -> bytes:
    """A JSON object a row, without what is null.

    >>> json_lines(pa.table({"t": [1000, 2000], "op": ["+", "-"], "until": [None, 1500]}))
    b'{"t":1000,"op":"+"}\\n{"t":2000,"op":"-","until":1500}\\n'
    """
    names = rows.column_names
    columns = [column.to_pylist() for column in rows.columns]
    objects = (
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in zip(*columns, strict=True)
    )
    return msgspec.json.Encoder().encode_lines(objects)


def answer_lines(rows: Sequence[Answers]) -> bytes:
    """A JSON object for each time a query answers, with the ends of its rows."""
    return msgspec.json.Encoder().encode_lines(answers.json(until=True) for answers in rows)


def parquet(rows: Any) -> bytes:
    """The bytes of a Parquet file."""
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    pq.write_table(rows, buffer)
    return bytes(buffer.getvalue())


def ntriples(rows: Any, *, timed: bool) -> bytes:
    """A statement a row; timed ones with an instant and a TAB before it."""
    columns = (rows[name].to_pylist() for name in ("t", "s", "p", "o"))
    return _statements(zip(*columns, strict=True), timed)


def answer_ntriples(rows: Sequence[Answers], *, timed: bool) -> bytes:
    """A statement for each triple that a query constructs."""
    return _statements(((each.tick, *row) for each in rows for row in each.rows), timed)


def _statements(rows: Iterable[tuple[Any, ...]], timed: bool) -> bytes:
    lines = ((f"{t}\t" if timed else "") + " ".join(terms) + " .\n" for t, *terms in rows)
    return "".join(lines).encode()
