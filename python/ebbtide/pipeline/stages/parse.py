"""Files to columns of timed facts, on the executors, in Rust.

In: the path and the bytes of a file. Out, a row for every fact and for every bad line:

    source       the file, relative to its folder
    line  int    where the fact ends in it; null of JSON-LD that cannot be read as a stream
    t  long      the instant, milliseconds
    s  p  o      the terms as N-Triples texts
    error        why there is no fact (line, column, reason, text); then t, s, p and o are null

Invariant: no line is lost, a bad one is a row that says what is wrong with it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from ebbtide.pipeline.stages.parcels import SCHEMA as PARCELS
from ebbtide.pipeline.stages.parcels import Parse, packing
from ebbtide.pipeline.stages.settled import settle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ERROR: Final = "struct<line: int, column: int, reason: string, text: string>"
SCHEMA: Final = f"source string, line int, t long, s string, p string, o string, error {ERROR}"
_TERMS: Final = ("s", "p", "o")
#: The format of LARS streams; `stages.atoms` says what their rows are.
ATOMS: Final = "atoms"
#: The format of lines, a fact each.
LINES: Final = "tnt"
GZIP: Final = b"\x1f\x8b"
# Of a term that is too long, enough to find it.
SHOWN: Final = 1_000


@dataclass(frozen=True)
class Documents:
    """What is known of the documents of a stream: their format, else it is in their names.

    `prefixes` are for formats without their own. Their rows are handed on in `parcels`, or row by
    row to those who look at rows where Spark has them. `relative` IRIs are terms of LARS programs,
    whose constants they are.
    """

    format: str | None = None
    longest_term: int = 1_048_576
    prefixes: Mapping[str, str] = field(default_factory=dict)
    parcels: bool = False
    relative: bool = False


#: Nothing is known but their names.
ANY: Final = Documents()


def parse_files(files: DataFrame, folder: Path, documents: Documents) -> DataFrame:
    """The timed facts, and the bad lines, of a DataFrame of files."""
    parse = parser(str(folder), documents)
    return parsed(files.select("path", "content"), parse, documents.parcels)


def parsed(documents: DataFrame, parse: Parse, parcels: bool) -> DataFrame:
    """What a parser makes of documents: rows, or parcels of them."""
    if parcels:
        return documents.mapInArrow(task(packing(parse)), PARCELS)
    return documents.mapInArrow(task(parse), SCHEMA)


def parser(folder: str, documents: Documents) -> Parse:
    """Record batches of files to record batches of facts."""

    def parse(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for path, content in zip(*batch.columns, strict=True):
                name = read_path(path.as_py()).removeprefix(f"{folder}/")
                yield from parse_document(name, content.as_py(), documents)

    return parse


def path_of(uri: str) -> str:
    """The path of a file that Spark names in its logs, plans and errors.

    >>> path_of("file:///data/a%20b.tnt")
    '/data/a b.tnt'
    """
    return unquote(urlsplit(uri).path)


def read_path(path: str) -> str:
    """The path of a file that Spark has read whole: in the column `path` it is as it is.

    >>> read_path("file:/data/a%20b#1.tnt")
    '/data/a%20b#1.tnt'
    """
    return path.removeprefix("file:")


def task(parse: Parse) -> Parse:
    """The work of a parser as a worker does it, again and again."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        yield from parse(batches)
        # Not before: by now everything is loaded.
        settle()

    return work


def parse_document(name: str, content: bytes, documents: Documents) -> Iterator[Any]:
    """What one document holds, in record batches."""
    if documents.format == ATOMS:
        from ebbtide.pipeline.stages.atoms import parse_atom_document

        yield from parse_atom_document(name, content, documents.prefixes, documents.longest_term)
    else:
        yield from _parse_triples(name, content, documents.format, documents.longest_term)


def _parse_triples(
    name: str, content: bytes, format: str | None, longest_term: int
) -> Iterator[Any]:
    import pyarrow as pa

    from ebbtide.terms.formats import FormatError, read_tables

    bad: list[Any] = []
    format = format or Path(name.removesuffix(".gz")).suffix.removeprefix(".")
    try:
        for each in read_tables(content, format, name=name, timed=True, lines=True, bad=bad):
            yield from facts(pa.table(each), name, longest_term)
    except FormatError as error:
        # What was read of the document before stands.
        bad.append(error.bad)
    except ValueError as error:
        bad.append(str(error))
    if bad:
        yield bad_lines(name, list(_errors(bad, content)))


def _errors(bad: Iterable[Any], content: bytes) -> Iterator[dict[str, Any]]:
    """What is wrong in a document, each with its line's text."""
    texts: list[bytes] | None = None
    for each in bad:
        error = as_error(each)
        if error["text"] == "":
            texts = plain(content).splitlines() if texts is None else texts
            (text,) = texts[error["line"] - 1 : error["line"]] or [b""]
            error["text"] = text.decode(errors="replace")[:SHOWN]
        yield error


def as_error(bad: Any) -> dict[str, Any]:
    """A bad line, or a reason alone, as the column `error` has it."""
    if isinstance(bad, str):
        return {"line": None, "column": None, "reason": bad, "text": None}
    return {"line": bad.line, "column": bad.column, "reason": bad.reason, "text": bad.text}


def plain(content: bytes) -> bytes:
    """A document that is not compressed, or not to be read at all."""
    try:
        return gzip.decompress(content) if content.startswith(GZIP) else content
    except (OSError, EOFError, zlib.error):
        return content


def facts(table: Any, source: Any, longest_term: int) -> Iterator[Any]:
    """Parsed facts as rows, but for those whose terms are too long.

    `source` is where they all come from, or an array that says it of each.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = [pc.binary_length(table[column]) for column in _TERMS]
    is_long = pc.greater(pc.max_element_wise(*lengths), longest_term)
    if pc.any(is_long).as_py():
        reason = as_error(f"a term is longer than {longest_term} bytes")
        long = table.filter(is_long).to_pylist()
        for row, place in zip(long, _of_rows(source, is_long, len(long)).to_pylist(), strict=True):
            text = " ".join(row[term] for term in _TERMS)[:SHOWN]
            yield bad_lines(place, [{**reason, "line": row["line"], "text": text}])
        table = table.filter(pc.invert(is_long))
        source = _of_rows(source, pc.invert(is_long), table.num_rows)
    table = table.combine_chunks()
    rows = table.num_rows
    if isinstance(source, str):
        source = pa.repeat(source, rows)
    columns = [table[name] for name in ("line", "t", *_TERMS)]
    yield from rows_of(source, columns, pa.nulls(rows))


def _of_rows(source: Any, is_wanted: Any, count: int) -> Any:
    """Where some of the rows come from."""
    import pyarrow as pa

    return pa.repeat(source, count) if isinstance(source, str) else source.filter(is_wanted)


def bad_lines(name: str, errors: list[dict[str, Any]]) -> Any:
    """Errors as rows."""
    import pyarrow as pa

    rows = len(errors)
    (batch,) = rows_of(pa.repeat(name, rows), [pa.nulls(rows)] * 5, pa.array(errors, error_type()))
    return batch


def error_type() -> Any:
    """The type of the column `error`."""
    import pyarrow as pa

    whole, text = pa.int32(), pa.string()
    return pa.struct([("line", whole), ("column", whole), ("reason", text), ("text", text)])


def rows_of(source: Any, fact: list[Any], error: Any) -> Any:
    """Record batches of rows: where they come from, line, t, s, p and o, and what is wrong."""
    import pyarrow as pa

    schema = _rows_schema()
    columns = [
        column.cast(kind) for column, kind in zip([source, *fact, error], schema.types, strict=True)
    ]
    return pa.table(columns, schema.names).to_batches()


def rows_table(batches: Iterable[Any]) -> Any:
    """All rows of some record batches."""
    import pyarrow as pa

    return pa.Table.from_batches(batches, _rows_schema())


def of_stream(stream: str, rows: Any) -> Any:
    """Rows with the name of their stream before them."""
    import pyarrow as pa

    return rows.add_column(0, "stream", pa.repeat(stream, rows.num_rows))


def _rows_schema() -> Any:
    import pyarrow as pa

    terms = ((term, pa.string()) for term in _TERMS)
    return pa.schema(
        [
            ("source", pa.string()),
            ("line", pa.int32()),
            ("t", pa.int64()),
            *terms,
            ("error", error_type()),
        ]
    )
