"""`ebbtide explain maintenance`: the maintenance program of a strategy, rule by rule."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Strategy(StrEnum):
    """The strategies that are rewritings of a program."""

    DRED = "dred"
    EXPIRY = "expiry"


def maintenance(
    rules: Annotated[
        str, typer.Argument(help="Regimes and rule files, joined by commas.", metavar="RULES")
    ],
    strategy: Annotated[Strategy, typer.Option(help="How the closure is kept.")] = Strategy.EXPIRY,
) -> None:
    """Print the maintenance program that the paper's tables make of the rules."""
    from ebbtide.maintenance import maintenance_program
    from ebbtide.regimes import load

    print(maintenance_program(load(rules), strategy.value))
