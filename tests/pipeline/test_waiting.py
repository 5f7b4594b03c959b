"""Files that wait in a folder, by the log of those that Spark has read."""

from __future__ import annotations

import time
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.run import run_pipeline
from ebbtide.pipeline.waiting import Waiting

LINE = "{}\t<http://e/a> <http://e/p> <http://e/b> .\n"
FILES = 12
PIPELINE = """
[streams.some]
from = "files"
path = "some of them"
files_a_batch = 1
[streams.none]
from = "memory"
lines = ["1000\\t<http://e/a> <http://e/p> <http://e/b> ."]
[outputs.rows]
to = "jsonl"
path = "out"
[checkpoint]
path = "checkpoint"
[run]
ends = "when read"
"""


@pytest.mark.spark
def test_the_lag_of_a_folder_falls_file_by_file(spark: SparkSession, tmp_path: Path) -> None:
    """Also of a stream beside others, and in the next run."""
    folder = tmp_path / "some of them"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number} #%.tnt").write_text(LINE.format(1_000 * number))
    (folder / "_hidden").write_text("nobody reads this")
    (tmp_path / "pipeline.toml").write_text(PIPELINE)
    pipeline = load_pipeline(tmp_path / "pipeline.toml")
    lags: list[int] = []
    for files in (FILES, FILES + 1):
        progress = Progress()

        def look(sentence: str, progress: Progress = progress) -> None:
            # Spark tells of the first batch whenever it comes to it; the second waits for that.
            patience = time.monotonic() + 30
            while sentence.startswith("batch 1:") and time.monotonic() < patience:
                if progress.streams["some"].lag is not None:
                    break
                time.sleep(0.01)
            if (lag := progress.streams["some"].lag) is not None:
                lags.append(lag)

        run_pipeline(pipeline, Console(file=StringIO()), look, spark=spark, progress=progress)
        stream = progress.streams["some"]
        assert (stream.lag, stream.lag_unit) == (0, "files")
        assert progress.streams["none"].lag_unit == "bytes"
        (folder / f"{files} more.tnt").write_text(LINE.format(1_000 * files))
    assert max(lags) >= FILES - 2
    assert lags == sorted(lags, reverse=True)
    # Spark has put the log of ten batches into one file by now.
    log = next((tmp_path / "checkpoint/spark/sources").iterdir())
    waiting = Waiting(folder, log)
    assert list(log.glob("*.compact"))
    assert waiting.count() == 1
    for file in folder.glob("[0-3] *"):
        file.unlink()
    (folder / "last.tnt").write_text(LINE.format(50_000))
    assert waiting.count() == 2


def test_a_log_is_read_once(tmp_path: Path) -> None:
    folder, log = tmp_path / "in", tmp_path / "log"
    folder.mkdir()
    log.mkdir()
    for name in "abcd":
        (folder / name).touch()
    waiting = Waiting(folder, log)
    assert waiting.count() == 4
    for number, name in enumerate("ab"):
        (log / str(number)).write_text(f'v1\n{{"path":"file://{folder}/{name}"}}')
    assert waiting.count() == 2
    for number in range(2):
        (log / str(number)).write_text("it is not looked at again")
    (log / "2.compact").write_text(f'v1\n{{"path":"file://{folder}/a"}}\n{{"path":"{folder}/c"}}')
    assert waiting.count() == 1


def test_a_large_folder_is_not_listed_with_every_batch(tmp_path: Path) -> None:
    folder, log = tmp_path / "in", tmp_path / "log"
    folder.mkdir()
    log.mkdir()
    many = 20_000
    for number in range(many):
        (folder / f"{number}").touch()

    def read(batch: int, *numbers: int) -> None:
        """As Spark logs it."""
        entries = (f'{{"path":"file://{folder}/{each}","batchId":{batch}}}' for each in numbers)
        (log / str(batch)).write_text("\n".join(["v1", *entries]))

    waiting = Waiting(folder, log)
    assert waiting.count() == many
    read(0, 1, 2, 3)
    assert waiting.count() == many - 3
    read(1, 4)
    # What batches before brought stands first in a compact log; it is known.
    (log / "2.compact").write_text(
        f'v1\nnobody reads this again\n{{"path":"{folder}/1","batchId":1}}\n'
        f'{{"path":"{folder}/5","batchId":2}}'
    )
    assert waiting.count() == many - 5
    (folder / "new").touch()
    assert waiting.count() == many - 5, "it was listed again"
    # To be sure, whoever begins lists it.
    (log / "2.compact").write_text("v1\n" + f'{{"path":"{folder}/1","batchId":0}}')
    assert Waiting(folder, log).count() == many
