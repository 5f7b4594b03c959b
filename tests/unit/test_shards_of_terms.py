"""Which shard a term lives in: the state of shards is kept by it, so it must never change."""

from __future__ import annotations

from zlib import crc32

import pytest

from ebbtide._kernel import Table

pa = pytest.importorskip("pyarrow")


def test_shards_are_those_of_a_checksum_that_everybody_has() -> None:
    terms = ["<http://e/a>", '"colour"@en-gb', "_:b", '"caf\u00e9"']
    chunked = pa.chunked_array([terms[:1], terms[1:]])
    found = pa.table(Table(pa.table([chunked], ["term"])).shards("term", 7))
    assert found["shard"].to_pylist() == [crc32(term.encode()) % 7 for term in terms]


def test_there_is_at_least_one_shard() -> None:
    with pytest.raises(ValueError, match="no shards"):
        Table(pa.table({"term": ["<http://e/a>"]})).shards("term", 0)
