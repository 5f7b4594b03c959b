"""`ebbtide rules`: the regimes, and what is right or wrong in a rule file."""

from __future__ import annotations

import typer

from ebbtide.cli.rules.check import check
from ebbtide.cli.rules.export import export
from ebbtide.cli.rules.listing import listing
from ebbtide.cli.rules.show import show
from ebbtide.cli.rules.table import table

rules = typer.Typer(
    help="List, show and export the regimes; check rule files.", no_args_is_help=True
)
rules.command("list")(listing)
rules.command()(show)
rules.command()(export)
rules.command()(check)
rules.command()(table)
