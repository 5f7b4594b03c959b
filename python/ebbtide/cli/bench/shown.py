"""What every bench shares: its common options, progress, tables, and the report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ebbtide.extras import needing

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from ebbtide.benches.results import Results

S = TypeVar("S", bound="DataclassInstance")

Report = Annotated[
    Path | None,
    typer.Option(
        help="Write results.json, report.md and plots there.", file_okay=False, metavar="DIR"
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same data.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="Small sizes: to see that it works, not to measure.")
]


@contextmanager
def extra_needed() -> Iterator[None]:
    """Import what `ebbtide[bench]` brings, or say that it is missing."""
    with needing("the bench", "bench"):
        import ebbtide.benches.report  # noqa: F401

        yield


def chosen(base: S, **given: Any) -> S:
    """The settings with what was given instead; None stands for what was not."""
    return replace(base, **{name: value for name, value in given.items() if value is not None})


def measure(
    run: Callable[[S, list[str], Callable[[str], None]], Results],
    settings: S,
    names: Iterable[str],
    report: Path | None,
    *,
    quick: bool,
) -> Results:
    """Measure what is named, and show it."""
    with progress() as say:
        results = run(settings, list(names), say)
    show_and_write(results, report, quick=quick)
    return results


def wanted(measurements: Iterable[str], only: Collection[str] | None) -> list[str]:
    """The names of the measurements, or of those that alone are wanted."""
    return [name for name in measurements if not only or name in only]


def show_and_write(results: Results, report: Path | None, *, quick: bool) -> None:
    """The tables and goals, and the report if one is wanted."""
    from ebbtide.benches.report import write_report

    if quick:
        results.notes.append("A quick run: too small for its goals to mean much.")
    _show(results)
    if report is not None:
        for path in write_report(results, report):
            print(path)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
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
