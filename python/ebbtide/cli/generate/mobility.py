"""`ebbtide generate mobility`: commuters in trains between stations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.generate.output import Out, Seed, Start, write_workload


def mobility(
    out: Out = Path(),
    commuters: Annotated[int, typer.Option(help="People who report where they are.")] = 20,
    trains: Annotated[int, typer.Option(help="Trains between the stations.")] = 6,
    seconds: Annotated[int, typer.Option(help="Seconds of event time.")] = 60,
    start: Start = "0",
    seed: Seed = 0,
) -> None:
    """Commuters in trains, trains at stations, in cities, in regions: mobility.tnt and .nt."""
    from ebbtide.testing import workloads
    from ebbtide.time import parse_instant

    workload = workloads.mobility(
        commuters=commuters,
        trains=trains,
        seconds=seconds,
        start=parse_instant(start),
        seed=seed,
    )
    write_workload(workload, out, "mobility")
