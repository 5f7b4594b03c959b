"""`ebbtide bench queries`: continuous queries, kept or asked anew, alone and against peers."""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec
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
    """The measurements of queries, as `ebbtide.benches.queries` names them."""

    WINDOWS = "windows"
    SHARING = "sharing"
    THROUGHPUT = "throughput"


def queries(
    report: Report = None,
    only: Annotated[list[Measured] | None, typer.Option(help="Measure this; repeatable.")] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Also rdflib and pyoxigraph, asked anew at every tick.")
    ] = False,
    largest: Annotated[
        int | None, typer.Option(help="Leave out windows of more triples [1,000,000].")
    ] = None,
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """Continuous queries: processor time.

    windows: a tick at fixed churn, for windows of growing size: incremental, or asked anew

    sharing: 100 queries of different ranges, in one engine or in 100

    throughput: what one core sustains: a filter, a join with static data, groups, and the query
    of the paper's figure 2 with transitive reasoning

    A goal that is missed is said, and is no error.
    """
    with extra_needed():
        from ebbtide.benches.queries import MEASUREMENTS, run
        from ebbtide.benches.queries.settings import FULL, QUICK
    missing = [name for name in ("rdflib", "pyoxigraph") if find_spec(name) is None]
    if peers and missing:
        raise InputError(f"--peers needs {', '.join(missing)}: pip install {' '.join(missing)}")
    base = QUICK if quick else FULL
    windows = base.windows
    if largest is not None:
        windows = tuple(window for window in windows if window <= largest)
    settings = chosen(base, seed=seed, peers=peers, windows=windows)
    measure(run, settings, wanted(MEASUREMENTS, only), report, quick=quick)
