"""Rows come out of parcels as they went in, beside rows that came by themselves."""

from __future__ import annotations

import pyarrow as pa

from ebbtide.pipeline.stages.parcels import packing, unpacked_rows
from ebbtide.pipeline.stages.parse import Documents, parser

TEXT = b'1\t<http://e/a> <http://e/p> <http://e/b> .\nnoon\n2\t<http://e/b> <http://e/p> "c" .\n'


def parsed(pack: bool) -> pa.Table:
    batch = pa.record_batch(
        [pa.array(["/in/1.tnt", "/in/2.tnt"]), pa.array([TEXT, TEXT.splitlines()[0]])],
        ["path", "content"],
    )
    parse = parser("/in", Documents())
    return pa.Table.from_batches((packing(parse) if pack else parse)([batch]))


def named(table: pa.Table, stream: str) -> pa.Table:
    return table.add_column(0, "stream", pa.repeat(stream, table.num_rows))


def test_rows_come_out_as_they_went_in() -> None:
    rows = named(parsed(pack=False), "trains")
    assert unpacked_rows(named(parsed(pack=True), "trains")).to_pylist() == rows.to_pylist()
    assert [row["t"] for row in rows.to_pylist()] == [1, 2, None, 1]


def test_rows_that_came_by_themselves_are_there_too() -> None:
    rows = named(parsed(pack=False), "rows")
    mixed = pa.concat_tables([rows, named(parsed(pack=True), "trains")], promote_options="default")
    found = unpacked_rows(mixed)
    assert found.to_pylist() == [
        *rows.to_pylist(),
        *named(parsed(pack=False), "trains").to_pylist(),
    ]


def test_without_parcels_nothing_is_done() -> None:
    rows = named(parsed(pack=False), "trains")
    assert unpacked_rows(rows) is rows
