"""A job in shards on a cluster, as a program of its own: how long each of its batches took.

    python -m ebbtide.benches.pipeline.shards_job MASTER FOLDER PLACE WARM

FOLDER has the files, four a batch, and the ontology; PLACE is for what the job keeps. The first
WARM batches are not told of. Prints JSON: `batches`, a list, and `processors`, the processor time
of one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import ebbtide
from ebbtide.benches.pipeline.processors import processor_time
from ebbtide.pipeline.api import reason
from ebbtide.pipeline.session import JVM_OPTIONS, close_session, open_session
from ebbtide.pipeline.sources.files import read_files
from ebbtide.time import Sliding

FILES: Final = 4
SHARDS: Final = 2
WINDOW: Final = 5_000
RULES: Final = "rdfs-sparkwave"


def main(master: str, folder: Path, place: Path, warm: int) -> None:
    """Run it."""
    installed = Path(ebbtide.__file__).parents[1]
    settings = {
        "spark.executorEnv.PYTHONPATH": str(installed),
        "spark.pyspark.python": sys.executable,
        "spark.executor.memory": "700m",
        # As in the driver: executors of a few minutes are compilation more than work.
        "spark.executor.extraJavaOptions": JVM_OPTIONS,
        "spark.sql.shuffle.partitions": str(SHARDS),
    }
    spark = open_session("ebbtide bench", master, settings)
    files = sorted((folder / "files").iterdir())
    arrive(files[: FILES * warm], place / "incoming/warm")
    facts = read_files(spark, place / "incoming/*", files_a_batch=FILES).where("error IS NULL")
    changes = reason(
        facts, RULES, window=Sliding(WINDOW), background=[folder / "ontology.nt"], shards=SHARDS
    )
    checkpoint = str(place / "checkpoint")
    query = changes.writeStream.format("noop").option("checkpointLocation", checkpoint).start()
    query.processAllAvailable()
    # Whoever started this started the cluster.
    before = processor_time(os.getppid())
    arrive(files[FILES * warm :], place / "incoming/timed")
    query.processAllAvailable()
    after = processor_time(os.getppid())
    batches = [told(each) for each in query.recentProgress if each.numInputRows][warm:]
    processors = {name: (after[name] - before[name]) / len(batches) for name in after}
    print(json.dumps({"batches": batches, "processors": processors}))
    query.stop()
    close_session(spark)


def arrive(files: Iterable[Path], folder: Path) -> None:
    """Let files be in a folder, all at once."""
    aside = folder.parents[1] / folder.name
    aside.mkdir()
    for file in files:
        os.link(file, aside / file.name)
    folder.parent.mkdir(exist_ok=True)
    aside.rename(folder)


def told(progress: Any) -> dict[str, float]:
    """Milliseconds of a batch: all of it, and what the state store says of itself."""
    state = progress.stateOperators[0]
    return {
        "batch": progress.durationMs["triggerExecution"],
        "reasoning and updates": state.allUpdatesTimeMs,
        "commit": state.commitTimeMs,
    }


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
