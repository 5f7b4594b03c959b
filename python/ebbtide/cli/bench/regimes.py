"""`ebbtide bench regimes`: LUBM and other classics under OWL 2 RL, alone and against peers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ebbtide.cli.bench.peers import install_peers
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
    """The measurements of regimes, as `ebbtide.benches.regimes` names them."""

    LUBM = "lubm"
    RULES = "rules"
    LARGE = "large"
    EVENTS = "events"
    CHAIN = "chain"
    CLIQUE = "clique"


def regimes(
    report: Report = None,
    only: Annotated[list[Measured] | None, typer.Option(help="Measure this; repeatable.")] = None,
    peers: Annotated[
        bool,
        typer.Option("--peers", help="Also reasonable and owlrl, installed from PyPI if missing."),
    ] = False,
    universities: Annotated[int | None, typer.Option(help="N of the large LUBM(N) [5].")] = None,
    rounds: Annotated[int | None, typer.Option(help="Runs of each contender [5].")] = None,
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """Reasoning under OWL 2 RL: processor time, parsing aside, and peak memory.

    lubm: LUBM(1), the published one if ../shared/data has it, what each contender derives,
    and what the queries alone cost

    rules: what each rule costs there, by leaving it out

    large: LUBM(N), generated, and peak memory

    events: the workload of INSTANS: a department a window, query by query

    chain: subclasses of subclasses, with one instance, where types are wanted

    clique: terms that are all equal, up to 1,000, planned and as written

    A goal that is missed is said, and is no error.
    """
    with extra_needed():
        from ebbtide.benches.regimes import MEASUREMENTS, run
        from ebbtide.benches.regimes.settings import FULL, QUICK

    base = QUICK if quick else FULL
    settings = chosen(base, seed=seed, peers=peers, universities=universities, rounds=rounds)
    if peers:
        install_peers()
    measure(run, settings, wanted(MEASUREMENTS, only), report, quick=quick)
