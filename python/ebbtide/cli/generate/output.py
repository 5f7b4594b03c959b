"""Where a workload goes: NAME.tnt, the stream, and NAME.nt, the background, in one folder."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ebbtide.testing.workloads import Workload

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.", file_okay=False)]
Seed = Annotated[int, typer.Option(help="The same seed gives the same facts.")]
Start = Annotated[str, typer.Option(help="The first instant: milliseconds or ISO 8601.")]


def write_workload(workload: Workload, folder: Path, name: str) -> None:
    """Write both files and say so on standard error."""
    from ebbtide.cli.progress import step
    from ebbtide.terms.writing import ntriples_line, timed_line

    folder.mkdir(parents=True, exist_ok=True)
    background = (ntriples_line(fact.terms) for fact in workload.background())
    stream = (timed_line(at, fact.terms) for fact, at in workload.stream())
    for lines, path in ((background, folder / f"{name}.nt"), (stream, folder / f"{name}.tnt")):
        with step(f"writing {path}"):
            written = _write(lines, path)
        print(f"{path}: {written} facts", file=sys.stderr)


def _write(lines: Iterable[str], path: Path) -> int:
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line)
            written += 1
    return written
