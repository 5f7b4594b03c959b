"""A job in shards on a cluster of its own, as a program of its own: how long its batches took.

    python -m ebbtide.benches.pipeline.shards_job WORKERS FOLDER PLACE [KEY]

FOLDER has the files, four a batch, and the ontology; PLACE is for what job and cluster keep; KEY is
a declared key, without which facts are cut by their terms. A line of standard input is a number of
batches: as many arrive, and when they are done a line of JSON says `batches`, the times of each,
and `processors`, the processor time of one. It ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any, Final

import ebbtide
from ebbtide.benches.pipeline.processors import processor_time
from ebbtide.pipeline.api import reason
from ebbtide.pipeline.session import JVM_OPTIONS, close_session, open_session
from ebbtide.pipeline.sources.files import read_files
from ebbtide.testing.cluster import spark_cluster
from ebbtide.time import Sliding

FILES: Final = 4
SHARDS: Final = 2
WINDOW: Final = 5_000
RULES: Final = "rdfs-sparkwave"
SETTINGS: Final = {
    "spark.executorEnv.PYTHONPATH": str(Path(ebbtide.__file__).parents[1]),
    "spark.pyspark.python": sys.executable,
    "spark.executor.memory": "700m",
    # As in the driver: executors of a few minutes are compilation more than work.
    "spark.executor.extraJavaOptions": JVM_OPTIONS,
    "spark.sql.shuffle.partitions": str(SHARDS),
    # A job that waits for its turn must not keep looking for files.
    "spark.sql.streaming.pollingDelay": "1s",
}


def main(workers: int, folder: Path, place: Path, key: str | None = None) -> None:
    """Run it."""
    with spark_cluster(place, workers) as cluster:
        spark = open_session("ebbtide bench", cluster.address, SETTINGS)
        # The pattern is looked for when the query starts.
        incoming = place / "incoming"
        (incoming / "0").mkdir(parents=True)
        facts = read_files(spark, incoming / "*", files_a_batch=FILES).where("error IS NULL")
        changes = reason(
            facts,
            RULES,
            window=Sliding(WINDOW),
            background=[folder / "ontology.nt"],
            shards=SHARDS,
            key=key,
        )
        writer = changes.writeStream.format("noop")
        query = writer.option("checkpointLocation", str(place / "checkpoint")).start()
        files = iter(sorted((folder / "files").iterdir()))
        for number, line in enumerate(sys.stdin, start=1):
            before = processor_time(os.getpid())
            arrive(islice(files, FILES * int(line)), incoming / str(number))
            query.processAllAvailable()
            after = processor_time(os.getpid())
            batches = [told(each) for each in query.recentProgress if each.numInputRows]
            batches = batches[-int(line) :]
            processors = {name: (after[name] - before[name]) / len(batches) for name in after}
            print(json.dumps({"batches": batches, "processors": processors}), flush=True)
        query.stop()
        close_session(spark)


def arrive(files: Iterable[Path], folder: Path) -> None:
    """Let files be in a folder, all at once."""
    aside = folder.parents[1] / folder.name
    aside.mkdir()
    for file in files:
        os.link(file, aside / file.name)
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
    main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
