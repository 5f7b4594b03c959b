"""`ebbtide bench pipeline`: what reasoning adds to a pipeline on Spark."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ebbtide.cli.bench.shown import Quick, Report, Seed, extra_needed, progress, show_and_write
from ebbtide.extras import needing


class Measured(StrEnum):
    """The measurements of pipelines, as `ebbtide.benches.pipeline` names them."""

    LARGE = "large"
    SMALL = "small"
    PARSING = "parsing"
    CLOSURE = "closure"
    SHARDS = "shards"
    RECOVERY = "recovery"
    BURST = "burst"


def pipeline(
    report: Report = None,
    only: Annotated[list[Measured] | None, typer.Option(help="Measure this; repeatable.")] = None,
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """Pipelines on Spark in local mode, two cores: elapsed time.

    large: batches of 100,000 facts, with rules and a query, against the pipeline that does all
    but reason

    small: batches of 100 facts, against Spark's own no-op sink behind the same source

    parsing: N-Triples on executors, in Rust, by Catalyst and row by row in Python

    closure: isIn by joins of DataFrames and by the kernel

    shards: RDFS on a standalone cluster of one worker and of two, and the cost of a shard's state

    recovery: a run with a window of 1,000,000 facts is killed, and goes on

    burst: memory while facts come a hundred times as fast as they are taken

    A goal that is missed is said, and is no error.
    """
    with extra_needed(), needing("a pipeline", "spark"):
        from ebbtide.benches.pipeline import MEASUREMENTS, run
        from ebbtide.benches.pipeline.settings import FULL, QUICK
    from dataclasses import replace

    settings = replace(QUICK if quick else FULL, seed=seed)
    names = [name for name in MEASUREMENTS if not only or name in only]
    with progress() as say:
        results = run(settings, names, say)
    show_and_write(results, report, quick=quick)
