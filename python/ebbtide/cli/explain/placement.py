"""`ebbtide explain placement`: where a pipeline's rules can be evaluated, rule by rule."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ebbtide.cli.builtins import Builtins, import_builtins
from ebbtide.cli.errors import InputError
from ebbtide.cli.run import needing_spark

if TYPE_CHECKING:
    from ebbtide.plan.sharding import Sharding


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
    import_builtins(builtins)
    if rules.endswith(".toml"):
        if background:
            raise InputError("a pipeline file says itself what its background is")
        _of_pipeline(Path(rules))
        return
    found = _cut(rules, background or ())
    print(found)
    print("placement: sharded, or driver" if found.is_proved else "placement: driver")


def _of_pipeline(file: Path) -> None:
    with needing_spark():
        from ebbtide.pipeline.build import units_of
        from ebbtide.pipeline.file import load_pipeline
        from ebbtide.pipeline.run import choice_of

    pipeline = load_pipeline(file)
    if pipeline.rules.use:
        print(_cut(",".join(pipeline.rules.use), map(Path, pipeline.background.files)))
    folder = None if pipeline.checkpoint.path is None else Path(pipeline.checkpoint.path)
    print(f"placement: {choice_of(pipeline, units_of(pipeline), None, folder)}")


def _cut(rules: str, background: Iterable[Path]) -> Sharding:
    from ebbtide.reasoner import Reasoner

    reasoner = Reasoner(rules)
    for path in background:
        reasoner.parse(path)
    return reasoner.sharding()
