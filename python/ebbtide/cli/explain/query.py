"""`ebbtide explain query`: which part of a continuous query runs how."""

from __future__ import annotations

from ebbtide.cli.builtins import Builtins, import_builtins
from ebbtide.cli.query import (
    Background,
    Queries,
    ReportPolicy,
    RuleNames,
    Start,
    make_engine,
    register,
)


def query(
    queries: Queries,
    background: Background = None,
    rules: RuleNames = None,
    builtins: Builtins = None,
    t0: Start = None,
    report: ReportPolicy = "window-close",
) -> None:
    """Print the views that the queries share, and what of each query is kept incrementally."""
    import_builtins(builtins)
    engine = make_engine(background, rules, None, t0, report)
    print("\n".join(handle.explain() for handle in register(engine, queries)))
