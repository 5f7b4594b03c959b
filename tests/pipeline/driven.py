"""A driver without Spark: batches from a folder, each committed as Spark does, until killed.

    python -m tests.pipeline.driven FOLDER      0: all batches are committed and the end is written

FOLDER/batches/00000003.arrow is what batch 3 brings; FOLDER/committed is the last batch done with.
With FOLDER/program.lars it is the program that reasons, else the rules of the demo.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pyarrow as pa

from ebbtide.languages.lars import load_lars
from ebbtide.pipeline.checkpoint import Checkpoint, Plan
from ebbtide.pipeline.dead import DeadLetters
from ebbtide.pipeline.placements.driver import Driver
from ebbtide.pipeline.sinks.parts import Parts, json_lines
from ebbtide.pipeline.stages.parse import ANY, Documents, parser
from ebbtide.pipeline.units import Unit
from ebbtide.pipeline.units.lars import Lars
from ebbtide.pipeline.units.rules import Rules
from ebbtide.regimes import load_file
from ebbtide.time import Sliding

from .stream import DEMO


def write_batches(folder: Path, files_a_batch: int, documents: Documents = ANY) -> None:
    """The batches that Spark would make of a folder's incoming files."""
    (folder / "batches").mkdir()
    files = sorted((folder / "incoming").iterdir())
    parse = parser(str(folder / "incoming"), documents)
    for number, first in enumerate(range(0, len(files), files_a_batch)):
        some = files[first : first + files_a_batch]
        content = {"path": [f"file://{f}" for f in some], "content": [f.read_bytes() for f in some]}
        table = pa.Table.from_batches(parse([pa.RecordBatch.from_pydict(content)]))
        names = pa.repeat("reports", table.num_rows)
        with pa.OSFile(str(folder / f"batches/{number:08d}.arrow"), "wb") as file:
            whole = table.add_column(0, "stream", names)
            with pa.ipc.new_stream(file, whole.schema) as writer:
                writer.write_table(whole)


def unit_of(folder: Path) -> Unit:
    """What reasons over the batches of a folder."""
    program = folder / "program.lars"
    if program.exists():
        return Lars("program", load_lars(program), ["reports"], step=1, lateness=1)
    return Rules(
        load_file(DEMO / "commuters.rules"),
        {"reports": Sliding(3_000)},
        background=[folder / "places.nt"],
        lateness=1_000,
    )


def drive(folder: Path) -> None:
    """Go on from the last committed batch to the end."""
    unit = unit_of(folder)
    (name,) = unit.names
    driver = Driver(
        units=[unit],
        streams=["reports"],
        sinks=[(name, Parts(folder / "out/answers", "jsonl", json_lines))],
        dead=DeadLetters(Parts(folder / "out/dead", "jsonl", json_lines), fail=False),
        checkpoint=Checkpoint(folder / "checkpoint", unit.identity, Plan.of(unit.pieces)),
        snapshot_every=3,
        say=lambda sentence: None,
    )
    committed = folder / "committed"
    first = int(committed.read_text()) + 1 if committed.exists() else 0
    for file in sorted((folder / "batches").iterdir())[first:]:
        table = pa.ipc.open_stream(file.read_bytes()).read_all()
        driver.take(int(file.stem), table, time.perf_counter())
        aside = folder / "committed.tmp"
        aside.write_text(file.stem)
        os.replace(aside, committed)
    driver.finish()


if __name__ == "__main__":
    drive(Path(sys.argv[1]))
