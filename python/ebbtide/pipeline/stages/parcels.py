"""Rows on their way to the driver, a record batch of them in one parcel.

Spark takes record batches apart into rows and makes record batches of them again, for every stage
and for the driver. A parcel is the bytes of a record batch, and one row to Spark.

    stream   the name of the stream
    parcel   rows as `stages.parse` makes them, as `packed` packs them
    source, t, s, p, o, error     of rows that came by themselves; then there is no parcel

Invariant: unpacking gives the rows that were packed, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

Parse: TypeAlias = Callable[[Iterable[Any]], Iterator[Any]]

PARCEL: Final = "parcel"
SCHEMA: Final = f"{PARCEL} binary"


def packing(parse: Parse) -> Parse:
    """A parser whose record batches are handed on as parcels."""

    def pack(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from ebbtide.pipeline.packed import packed

        for batch in parse(batches):
            content = packed(pa.Table.from_batches([batch]))
            yield pa.record_batch([pa.array([content], pa.binary())], [PARCEL])

    return pack


def unpacked_rows(table: Any) -> Any:
    """All rows of a table of rows and parcels, those of parcels last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ebbtide.pipeline.packed import unpacked
    from ebbtide.pipeline.stages.parse import rows_table

    if PARCEL not in table.column_names:
        return table
    is_parcel = pc.is_valid(table[PARCEL])
    tables = []
    if len(table.column_names) > 2:
        tables.append(table.filter(pc.invert(is_parcel)).drop_columns([PARCEL]))
    parcels = table.filter(is_parcel)
    for stream, parcel in zip(parcels["stream"], parcels[PARCEL], strict=True):
        rows = unpacked(parcel.as_buffer())
        tables.append(rows.add_column(0, "stream", pa.repeat(stream, rows.num_rows)))
    if not tables:
        return rows_table([]).add_column(0, "stream", pa.array([], pa.string()))
    return pa.concat_tables(tables)
