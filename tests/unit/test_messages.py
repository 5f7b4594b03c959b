"""Messages of lines are parsed together, and each bad line still says which message it was in."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest

from ebbtide.pipeline.stages.messages import parser
from ebbtide.pipeline.stages.parse import Documents

LINE = "1500\t<http://e/a> <http://e/p> <http://e/b> .\n"


def parsed(format: str, *messages: tuple[str, int, bytes | None]) -> list[dict[str, object]]:
    columns = [list(column) for column in zip(*messages, strict=True)]
    kinds = (pa.string(), pa.int64(), pa.binary())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    batch = pa.record_batch(arrays, ["source", "number", "value"])
    tables = parser(Documents(format, 1000))([batch])
    return [row for table in tables for row in table.to_pylist()]


def test_a_bad_line_says_its_message() -> None:
    rows = parsed(
        "tnt",
        ("trains/0", 7, LINE.encode()),
        ("trains/0", 8, None),
        ("trains/0", 9, (LINE + "noon\t<a>\n" + LINE).encode()),
        ("trains/1", 3, LINE.removesuffix("\n").encode()),
    )
    facts = [row for row in rows if row["error"] is None]
    assert [(row["source"], row["line"]) for row in facts] == [
        ("trains/0@7", 1),
        ("trains/0@9", 1),
        ("trains/0@9", 3),
        ("trains/1@3", 1),
    ]
    assert {row["t"] for row in facts} == {1500}
    (bad,) = [row for row in rows if row["error"] is not None]
    assert bad["source"] == "trains/0@9"
    error = bad["error"]
    assert isinstance(error, dict)
    assert (error["line"], error["text"]) == (2, "noon\t<a>")


@pytest.mark.parametrize("packed", [False, True])
def test_a_graph_is_a_document(packed: bool) -> None:
    graph = (
        b"<http://e/g> { <http://e/a> <http://e/p> 1 } <http://e/g> "
        b'<http://www.w3.org/ns/prov#generatedAtTime> "1970-01-01T00:00:01Z" .'
    )
    (row,) = parsed("trig", ("graphs/0", 4, gzip.compress(graph) if packed else graph))
    assert (row["source"], row["t"], row["s"]) == ("graphs/0@4", 1000, "<http://e/a>")
