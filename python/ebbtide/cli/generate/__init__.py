"""`ebbtide generate`: workloads as files, the same for the same seed."""

from __future__ import annotations

import typer

from ebbtide.cli.generate.cooling import cooling
from ebbtide.cli.generate.isin import isin
from ebbtide.cli.generate.laser import laser
from ebbtide.cli.generate.lubm import lubm
from ebbtide.cli.generate.mobility import mobility
from ebbtide.cli.generate.taxonomy import taxonomy

generate = typer.Typer(
    help="Write a synthetic stream (.tnt or .atoms) and its background (.nt).",
    no_args_is_help=True,
)
for command in (cooling, isin, laser, lubm, mobility, taxonomy):
    generate.command()(command)
