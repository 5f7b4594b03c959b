"""A job in shards on a cluster, as a program of its own: how long each of its batches took.

    python -m ebbtide.benches.pipeline.shards_job MASTER FOLDER CHECKPOINT

FOLDER has the files, four a batch, and the ontology. Prints a JSON list, a batch each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import ebbtide
from ebbtide.pipeline.api import reason
from ebbtide.pipeline.session import JVM_OPTIONS, close_session, open_session
from ebbtide.pipeline.sources.files import read_files
from ebbtide.time import Sliding

FILES: Final = 4
SHARDS: Final = 2
WINDOW: Final = 5_000
RULES: Final = "rdfs-sparkwave"


def main(master: str, folder: Path, checkpoint: Path) -> None:
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
    facts = read_files(spark, folder / "files", files_a_batch=FILES).where("error IS NULL")
    changes = reason(
        facts, RULES, window=Sliding(WINDOW), background=[folder / "ontology.nt"], shards=SHARDS
    )
    writer = changes.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.start()
    query.processAllAvailable()
    print(json.dumps([told(each) for each in query.recentProgress if each.numInputRows]))
    query.stop()
    close_session(spark)


def told(progress: Any) -> dict[str, float]:
    """Milliseconds of a batch: all of it, and what the state store says of itself."""
    state = progress.stateOperators[0]
    return {
        "batch": progress.durationMs["triggerExecution"],
        "reasoning and updates": state.allUpdatesTimeMs,
        "commit": state.commitTimeMs,
    }


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
