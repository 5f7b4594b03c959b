"""`ebbtide explain maintenance`: the maintenance program of a strategy, rule by rule."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ebbtide.cli.builtins import Builtins, import_builtins


class Strategy(StrEnum):
    """The strategies that are rewritings of a program."""

    DRED = "dred"
    EXPIRY = "expiry"


def maintenance(
    rules: Annotated[
        str, typer.Argument(help="Regimes and rule files, joined by commas.", metavar="RULES")
    ],
    strategy: Annotated[Strategy, typer.Option(help="How the closure is kept.")] = Strategy.EXPIRY,
    builtins: Builtins = None,
) -> None:
    """Print the maintenance program that the paper's tables make of the rules."""
    from ebbtide.maintenance import maintenance_program
    from ebbtide.regimes import load

    import_builtins(builtins)
    print(maintenance_program(load(rules), strategy.value))
