"""`ebbtide package`: what the executors of a Spark cluster need, in one archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def package(
    archive: Annotated[
        Path, typer.Argument(help="Where to write it.", metavar="ARCHIVE.tar.gz")
    ] = Path("ebbtide.tar.gz"),
) -> None:
    """Pack Ebbtide and what it depends on for the executors of a Spark cluster."""
    from ebbtide.pipeline.package import pack

    pack(archive)
    print(
        f"spark-submit --archives {archive}#ebbtide --conf spark.executorEnv.PYTHONPATH=ebbtide ..."
    )
