"""`ebbtide run`: a Spark pipeline from a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ebbtide.cli.progress import bar
from ebbtide.extras import needing

if TYPE_CHECKING:
    from ebbtide.pipeline.file import Pipeline


def run(
    pipeline: Annotated[
        Path | None, typer.Argument(help="The pipeline file.", metavar="PIPELINE.toml")
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Only say whether the file is right, and what it names, and a run would begin.",
        ),
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of pipeline files, for editors.")
    ] = False,
    reset: Annotated[
        bool,
        typer.Option(
            "--reset", help="Forget the checkpoint and what its runs wrote to the outputs."
        ),
    ] = False,
) -> None:
    """Run a pipeline on Spark: streams, background and rules in, answers out.

    It goes on where the last run ended. Ctrl-C ends it after the batch in hand.
    """
    with needing("a pipeline", "spark"):
        from ebbtide.pipeline.file import load_pipeline
        from ebbtide.pipeline.file import schema as schema_of

    if schema:
        print(json.dumps(schema_of(), indent=2))
        return
    if pipeline is None:
        raise typer.BadParameter("which pipeline file?", param_hint="PIPELINE.toml")
    loaded = load_pipeline(pipeline)
    if check:
        with needing("a pipeline", "spark"):
            from ebbtide.pipeline.expressions import check_file
            from ebbtide.pipeline.run import check_start
        from ebbtide.pipeline.file.background import check_background

        check_file(loaded, pipeline)
        check_start(loaded, reset=reset)
        # Last, as it may take the longest.
        check_background(loaded.background.files, lambda file: bar(f"reading {file}"))
        print(f"{pipeline} is right")
        return
    run_and_tell(loaded, reset=reset)


def run_and_tell(pipeline: Pipeline, *, reset: bool = False) -> None:
    """Run a pipeline, show on standard error what is happening, and print its sums.

    On a terminal that is a picture, unless an output draws one there; else a line a batch.
    """
    from rich.console import Console
    from rich.live import Live

    with needing("a pipeline", "spark"):
        from ebbtide.pipeline.file.model import Console as ConsoleOutput
        from ebbtide.pipeline.progress import Progress
        from ebbtide.pipeline.run import run_pipeline
        from ebbtide.pipeline.view import View

    def say(what: str) -> None:
        print(f"ebbtide: {what}", file=sys.stderr, flush=True)

    stderr = Console(stderr=True)
    is_taken = any(isinstance(output, ConsoleOutput) for output in pipeline.outputs.values())
    if stderr.is_terminal and not is_taken:
        progress = Progress()
        view = View(progress)
        with Live(view, console=stderr, refresh_per_second=4):
            done = run_pipeline(pipeline, Console(), view.say, reset=reset, progress=progress)
    else:
        done = run_pipeline(pipeline, Console(), say, reset=reset)
    print(f"\n{done}")
