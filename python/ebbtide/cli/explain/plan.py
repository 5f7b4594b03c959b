"""`ebbtide explain plan`: how the kernel runs a program."""

from __future__ import annotations

from typing import Annotated

import typer


def plan(
    rules: Annotated[
        str, typer.Argument(help="Regimes and rule files, joined by commas.", metavar="RULES")
    ],
) -> None:
    """Print the strata, the join orders and the indexes the kernel chooses for the rules."""
    from ebbtide.engines.native import NativeEngine
    from ebbtide.regimes import load

    print(NativeEngine(load(rules), {}).explain())
