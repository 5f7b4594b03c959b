"""Back-pressure: a burst of a hundred times the rate waits in the spool, and nothing is lost."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.run import run_pipeline
from ebbtide.pipeline.sources.socket import received
from ebbtide.pipeline.sources.spool import Spool, pieces_of
from ebbtide.reasoner import Reasoner
from ebbtide.time import Sliding

from .stream import in_order, rows_of
from .test_recovery import lines

pytestmark = pytest.mark.spark

#: What can be sustained: batches of so many facts, five a second.
FACTS_A_BATCH = 200
RATE = 5 * FACTS_A_BATCH
#: A hundred times as many, for a twentieth of a second.
BURST = 100 * RATE // 20
QUIET = RATE // 10

RULES = "[r: (?x <http://e/in> ?y) -> (?y <http://e/has> ?x)]"
FACTS = [
    (f"<http://e/x{n % 97:03d}>", "<http://e/in>", f"<http://e/y{n % 13:03d}>", 10_000 + 2 * n)
    for n in range(QUIET + BURST + QUIET)
]
LINES = [f"{t}\t{s} {p} {o} .\n".encode() for s, p, o, t in FACTS]

PIPELINE = """
[streams.facts]
from = "socket"
port = {port}
window = "3 s"
bytes_a_batch = {bytes}
[rules]
use = ["burst.rules"]
[outputs.answers]
to = "jsonl"
path = "out"
changes = ["+", "-", "~"]
[checkpoint]
path = "checkpoint"
[run]
every = "200 ms"
ends = "when read"
"""


def send(server: socket.socket, before_the_last: Callable[[], None]) -> None:
    """A little, then the burst at once; and a little more when it is time for it."""
    connection, _ = server.accept()
    with connection:
        for some in (LINES[:QUIET], LINES[QUIET:-QUIET]):
            connection.sendall(b"".join(some))
            time.sleep(0.5)
        before_the_last()
        connection.sendall(b"".join(LINES[-QUIET:]))


def test_a_burst_is_caught_up_with(spark: SparkSession, tmp_path: Path) -> None:
    said: list[str] = []
    lags: list[int] = []
    progress = Progress()

    def caught_up() -> None:
        """The lag is seen to grow beyond what some batches take, and to fall to nothing."""
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline and (max(lags, default=0) <= 5 * size or lags[-1]):
            lags.append(progress.streams["facts"].lag or 0)
            time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as server:
        sending = threading.Thread(target=send, args=(server, caught_up), daemon=True)
        (tmp_path / "burst.rules").write_text(RULES)
        port, size = server.getsockname()[1], len(LINES[0]) * FACTS_A_BATCH
        (tmp_path / "pipeline.toml").write_text(PIPELINE.format(port=port, bytes=size))
        pipeline = load_pipeline(tmp_path / "pipeline.toml")
        sending.start()
        run_pipeline(
            pipeline, Console(file=StringIO()), said.append, spark=spark, progress=progress
        )
        sending.join()
    # It is caught up with while more is to come, and what comes then leaves nothing waiting.
    assert max(lags) > 5 * size
    assert lags[-1] == 0
    assert progress.streams["facts"].lag == 0
    # Nothing is lost, and the answers are those of the same facts in peace.
    assert progress.facts == len(FACTS)
    oracle = Reasoner(RULES, window=Sliding(3_000))
    told = [*oracle.run(((s, p, o), t) for s, p, o, t in FACTS), *oracle.finish()]
    assert in_order(lines(tmp_path / "out")) == rows_of(told)
    # Batches are bounded: by what a batch may have, and a line more for each piece.
    facts = [int(found[1]) for each in said if (found := re.search(r"(\d+) facts,", each))]
    assert max(facts) <= 1.1 * FACTS_A_BATCH
    assert len(facts) >= BURST / FACTS_A_BATCH
    # What was read is not kept.
    assert len(list((tmp_path / "checkpoint/spool/facts").iterdir())) < BURST / FACTS_A_BATCH / 2


def test_pieces_are_bounded_however_fast_lines_come(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=send, args=(server, lambda: None), daemon=True).start()
        port = server.getsockname()[1]
        arrivals = list(received("streams.s", "127.0.0.1", port, threading.Event(), "tnt", 5_000))
    assert max(len(arrival.text) for arrival in arrivals) <= 10_000
    spool = Spool(arrivals, tmp_path, threading.Event())
    spool.start()
    spool.join()
    pieces = pieces_of(tmp_path)
    assert len(pieces) == len(arrivals), "each has a name of its own"
    assert b"".join(piece.read_bytes() for piece in pieces) == b"".join(LINES)
