"""`ebbtide generate`: workloads as files, the same for the same seed."""

from __future__ import annotations

import typer

from ebbtide.cli.generate.isin import isin
from ebbtide.cli.generate.lubm import lubm
from ebbtide.cli.generate.mobility import mobility

generate = typer.Typer(
    help="Write a synthetic stream (.tnt) and its background (.nt).", no_args_is_help=True
)
generate.command()(isin)
generate.command()(lubm)
generate.command()(mobility)
