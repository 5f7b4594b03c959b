"""The tree of commands. A new command is a new file and a line here."""

from __future__ import annotations

import typer

from ebbtide.cli.bench import bench
from ebbtide.cli.demo import demo
from ebbtide.cli.explain import explain
from ebbtide.cli.generate import generate
from ebbtide.cli.lars import lars
from ebbtide.cli.materialize import materialize
from ebbtide.cli.package import package
from ebbtide.cli.query import query
from ebbtide.cli.rules import rules
from ebbtide.cli.run import run

app = typer.Typer(
    help="A stream reasoner: the conclusions of rules kept true over windows of streaming facts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(lars)
app.command()(materialize)
app.command()(package)
app.command()(query)
app.command()(run)
app.add_typer(bench, name="bench")
app.add_typer(explain, name="explain")
app.add_typer(generate, name="generate")
app.add_typer(rules, name="rules")
