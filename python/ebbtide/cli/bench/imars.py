"""`ebbtide bench imars`: the experiment of the paper."""

from __future__ import annotations

from enum import StrEnum
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


class Measured(StrEnum):
    """The measurements of imars, as `ebbtide.benches.imars` names them."""

    SHARE = "share"
    OVERLAP = "overlap"
    WINDOW = "window"
    FLOOR = "floor"
    MEMORY = "memory"
    INGEST = "ingest"


def imars(
    report: Report = None,
    only: Annotated[list[Measured] | None, typer.Option(help="Measure this; repeatable.")] = None,
    window: Annotated[int | None, typer.Option(help="Facts in the window [100000].")] = None,
    background: Annotated[int | None, typer.Option(help="Facts that never expire [10000].")] = None,
    share: Annotated[
        list[float] | None,
        typer.Option(help="Share replaced per tick, above 0 to 1; repeatable [0.001 to 1]."),
    ] = None,
    depth: Annotated[int | None, typer.Option(help="Levels of isIn in a tree [4].")] = None,
    fanout: Annotated[int | None, typer.Option(help="Children of a node [3].")] = None,
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """The experiment of the paper: trees of isIn under the transitive rule, in six measurements.

    share: expiry, dred and naive, as more of the window is replaced per tick

    overlap: expiry and dred, where pairs have several paths

    window: the cost of a change in small and large windows

    floor: the same against a bare hash table

    memory: under ever-new terms

    ingest: Arrow batches without rules

    A goal that is missed is said, and is no error.
    """
    with extra_needed():
        from ebbtide.benches.imars import MEASUREMENTS, run
        from ebbtide.benches.imars.settings import FULL, QUICK

    settings = chosen(
        QUICK if quick else FULL,
        seed=seed,
        window=window,
        background=background,
        shares=tuple(sorted(set(share))) if share else None,
        depth=depth,
        fanout=fanout,
    )
    measure(run, settings, wanted(MEASUREMENTS, only), report, quick=quick)
