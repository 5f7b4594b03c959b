"""Rows come out of parcels as they went in."""

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


def test_rows_come_out_as_they_went_in() -> None:
    rows, parcels = parsed(pack=False), parsed(pack=True)["parcel"].to_pylist()
    found = unpacked_rows(("trains", parcel) for parcel in parcels)
    assert set(found["stream"].to_pylist()) == {"trains"}
    assert found.drop_columns(["stream"]).to_pylist() == rows.to_pylist()
    assert found["t"].to_pylist() == [1, 2, None, 1]


def test_parcels_of_several_streams_and_none() -> None:
    facts, _, other = parsed(pack=True)["parcel"].to_pylist()
    found = unpacked_rows([("trains", facts), ("buses", other)])
    assert found["stream"].to_pylist() == ["trains"] * 2 + ["buses"]
    assert unpacked_rows([]).schema == found.schema
