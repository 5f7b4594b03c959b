"""What all pictures share: colours, ticks and values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from matplotlib.ticker import FuncFormatter

from ebbtide.benches.results import Measurement

#: Ours is always of one colour, whatever it is compared with.
OURS: Final = "#0b7a75"
COLOURS: Final = {"expiry": OURS, "dred": "#c8553d", "naive": "#5b5f97"}


def values(found: Iterable[Measurement]) -> list[float]:
    """The values that exist."""
    return [measurement.value for measurement in found if measurement.value is not None]


plain: Final = FuncFormatter(lambda value, _: f"{value:,g}" if value < 1e4 else f"{value:,.0f}")
