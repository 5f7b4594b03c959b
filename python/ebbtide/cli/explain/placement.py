"""`ebbtide explain placement`: where a pipeline's rules can be evaluated, rule by rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.builtins import Builtins, import_builtins
from ebbtide.cli.errors import InputError
from ebbtide.extras import needing


def placement(
    rules: Annotated[
        str,
        typer.Argument(
            help="Regimes and rule files, joined by commas; or a pipeline file.",
            metavar="RULES|PIPELINE.toml",
        ),
    ],
    background: Annotated[
        list[Path] | None,
        typer.Option(help="An RDF file with the schema. May be repeated."),
    ] = None,
    builtins: Builtins = None,
) -> None:
    """Print how each rule can be cut into shards: background, local, joins on ?x, or global.

    The proof is for the schema of the background. A program without global rules can be placed in
    shards. Of a pipeline file the placement it gets is printed, too, and why.
    """
    from ebbtide.reasoner import Reasoner

    import_builtins(builtins)
    if rules.endswith(".toml"):
        if background:
            raise InputError("a pipeline file says itself what its background is")
        _of_pipeline(Path(rules))
        return
    reasoner = Reasoner(rules)
    for path in background or ():
        reasoner.parse(path)
    found = reasoner.sharding()
    print(found)
    print("placement: sharded, or driver" if found.is_proved else "placement: driver")


def _of_pipeline(file: Path) -> None:
    with needing("a pipeline", "spark"):
        from ebbtide.pipeline.build import units_of
        from ebbtide.pipeline.file import load_pipeline
        from ebbtide.pipeline.run import choice_of
        from ebbtide.pipeline.units.rules import Rules

    pipeline = load_pipeline(file)
    units = units_of(pipeline)
    for unit in units:
        if isinstance(unit, Rules):
            unit.begin()
            print(unit.detached().reasoner.sharding())
    folder = None if pipeline.checkpoint.path is None else Path(pipeline.checkpoint.path)
    print(f"placement: {choice_of(pipeline, units, None, folder)}")
