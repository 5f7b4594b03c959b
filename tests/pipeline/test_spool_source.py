"""The spool as a source of real Spark: bounded batches, nothing twice, nothing lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from ebbtide.pipeline.file.model import Triple
from ebbtide.pipeline.sources.rows import rows_of_messages
from ebbtide.pipeline.sources.spool import pieces_of
from ebbtide.pipeline.sources.spooled import read_lines, read_spool

pytestmark = pytest.mark.spark


def batches(frame: DataFrame, checkpoint: Path) -> list[list[dict[str, Any]]]:
    """What comes, batch by batch, from where the checkpoint stands."""
    found: list[list[dict[str, Any]]] = []

    def take(batch: DataFrame, number: int) -> None:
        found.append(sorted(batch.toArrow().to_pylist(), key=str))

    writer = frame.writeStream.foreachBatch(take)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    query.processAllAvailable()
    query.stop()
    return found


def test_batches_are_bounded_and_pieces_go_when_committed(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    for name in "abcde":
        (folder / name).write_text(10 * name)
    pieces = read_spool(spark, folder, 25)
    first = batches(pieces, tmp_path / "checkpoint")
    assert [[row["path"] for row in batch] for batch in first] == [["a", "b"], ["c", "d"], ["e"]]
    assert first[2][0]["content"] == b"eeeeeeeeee"
    (folder / "f").write_text("f")
    second = batches(pieces, tmp_path / "checkpoint")
    assert [[row["path"] for row in batch] for batch in second] == [["f"]]
    assert [piece.name for piece in pieces_of(folder)] in (["e", "f"], ["f"])


def test_lines_of_json_become_triples(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    (folder / "1.json").write_text('{"at": 5, "id": "x"}\n{broken\n{"at": 7, "id": "y"}\n')
    facts = rows_of_messages(
        read_lines(spark, folder, 1000),
        schema="at long, id string",
        time="at",
        triples=(Triple(s="<http://e/{id}>", p="<http://e/p>", o='"1"'),),
    )
    (rows,) = batches(facts, tmp_path / "checkpoint")
    good = {(row["t"], row["s"], row["source"]) for row in rows if row["error"] is None}
    assert good == {(5, "<http://e/x>", "1.json@1"), (7, "<http://e/y>", "1.json@3")}
    (bad,) = [row for row in rows if row["error"] is not None]
    assert (bad["source"], bad["error"]["text"]) == ("1.json@2", "{broken")
