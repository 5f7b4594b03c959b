"""Instants, windows, clocks, watermarks."""

from ebbtide.time.instant import (
    EARLIEST,
    FOREVER,
    LATEST,
    Instant,
    InstantError,
    as_instant,
    parse_instant,
    show_until,
)
from ebbtide.time.watermark import Ticks, Watermark
from ebbtide.time.window import (
    Count,
    Landmark,
    Session,
    Sliding,
    TimeWindow,
    Tumbling,
    Window,
    WindowError,
    as_window,
)

__all__ = [
    "EARLIEST",
    "FOREVER",
    "LATEST",
    "Count",
    "Instant",
    "InstantError",
    "Landmark",
    "Session",
    "Sliding",
    "Ticks",
    "TimeWindow",
    "Tumbling",
    "Watermark",
    "Window",
    "WindowError",
    "as_instant",
    "as_window",
    "parse_instant",
    "show_until",
]
