"""The times that a fact can have, and the years that a timestamp can be of: 1 to 9999.

Spark takes a number for seconds where a timestamp is expected. Milliseconds become timestamps of
the year 55,000 and later, which is how the mistake shows. Instants that are numbers may be
anything that is an instant: plain ticks, too.
"""

from __future__ import annotations

from typing import Any, Final

from ebbtide.time.instant import EARLIEST, LATEST

#: The first millisecond of the year 1, and of the year 10,000.
YEARS: Final = (-62_135_596_800_000, 253_402_300_800_000)
NO_YEAR: Final = (
    "its time is not in the years 1 to 9999; a number in a column of type timestamp counts seconds,"
    " so milliseconds need the type bigint"
)
NO_INSTANT: Final = "its time is not an instant (beyond 2^62 milliseconds)"


def out_of_range(instants: Any) -> Any:
    """Which of the numbers of an Arrow array are no instants; those that are null are not."""
    import pyarrow.compute as pc

    return pc.or_(pc.less(instants, EARLIEST), pc.greater(instants, LATEST)).fill_null(False)


def in_no_year(instants: Any) -> Any:
    """Which of the instants of an Arrow array are of no such year; those that are null are not."""
    import pyarrow.compute as pc

    first, end = YEARS
    return pc.or_(pc.less(instants, first), pc.greater_equal(instants, end)).fill_null(False)
