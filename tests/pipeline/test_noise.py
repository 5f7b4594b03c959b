"""Of what Spark's processes say on standard error, noise is left out, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from ebbtide.pipeline.noise import without_noise

FIRST = b"""Traceback (most recent call last):
  File "/pyspark.zip/pyspark/util.py", line 822, in local_connect_and_auth
FileNotFoundError: [Errno 2] No such file or directory

During handling of the above exception, another exception occurred:

"""
SECOND = b"""Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
  File "/pyspark.zip/pyspark/sql/streaming/%s.py", line 97, in <module>
    return next(self.gen)
           ^^^^^^^^^^^^^^
pyspark.errors.exceptions.base.PySparkRuntimeError: [CANNOT_OPEN_SOCKET] Can not open socket: /x
"""
STOPPED = FIRST + SECOND % b"transform_with_state_driver_worker"
REFUSED = STOPPED.replace(
    b"FileNotFoundError: [Errno 2] No such file or directory",
    b"ConnectionRefusedError: [Errno 111] Connection refused",
)
ENDED = b"""Traceback (most recent call last):
  File "/pyspark.zip/pyspark/daemon.py", line 264, in manager
  File "/pyspark.zip/pyspark/daemon.py", line 95, in worker
BrokenPipeError: [Errno 32] Broken pipe
"""
#: What a worker was running has more frames than its own.
RUNNING = ENDED.replace(b"in worker\n", b'in worker\n  File "/site.py", line 3, in told\n')
OTHER = FIRST + SECOND % b"worker"
VALUE = b"""Traceback (most recent call last):
  File "/site.py", line 3, in <module>
ValueError: 7
"""


def passed(text: bytes) -> bytes:
    return b"".join(without_noise(text.splitlines(keepends=True)))


def whole(text: bytes) -> bytes:
    """All but empty lines."""
    return b"".join(line for line in text.splitlines(keepends=True) if line.strip())


@pytest.mark.parametrize("noise", [STOPPED, REFUSED, ENDED, STOPPED + ENDED + STOPPED])
def test_a_worker_whose_query_was_stopped(noise: bytes) -> None:
    assert passed(noise) == b""
    assert passed(b"before\n" + noise + b"after\n") == b"before\nafter\n"
    assert passed(VALUE + noise + VALUE) == VALUE + VALUE


@pytest.mark.parametrize(
    "told", [VALUE, OTHER, RUNNING, FIRST, FIRST + VALUE, SECOND[:90], b"a\nb\n"]
)
def test_everything_else_is_told(told: bytes) -> None:
    assert passed(told) == whole(told)
    assert passed(told + VALUE) == whole(told + VALUE)


def test_what_is_told_is_told_at_once() -> None:
    """Nobody waits for a next line to read how a traceback ends."""
    heard: list[bytes] = []

    def lines() -> Iterator[bytes]:
        yield from VALUE.splitlines(keepends=True)
        assert b"".join(heard) == VALUE
        yield b"more\n"

    for line in without_noise(lines()):
        heard.append(line)
    assert b"".join(heard) == VALUE + b"more\n"


STOPS = """
import time
from pyspark.sql import functions as F
from ebbtide.pipeline import reason
from ebbtide.pipeline.session import close_session, open_session

spark = open_session("starts and stops")
rows = spark.readStream.format("rate").load()
term = [F.lit(f"<http://e/{name}>").alias(name) for name in "spo"]
for wait in (0.0, 0.1, 0.3):
    told = reason(rows.select(F.col("timestamp").alias("t"), *term), ())
    query = told.writeStream.format("noop").start()
    # As soon as its own process of Python is being started, it is stopped.
    while not any("driver_worker" in str(each.info().commandLine().orElse(""))
                  for each in spark._jvm.java.lang.ProcessHandle.current().children().toArray()):
        time.sleep(0.01)
    time.sleep(wait)
    query.stop()
time.sleep(5)
close_session(spark)
"""


@pytest.mark.spark
def test_queries_that_are_stopped_while_they_start_say_nothing() -> None:
    """In a process of its own, whose standard error is nobody else's."""
    ended = subprocess.run(
        [sys.executable, "-c", STOPS], capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""
