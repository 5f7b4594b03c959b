"""`ebbtide explain maintenance`: the maintenance program of a strategy, rule by rule."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Strategy(StrEnum):
    """The strategies that are rewritings of a program."""

    DRED = "dred"
    EXPIRY = "expiry"


def maintenance(
    rules: Annotated[Path, typer.Argument(help="The rule file.", metavar="RULES")],
    strategy: Annotated[Strategy, typer.Option(help="How the closure is kept.")] = Strategy.EXPIRY,
) -> None:
    """Print the maintenance program that the paper's tables make of the rules."""
    from ebbtide.languages.jena import load_rules
    from ebbtide.maintenance import maintenance_program

    print(maintenance_program(load_rules(rules), strategy.value))
