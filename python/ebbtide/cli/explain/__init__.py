"""`ebbtide explain`: what a program becomes, and why a fact holds."""

from __future__ import annotations

import typer

from ebbtide.cli.explain.maintenance import maintenance
from ebbtide.cli.explain.placement import placement
from ebbtide.cli.explain.plan import plan
from ebbtide.cli.explain.query import query
from ebbtide.cli.explain.why import why

explain = typer.Typer(
    help="Show how rules or queries are run, or the proof of a fact.",
    no_args_is_help=True,
)
explain.command()(maintenance)
explain.command()(placement)
explain.command()(plan)
explain.command()(query)
explain.command()(why)
