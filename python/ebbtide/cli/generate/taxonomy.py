"""`ebbtide generate taxonomy`: trees of subclasses, and instances of their leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.generate.output import Out, Seed, Start, write_workload


def taxonomy(
    out: Out = Path(),
    depth: Annotated[int, typer.Option(help="Levels of subclasses.")] = 5,
    fanout: Annotated[int, typer.Option(help="Subclasses of a class; 1 makes a chain.")] = 3,
    instances: Annotated[int, typer.Option(help="Instances of the leaves.")] = 1_000,
    rate: Annotated[float, typer.Option(help="Instances a second of event time.")] = 100.0,
    start: Start = "0",
    seed: Seed = 0,
) -> None:
    """A tree of classes, taxonomy.nt, and instances of its leaves, taxonomy.tnt."""
    from ebbtide.testing import workloads
    from ebbtide.time import parse_instant

    workload = workloads.taxonomy(
        depth=depth,
        fanout=fanout,
        instances=instances,
        rate=rate,
        start=parse_instant(start),
        seed=seed,
    )
    write_workload(workload, out, "taxonomy")
