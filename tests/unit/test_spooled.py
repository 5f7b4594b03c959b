"""The offsets of a spool: bounded, replayable, and pruned when committed. No Spark is started."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from pyspark.sql.streaming.datasource import ReadAllAvailable

from ebbtide.pipeline.sources.spool import Arrival, Piece, Spool, pieces_of
from ebbtide.pipeline.sources.spooled import SpoolReader


def spool(folder: Path, *names: str) -> None:
    thread = Spool([Piece(name, "x" * 10) for name in names], folder, threading.Event())
    thread.start()
    thread.join()
    assert thread.error is None


def names(folder: Path) -> list[str]:
    return [piece.name for piece in pieces_of(folder)]


def test_a_batch_is_bounded_and_can_be_had_again(tmp_path: Path) -> None:
    spool(tmp_path, "1", "2", "3", "4", "5")
    reader = SpoolReader(tmp_path, 25)
    start = reader.initialOffset()
    first = reader.latestOffset(start, reader.getDefaultReadLimit())
    assert first == {"last": "2", "bytes": 20, "stream": tmp_path.name}
    end = {"last": "5", "bytes": 50, "stream": tmp_path.name}
    assert reader.reportLatestOffset() == end
    second = reader.latestOffset(first, reader.getDefaultReadLimit())
    assert second == {"last": "4", "bytes": 40, "stream": tmp_path.name}
    # After a crash a new reader is asked for the same.
    again = SpoolReader(tmp_path, 25).partitions(first, second)
    assert [row for each in again for row in reader.read(each)] == [
        ("3", b"x" * 10),
        ("4", b"x" * 10),
    ]
    assert reader.latestOffset(second, ReadAllAvailable()) == end


def test_a_piece_above_the_bound_is_a_batch(tmp_path: Path) -> None:
    spool(tmp_path, "1", "2")
    reader = SpoolReader(tmp_path, 3)
    first = reader.latestOffset(reader.initialOffset(), reader.getDefaultReadLimit())
    assert first["last"] == "1"
    last = reader.latestOffset(first, reader.getDefaultReadLimit())
    assert reader.latestOffset(last, reader.getDefaultReadLimit()) == last


def test_what_is_committed_goes_and_does_not_come_again(tmp_path: Path) -> None:
    spool(tmp_path, "1", "2", "3")
    SpoolReader(tmp_path, 100).commit({"last": "2", "bytes": 20})
    assert names(tmp_path) == ["2", "3"]
    spool(tmp_path, "1", "2", "3", "4")
    assert names(tmp_path) == ["2", "3", "4"]


def test_a_clock_that_was_put_back_loses_nothing(tmp_path: Path) -> None:
    """What arrived before the last piece's time is new all the same, and comes after it."""
    hours_ahead = f"{time.time_ns() + 10**13}.tnt"
    spool(tmp_path, hours_ahead)
    thread = Spool([Arrival("tnt", text) for text in "abc"], tmp_path, threading.Event())
    thread.run()
    pieces = pieces_of(tmp_path)
    assert pieces[0].name == hours_ahead
    assert [piece.read_text() for piece in pieces[1:]] == ["a", "b", "c"]
    # What stands in a file is not new when it comes again.
    spool(tmp_path, hours_ahead)
    assert len(pieces_of(tmp_path)) == 4
