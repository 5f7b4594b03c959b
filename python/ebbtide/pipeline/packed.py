"""Facts as bytes: an Arrow stream, compressed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def packed(table: Any) -> bytes:
    """The bytes of a table.

    >>> unpacked(packed(pa.table({"t": [1, 2]})))["t"].to_pylist()
    [1, 2]
    """
    buffer = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(buffer, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(buffer.getvalue())


def unpacked(content: Any) -> Any:
    """The table of such bytes, or of a buffer of them."""
    return pa.ipc.open_stream(content).read_all()
