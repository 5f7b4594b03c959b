"""`ebbtide bench`: workloads measured on this machine, as a table and as a report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ebbtide.cli.errors import InputError

if TYPE_CHECKING:
    from ebbtide.benches.results import Results

EXTRA: Final = ("matplotlib", "psutil", "pyarrow")

bench = typer.Typer(help="Measure the engines on this machine.", no_args_is_help=True)


class Measured(StrEnum):
    """The measurements of imars, as `ebbtide.benches.imars` names them."""

    SHARE = "share"
    WINDOW = "window"
    FLOOR = "floor"
    MEMORY = "memory"
    INGEST = "ingest"


@bench.command()
def imars(
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write results.json, report.md and plots there.", file_okay=False, metavar="DIR"
        ),
    ] = None,
    only: Annotated[list[Measured] | None, typer.Option(help="Measure this; repeatable.")] = None,
    window: Annotated[int | None, typer.Option(help="Facts in the window [100000].")] = None,
    background: Annotated[int | None, typer.Option(help="Facts that never expire [10000].")] = None,
    share: Annotated[
        list[float] | None,
        typer.Option(help="Share replaced per tick, above 0 to 1; repeatable [0.001 to 1]."),
    ] = None,
    depth: Annotated[int | None, typer.Option(help="Levels of isIn in a tree [4].")] = None,
    fanout: Annotated[int | None, typer.Option(help="Children of a node [3].")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same stream.")] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: to see that it works, not to measure.")
    ] = False,
) -> None:
    """The experiment of the paper: trees of isIn under the transitive rule, in five measurements.

    share: expiry, dred and naive, as more of the window is replaced per tick

    window: the cost of a change in small and large windows

    floor: the same against a bare hash table

    memory: under ever-new terms

    ingest: Arrow batches without rules

    A goal that is missed is said, and is no error.
    """
    try:
        from ebbtide.benches.imars import MEASUREMENTS, run
        from ebbtide.benches.imars.settings import FULL, QUICK
        from ebbtide.benches.report import write_report
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRA:
            raise
        raise InputError(
            f"the bench needs {library}, which is missing: pip install 'ebbtide[bench]'"
        ) from None
    from dataclasses import replace

    given: dict[str, Any] = {
        "window": window,
        "background": background,
        "shares": tuple(sorted(set(share))) if share else None,
        "depth": depth,
        "fanout": fanout,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    settings = replace(QUICK if quick else FULL, seed=seed, **chosen)
    names = [name for name in MEASUREMENTS if not only or name in only]
    with _progress() as say:
        results = run(settings, names, say)
    if quick:
        results.notes.append("A quick run: too small for its goals to mean much.")
    _show(results)
    if report is not None:
        for path in write_report(results, report):
            print(path)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """What is being measured: a spinner for who looks, lines for a log."""
    if not sys.stderr.isatty():
        yield lambda what: print(f"ebbtide: {what}", file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda what: progress.update(task, description=what)


def _show(results: Results) -> None:
    """The tables, and every goal in a sentence."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    from ebbtide.benches.report import tables, verdict

    # A log has no width; these tables need this one.
    console = Console(width=None if sys.stdout.isatty() else 120)
    for table in tables(results):
        shown = Table(title=table.title, title_justify="left", box=SIMPLE)
        for column in table.header:
            shown.add_column(column, justify="right")
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
    for note in results.notes:
        print(note)
    for measurement in results.goals:
        print(verdict(measurement))
