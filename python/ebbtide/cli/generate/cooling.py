"""`ebbtide generate cooling`: temperature readings of a cooling system, as a LARS stream."""

from __future__ import annotations

from pathlib import Path

from ebbtide.cli.generate.output import FirstTick, Out, Rate, Seed, TimePoints, write_atoms


def cooling(
    out: Out = Path(),
    rate: Rate = 200,
    ticks: TimePoints = 100,
    start: FirstTick = 0,
    seed: Seed = 0,
) -> None:
    """Random readings `temp(V)` between -20 and 180 degrees: cooling.atoms."""
    from ebbtide.testing import workloads

    write_atoms(workloads.cooling(rate=rate, ticks=ticks, start=start, seed=seed), out, "cooling")
