"""`ebbtide explain plan`: how the kernel runs a program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def plan(
    rules: Annotated[Path, typer.Argument(help="The rule file.", metavar="RULES")],
) -> None:
    """Print the strata, the join orders and the indexes the kernel chooses for the rules."""
    from ebbtide.engines.native import NativeEngine
    from ebbtide.languages.jena import load_rules

    print(NativeEngine(load_rules(rules), {}).explain())
