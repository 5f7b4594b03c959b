"""`ebbtide rules list`: every regime with its size and its source."""

from __future__ import annotations

import sys


def listing() -> None:
    """List the regimes: name, number of rules, what it is, where it comes from."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    from ebbtide.regimes import regimes

    shown = Table(box=SIMPLE)
    shown.add_column("name", no_wrap=True)
    shown.add_column("rules", justify="right")
    shown.add_column("what")
    shown.add_column("source")
    for regime in regimes():
        shown.add_row(regime.name, str(len(regime.program.written)), regime.title, regime.source)
    # A log has no width; this table needs this one.
    Console(width=None if sys.stdout.isatty() else 160).print(shown)
