"""Streams that cannot be read: one sentence that says which, and the next run loses nothing."""

from __future__ import annotations

import os
import signal
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.cli.errors import WRONG_INPUT, explain
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.run import run_pipeline
from ebbtide.pipeline.sources.socket import received

from .stream import PARQUET
from .test_recovery import lines

Run: TypeAlias = Callable[[Path], Progress]

LINE = "{}\t<http://e/a{}> <http://e/p> <http://e/b> .\n"
REST = """
[outputs.rows]
to = "jsonl"
path = "out"
changes = ["+"]
[checkpoint]
path = "checkpoint"
[run]
ends = "when read"
"""
QUERY = """REGISTER QUERY q AS SELECT ?s FROM STREAM <http://e/reports> [RANGE 5s STEP 1s]
WHERE { ?s <http://e/p> ?o }
"""
SOCKET = """
[streams.reports]
from = "socket"
port = {}
iri = "http://e/reports"
[streams.files]
from = "files"
path = "in"
"""


@pytest.fixture
def run(spark: SparkSession) -> Run:
    return lambda file: run_pipeline(load_pipeline(file), Console(quiet=True), spark=spark)


def told(error: Exception) -> str:
    """The one line that a command ends with."""
    explained = explain(error)
    assert explained is not None
    assert explained.exit_code == WRONG_INPUT
    assert "\n" not in explained.message
    return explained.message


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.mark.spark
def test_nobody_listens(run: Run, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.tnt").write_text(LINE.format(1000, 1))
    file = tmp_path / "p.toml"
    file.write_text(SOCKET.format(port) + REST)
    with pytest.raises(PipelineError) as caught:
        run(file)
    no_server = f"streams.reports: no server answers at 127.0.0.1:{port}: Connection refused"
    assert told(caught.value) == no_server
    with socket.create_server(("127.0.0.1", port)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(LINE.format(1000, 2).encode())

        threading.Thread(target=serve, daemon=True).start()
        run(file)
    assert sorted(row["s"] for row in lines(tmp_path / "out")) == ["<http://e/a1>", "<http://e/a2>"]


@pytest.mark.spark
def test_a_server_that_ends_the_stream_of_a_run_that_never_ends(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    said: list[str] = []

    def say(sentence: str) -> None:
        said.append(sentence)
        if "has ended" in sentence:
            os.kill(os.getpid(), signal.SIGTERM)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        file = tmp_path / "p.toml"
        given = SOCKET.format(server.getsockname()[1]) + REST
        file.write_text(given.replace('"when read"', '"never"'))
        run_pipeline(load_pipeline(file), Console(quiet=True), say, spark=spark)
    assert "the stream reports has ended: the next run asks for more of it" in said


@pytest.mark.spark
@pytest.mark.parametrize("query", [False, True])
def test_a_background_that_is_put_right(run: Run, tmp_path: Path, query: bool) -> None:
    """It is told before anything is read, and so the checkpoint is nobody's yet."""
    port = free_port()
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.tnt").write_text(LINE.format(1000, 1))
    (tmp_path / "b.ttl").write_text("<http://e/a> <http://e/p>\n")
    (tmp_path / "q.rq").write_text(QUERY)
    file = tmp_path / "p.toml"
    queries = '[queries]\nuse = ["q.rq"]\n' if query else ""
    given = SOCKET.format(port) + REST + '[background]\nfiles = ["b.ttl"]\n' + queries
    file.write_text(given.replace('to = "jsonl"', 'of = "q"\nto = "jsonl"') if query else given)
    with pytest.raises(ValueError, match="unexpected") as caught:
        run(file)
    assert told(caught.value).startswith(f"{tmp_path}/b.ttl:2:")
    (tmp_path / "b.ttl").write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    with pytest.raises(PipelineError, match="no server answers"):
        run(file)


def test_a_connection_that_is_lost_loses_no_line_before() -> None:
    whole = LINE.format(1000, 1) + LINE.format(2000, 2)
    is_read = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            connection.sendall(f"{whole}3000\t<htt".encode())
            # What a reset overtakes is lost on the way.
            is_read.wait(10)
            # Closed so, it is reset.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        threading.Thread(target=serve, daemon=True).start()
        port = server.getsockname()[1]
        pieces = received("streams.s", "127.0.0.1", port, threading.Event(), "tnt")
        assert next(pieces).text == whole
        is_read.set()
        with pytest.raises(PipelineError) as caught:
            next(pieces)
    assert told(caught.value).startswith(
        f"streams.s: the connection to 127.0.0.1:{port} was lost: Connection reset by peer"
    )


@pytest.mark.spark
@pytest.mark.parametrize("mended", ["put right", "taken away"])
def test_a_damaged_parquet_file(run: Run, tmp_path: Path, mended: str) -> None:
    (tmp_path / "in").mkdir()
    for number in range(3):
        file = tmp_path / f"in/no {number}.parquet"
        pq.write_table(pa.table({"at": [1000 * number], "sensor": [f"s{number}"]}), file)
        os.utime(file, (60 * number, 60 * number))
    damaged = tmp_path / "in/no 1.parquet"
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-8])
    os.utime(damaged, (60, 60))
    file = tmp_path / "p.toml"
    file.write_text(PARQUET + REST)
    with pytest.raises(PipelineError) as caught:
        run(file)
    assert told(caught.value).startswith(f"{damaged} cannot be read: it is damaged, or of another")
    if mended == "put right":
        damaged.write_bytes(content)
    else:
        damaged.unlink()
    run(file)
    expected = [0, 1, 2] if mended == "put right" else [0, 2]
    assert [row["s"] for row in lines(tmp_path / "out")] == [f"<http://e/s{n}>" for n in expected]


@pytest.mark.spark
def test_a_folder_that_was_moved(run: Run, tmp_path: Path) -> None:
    """Spark's log has whole paths: what was read would be new to it."""
    old, new = tmp_path / "in 1", tmp_path / "in 2"
    old.mkdir()
    (old / "a b.tnt").write_text(LINE.format(1000, 1))
    file = tmp_path / "p.toml"
    streams = f'[streams.reports]\nfrom = "files"\npath = "in 1"\n{REST}'
    file.write_text(streams)
    run(file)
    old.rename(new)
    file.write_text(streams.replace("in 1", "in 2"))
    with pytest.raises(PipelineError) as caught:
        run(file)
    assert told(caught.value) == (
        f"{new} is not where the files of the last batch were, such as {old}/a b.tnt: "
        "move the folder back, or start anew with --reset"
    )
    new.rename(old)
    file.write_text(streams)
    assert run(file).facts == 0
