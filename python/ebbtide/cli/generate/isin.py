"""`ebbtide generate isin`: trees of isIn, as in the evaluation of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.generate.output import Out, Seed, Start, write_workload


def isin(
    out: Out = Path(),
    facts: Annotated[int, typer.Option(help="Edges in all, streamed and background.")] = 10_000,
    depth: Annotated[int, typer.Option(help="Levels of isIn in a tree.")] = 3,
    fanout: Annotated[int, typer.Option(help="Children of a node.")] = 2,
    background: Annotated[float, typer.Option(help="Share that never expires.")] = 0.1,
    rate: Annotated[float, typer.Option(help="Facts a second of event time.")] = 100.0,
    start: Start = "0",
    seed: Seed = 0,
) -> None:
    """Trees of `child isIn parent`: isin.tnt and isin.nt."""
    from ebbtide.testing import workloads
    from ebbtide.time import parse_instant

    workload = workloads.isin(
        facts=facts,
        depth=depth,
        fanout=fanout,
        background=background,
        rate=rate,
        start=parse_instant(start),
        seed=seed,
    )
    write_workload(workload, out, "isin")
