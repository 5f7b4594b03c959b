"""`ebbtide generate lubm`: universities of the published profile, department by department."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.generate.output import Out, Seed, Start, write_files


def lubm(
    out: Out = Path(),
    universities: Annotated[int, typer.Option(help="How many, about 130,000 facts each.")] = 1,
    every: Annotated[int, typer.Option(help="Milliseconds from a department to the next.")] = 1_000,
    start: Start = "0",
    seed: Seed = 0,
    plain: Annotated[
        bool, typer.Option("--plain", help="No instants: ontology and data as one lubm.nt.")
    ] = False,
) -> None:
    """LUBM: lubm.tnt, each department at its instant, and lubm.nt, the ontology Univ-Bench."""
    from ebbtide.testing.workloads.lubm import departments, ontology
    from ebbtide.testing.workloads.workload import at_least
    from ebbtide.time import parse_instant

    at_least("every", every, 1)
    at_least("universities", universities, 0)
    first = parse_instant(start)
    found = departments(universities, seed)
    # A Fact an object would take longer to make and to write than the rows it stands for.
    schema = (f"{s} {p} {o} .\n" for s, p, o in ontology())
    if plain:
        data = (f"{s} {p} {o} .\n" for department in found for s, p, o in department.rows)
        write_files(out, stream=("lubm.nt", chain(schema, data)))
        return
    stream = (
        f"{first + place * every}\t{s} {p} {o} .\n"
        for place, department in enumerate(found)
        for s, p, o in department.rows
    )
    write_files(out, stream=("lubm.tnt", stream), background=("lubm.nt", schema))
