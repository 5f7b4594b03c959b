"""Rows on their way to the driver, a record batch of them in one parcel.

Spark takes record batches apart into rows and makes record batches of them again, for every stage
and for the driver. A parcel is the bytes of a record batch, and one row to Spark.

    parcel   rows as `stages.parse` makes them, as `packed` packs them

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


def unpacked_rows(parcels: Iterable[tuple[str, bytes]]) -> Any:
    """The rows of parcels, each with the name of the stream that its parcel is of."""
    import pyarrow as pa

    from ebbtide.pipeline.packed import unpacked
    from ebbtide.pipeline.stages.parse import of_stream, rows_table

    none = rows_table([])
    # Spark says of rows that it has made which columns are never null.
    rows = ((stream, unpacked(parcel).cast(none.schema)) for stream, parcel in parcels)
    return pa.concat_tables([of_stream("", none), *(of_stream(*each) for each in rows)])
