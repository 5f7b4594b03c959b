"""Instants, durations, windows, watermarks."""

from ebbtide.time.duration import DurationError, parse_duration, show_duration
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
    "DurationError",
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
    "parse_duration",
    "parse_instant",
    "show_duration",
    "show_until",
]
