"""RDF files as DataFrames of triples, parsed on the executors, in Rust.

Lines of N-Triples and N-Quads are split among tasks as Spark does with any text; a document of
another format is read whole, by one task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from ebbtide.pipeline.stages.parse import path_of, read_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA: Final = "s string, p string, o string, g string"
LINES: Final = ("nt", "nq")


def read_documents(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The triples of some files, those of lines and the others together."""
    from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

    parts: list[DataFrame] = []
    for path in paths:
        format = PurePath(path.removesuffix(".gz")).suffix.removeprefix(".")
        if format in LINES:
            # As bytes: Spark's texts may be any, and what is no UTF-8 is a bad line.
            bytes_ = F.col("value").cast("binary")
            lines = spark.read.text(path).select(bytes_, "_metadata.file_path")
            parts.append(lines.mapInArrow(_line_parser(format), SCHEMA))
        else:
            whole = spark.read.format("binaryFile").load(path).select("path", "content")
            parts.append(whole.mapInArrow(_parse_documents, SCHEMA))
    return reduce(lambda a, b: a.unionByName(b), parts).select(*map(F.col, ("s", "p", "o", "g")))


def _line_parser(format: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def parse(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from ebbtide.terms.formats import parse_lines

        for batch in batches:
            # Labels of blank nodes are local to their file, not to a task, which may have several.
            for file, lines in _by_file(batch):
                table = pa.table(parse_lines(lines, format, file))
                bad = table.filter(pa.compute.is_valid(table["error"]))
                if bad.num_rows:
                    error = bad["error"][0].as_py()
                    raise ValueError(f"{file}: {error['reason']}: {error['line']}")
                yield from _triples(table).to_batches()

    return parse


def _by_file(batch: Any) -> Iterator[tuple[str, Any]]:
    """The lines of a batch, those of one file together, as they come."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lines, files = batch.columns
    runs = pc.run_end_encode(files)
    first = 0
    for file, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield path_of(file), pa.record_batch([lines[first:end]], ["value"])
        first = end


def _parse_documents(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    from ebbtide.terms.formats import FormatError, open_document

    for batch in batches:
        for path, content in zip(*batch.columns, strict=True):
            name = read_path(path.as_py())
            suffix = PurePath(name.removesuffix(".gz")).suffix.removeprefix(".")
            try:
                reader = open_document(content.as_py(), suffix, name=name, graphs=True)
            except FormatError:
                raise
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            while len(table := reader.table(65_536)):
                yield from _triples(pa.table(table)).to_batches()


def _triples(table: Any) -> Any:
    import pyarrow as pa

    nothing = pa.nulls(table.num_rows, pa.string())
    columns = [table[name].cast(pa.string()) for name in ("s", "p", "o")]
    graph = table["g"].cast(pa.string()) if "g" in table.column_names else nothing
    return pa.table([*columns, graph], names=["s", "p", "o", "g"])
