"""`ebbtide demo`: the main job on a bundled scenario, Spark in local mode."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    seconds: Annotated[int, typer.Option(min=3, help="How long the stream lasts.")] = 18,
    seed: Annotated[int, typer.Option(help="The same seed gives the same stream.")] = 0,
) -> None:
    """Commuters in trains, reasoned over live on local Spark; ends by itself in half a minute."""
    from ebbtide.cli.run import run_and_tell
    from ebbtide.extras import needing

    with needing("a pipeline", "spark"):
        from ebbtide.pipeline.demo import demo_pipeline

    run_and_tell(demo_pipeline(seconds, seed))
