"""Where a workload goes: NAME.tnt, the stream, and NAME.nt, the background, in one folder.

A stream of LARS atoms is NAME.atoms, and has no background. With `-` instead of a folder, the
stream alone goes to standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from ebbtide.testing.workloads import AtomStream, Workload

Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        help="The folder to write to; - writes the stream alone to standard output.",
        file_okay=False,
        metavar="DIR",
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same facts.")]
Start = Annotated[str, typer.Option(help="The first instant: milliseconds or ISO 8601.")]
Rate = Annotated[int, typer.Option(help="Atoms at a time point.")]
TimePoints = Annotated[int, typer.Option("--ticks", help="Time points.")]
FirstTick = Annotated[int, typer.Option("--start", help="The first time point.")]

STANDARD_OUTPUT: Final = Path("-")


def write_workload(workload: Workload, out: Path, name: str) -> None:
    """Write the background and the stream of a workload."""
    from ebbtide.terms.writing import ntriples_line, timed_line

    background = (ntriples_line(fact.terms) for fact in workload.background())
    stream = (timed_line(at, fact.terms) for fact, at in workload.stream())
    write_files(out, stream=(f"{name}.tnt", stream), background=(f"{name}.nt", background))


def write_atoms(stream: AtomStream, out: Path, name: str) -> None:
    """Write a stream of LARS atoms, a line a time point."""
    from ebbtide.testing.workloads.atoms import atoms_line

    lines = (atoms_line(at, atoms) for at, atoms in stream())
    write_files(out, stream=(f"{name}.atoms", lines), unit="time points")


def write_files(
    out: Path,
    stream: tuple[str, Iterable[str]],
    background: tuple[str, Iterable[str]] | None = None,
    unit: str = "facts",
) -> None:
    """Write lines to files of these names and say so on standard error."""
    if out == STANDARD_OUTPUT:
        sys.stdout.writelines(stream[1])
        return
    from ebbtide.cli.progress import step

    out.mkdir(parents=True, exist_ok=True)
    for name, lines in filter(None, (background, stream)):
        path = out / name
        with step(f"writing {path}"):
            written = _write(lines, path)
        print(f"{path}: {written} {unit}", file=sys.stderr)


def _write(lines: Iterable[str], path: Path) -> int:
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line)
            written += 1
    return written
