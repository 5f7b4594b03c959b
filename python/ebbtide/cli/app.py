"""The tree of commands. A new command is a new file and a line here."""

from __future__ import annotations

from typing import Annotated

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


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"ebbtide {version('ebbtide')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Options of `ebbtide` itself. Each ends the program, so there is nothing left to do."""


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
