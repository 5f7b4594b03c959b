"""`ebbtide explain`: what a program becomes, and why a fact holds."""

from __future__ import annotations

import typer

from ebbtide.cli.explain.maintenance import maintenance
from ebbtide.cli.explain.plan import plan
from ebbtide.cli.explain.why import why

explain = typer.Typer(
    help="Show the plan or the maintenance program of rules, or the proof of a fact.",
    no_args_is_help=True,
)
explain.command()(maintenance)
explain.command()(plan)
explain.command()(why)
