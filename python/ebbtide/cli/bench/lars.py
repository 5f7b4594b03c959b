"""`ebbtide bench lars`: the workloads of the Laser paper."""

from __future__ import annotations

import shutil
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.bench.shown import (
    Quick,
    Report,
    Seed,
    chosen,
    extra_needed,
    measure,
    wanted,
)
from ebbtide.cli.errors import InputError


class Measured(StrEnum):
    """The measurements of lars, as `ebbtide.benches.lars` names them."""

    ARROW = "arrow"
    OBJECTS = "objects"
    BATCHES = "batches"
    QUIET = "quiet"
    FLOOR = "floor"


def lars(
    report: Report = None,
    only: Annotated[list[Measured] | None, typer.Option(help="Measure this; repeatable.")] = None,
    window: Annotated[
        list[int] | None, typer.Option(help="Time points; repeatable [1 10 20 40 80].")
    ] = None,
    rate: Annotated[
        list[int] | None, typer.Option(help="Atoms a time point; repeatable [200 400 800].")
    ] = None,
    ticks: Annotated[int | None, typer.Option(help="Time points to measure [2000].")] = None,
    batch: Annotated[int | None, typer.Option(help="Time points an Arrow batch [20].")] = None,
    laser: Annotated[
        Path | None,
        typer.Option(
            help="Laser, for Python 3, to run beside.", exists=True, file_okay=False, metavar="DIR"
        ),
    ] = None,
    pypy: Annotated[str, typer.Option(help="What runs Laser.")] = "pypy3",
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """LARS programs: diamond, box, join, ten rules and the cooling system.

    arrow: microseconds an input atom, full output and changes, against what Laser takes:
    measured with --laser, else as reported for another machine

    objects: the same with atoms and answers as Python objects

    batches: what the size of a batch does

    quiet: a time point at which nothing changes

    floor: the same texts and facts in bare hash tables

    A report has all cells of arrow in one table, too: grid.md.

    A goal that is missed is said, and is no error.
    """
    with extra_needed():
        from ebbtide.benches.lars import MEASUREMENTS, grid, run
        from ebbtide.benches.lars.laser import LaserFailed
        from ebbtide.benches.lars.settings import FULL, QUICK

    settings = chosen(
        QUICK if quick else FULL,
        seed=seed,
        windows=tuple(sorted(set(window))) if window else None,
        rates=tuple(sorted(set(rate))) if rate else None,
        ticks=ticks,
        batch=batch,
        laser=laser and _checked(laser, pypy),
        pypy=pypy,
    )
    names = wanted(MEASUREMENTS, only)
    try:
        results = measure(run, settings, names, report, quick=quick)
    except LaserFailed as error:
        raise InputError(str(error)) from error
    if report is not None and Measured.ARROW in names:
        (report / "grid.md").write_text(grid(results))
        print(report / "grid.md")


def _checked(laser: Path, pypy: str) -> str:
    """The folder of Laser, if it is one and there is something to run it."""
    if not (laser / "evalunit" / "program.py").is_file():
        raise InputError(f"{laser}: Laser is not there, which has evalunit/program.py")
    if shutil.which(pypy) is None:
        raise InputError(f"{pypy}: no such command, which Laser is run by; --pypy names another")
    return str(laser.resolve())
