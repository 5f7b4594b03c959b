"""What reasons in a pipeline, and where: the units of a pipeline file, and their placement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import DeadLetters
from ebbtide.pipeline.file import model
from ebbtide.pipeline.file.duration import milliseconds
from ebbtide.pipeline.file.meaning import (
    RULES,
    builtins_of,
    has_atoms,
    iris_of,
    program_of,
    programs_of,
    queries_of,
    window_of,
)
from ebbtide.pipeline.inputs import homes_of
from ebbtide.pipeline.placements.choose import Choice
from ebbtide.pipeline.placements.dataframe import DataFramePlacement
from ebbtide.pipeline.placements.driver import Driver
from ebbtide.pipeline.placements.placement import Placement, Stop
from ebbtide.pipeline.placements.sharded import PARTITIONS
from ebbtide.pipeline.placements.shards import ShardedPlacement
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.sinks import Sink
from ebbtide.pipeline.units import Unit
from ebbtide.pipeline.units.background import Background
from ebbtide.pipeline.units.lars import Lars
from ebbtide.pipeline.units.queries import Queries
from ebbtide.pipeline.units.rules import Rules


def units_of(pipeline: model.Pipeline) -> list[Unit]:
    """What reasons: rules if their rows go anywhere, and queries and programs if there are any."""
    units: list[Unit] = []
    background = Background(map(Path, pipeline.background.files))
    if any(output.of == RULES for output in pipeline.outputs.values()):
        units.append(rules_of(pipeline, background))
    if queries := queries_of(pipeline):
        units.append(
            Queries(
                queries,
                iris_of(pipeline),
                program=program_of(pipeline),
                background=background,
                builtins=builtins_of(pipeline),
                lateness=milliseconds(pipeline.time.lateness),
                start=pipeline.time.start,
                report=pipeline.queries.report,
            )
        )
    for name, program in programs_of(pipeline).items():
        units.append(
            Lars(
                name,
                program,
                pipeline.streams,
                background=background,
                tells={
                    change
                    for output in pipeline.outputs.values()
                    if output.of == name
                    for change in output.changes
                },
                step=milliseconds(pipeline.time.step),
                lateness=milliseconds(pipeline.time.lateness),
                start=pipeline.time.start,
            )
        )
    return units


def rules_of(pipeline: model.Pipeline, background: Background) -> Rules:
    """The unit of rules."""
    return Rules(
        program_of(pipeline),
        {
            name: window_of(stream)
            for name, stream in pipeline.streams.items()
            if not has_atoms(stream)
        },
        background=background,
        builtins=builtins_of(pipeline),
        step=milliseconds(pipeline.time.step),
        lateness=milliseconds(pipeline.time.lateness),
        start=pipeline.time.start,
    )


def placement_of(
    pipeline: model.Pipeline,
    choice: Choice,
    units: Sequence[Unit],
    sinks: Sequence[tuple[str, Sink]],
    dead: DeadLetters,
    checkpoint: Checkpoint,
    say: Callable[[str], None],
    spark: SparkSession,
    progress: Progress,
    stop: Stop,
) -> Placement:
    """Where the units are."""
    common: Any = {
        "streams": list(pipeline.streams),
        "sinks": sinks,
        "dead": dead,
        "checkpoint": checkpoint,
        "say": say,
        "progress": progress,
        "stop": stop,
    }
    if choice.placement != "driver":
        # Nothing else is placed there.
        (unit,) = (each for each in units if isinstance(each, Rules))
    if choice.shards is not None:
        if PARTITIONS not in pipeline.spark.settings:
            spark.conf.set(PARTITIONS, choice.shards)
        key = pipeline.run.key
        return ShardedPlacement(**common, unit=unit, shards=choice.shards, key=key)
    if choice.placement == "dataframe":
        return DataFramePlacement(**common, unit=unit, spark=spark)
    return Driver(
        **common,
        units=units,
        snapshot_every=pipeline.checkpoint.snapshot_every,
        homes=homes_of(pipeline, checkpoint),
    )
