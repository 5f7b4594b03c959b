"""`ebbtide explain placement`: where a pipeline's rules can be evaluated, rule by rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.builtins import Builtins, import_builtins


def placement(
    rules: Annotated[
        str, typer.Argument(help="Regimes and rule files, joined by commas.", metavar="RULES")
    ],
    background: Annotated[
        list[Path] | None,
        typer.Option(help="An RDF file with the schema. May be repeated."),
    ] = None,
    builtins: Builtins = None,
) -> None:
    """Print how each rule can be cut into shards: background, local, joins on ?x, or global.

    The proof is for the schema of the background. A program without global rules can be placed in
    shards; any other runs in the driver.
    """
    from ebbtide.reasoner import Reasoner

    import_builtins(builtins)
    reasoner = Reasoner(rules)
    for path in background or ():
        reasoner.parse(path)
    found = reasoner.sharding()
    print(found)
    print("placement: sharded, or driver" if found.is_proved else "placement: driver")
