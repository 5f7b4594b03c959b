"""`ebbtide demo`: the main job on a bundled scenario, Spark in local mode."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ebbtide.cli.errors import InputError


def demo(
    seconds: Annotated[int, typer.Option(min=3, help="How long the stream lasts.")] = 18,
    seed: Annotated[int, typer.Option(help="The same seed gives the same stream.")] = 0,
) -> None:
    """Commuters in trains, reasoned over live on local Spark; ends by itself in half a minute."""
    from rich.console import Console

    try:
        from ebbtide.pipeline.demo import run_demo
        from ebbtide.pipeline.session import JavaMissing
    except ModuleNotFoundError as error:
        raise InputError(
            f"the demo needs Spark ({error.name} is missing): pip install 'ebbtide[spark]'"
        ) from None

    def say(what: str) -> None:
        print(f"ebbtide: {what}", file=sys.stderr, flush=True)

    try:
        summary = run_demo(seconds, seed, Console(), say)
    except JavaMissing as error:
        raise InputError(str(error)) from None
    print(f"\n{summary}")
