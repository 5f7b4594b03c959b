"""`ebbtide generate laser`: the streams of Laser's single-rule programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.generate.output import FirstTick, Out, Rate, Seed, TimePoints, write_atoms


class Kind(StrEnum):
    """The kinds of `ebbtide.testing.workloads.laser`."""

    DIAMOND = "diamond"
    BOX = "box"
    JOIN = "join"


def laser(
    out: Out = Path(),
    kind: Annotated[Kind, typer.Option(help="What the rule over it asks.")] = Kind.DIAMOND,
    rate: Rate = 200,
    ticks: TimePoints = 100,
    start: FirstTick = 0,
    seed: Seed = 0,
) -> None:
    """Atoms p(A,B) at a steady rate: laser.atoms.

    diamond: every atom comes once

    box: the same atoms at every time point, but for a few

    join: every atom comes once and meets the one before it, p(n1,n2). p(n2,n3).
    """
    from ebbtide.testing import workloads

    stream = workloads.laser(kind=kind, rate=rate, ticks=ticks, start=start, seed=seed)
    write_atoms(stream, out, "laser")
