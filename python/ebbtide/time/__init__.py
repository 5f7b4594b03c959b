"""Instants, windows, clocks, watermarks."""

from ebbtide.time.instant import EARLIEST, FOREVER, Instant, InstantError, parse_instant, show_until
from ebbtide.time.window import Count, Landmark, Sliding, Tumbling, Window, WindowError

__all__ = [
    "EARLIEST",
    "FOREVER",
    "Count",
    "Instant",
    "InstantError",
    "Landmark",
    "Sliding",
    "Tumbling",
    "Window",
    "WindowError",
    "parse_instant",
    "show_until",
]
