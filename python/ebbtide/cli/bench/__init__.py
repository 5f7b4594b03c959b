"""`ebbtide bench`: workloads measured on this machine, as tables and as a report."""

from __future__ import annotations

import typer

from ebbtide.cli.bench.imars import imars
from ebbtide.cli.bench.lars import lars
from ebbtide.cli.bench.pipeline import pipeline
from ebbtide.cli.bench.queries import queries
from ebbtide.cli.bench.regimes import regimes

bench = typer.Typer(help="Measure the engines on this machine.", no_args_is_help=True)
bench.command()(imars)
bench.command()(pipeline)
bench.command()(queries)
bench.command()(lars)
bench.command()(regimes)
