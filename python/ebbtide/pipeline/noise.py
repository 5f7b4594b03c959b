"""What the JVM and the Python workers of Spark say on standard error that tells nobody anything.

Some of it no logging can be configured for. A query with state starts a Python process of its own;
if it is stopped before that has come so far, nobody waits for it any more, and it ends with a
traceback of two errors:

    Traceback (most recent call last):
      File ".../pyspark/util.py", line 822, in local_connect_and_auth
    FileNotFoundError: [Errno 2] No such file or directory
    During handling of the above exception, another exception occurred:
    Traceback (most recent call last):
      File ".../transform_with_state_driver_worker.py", line 97, in <module>
    pyspark.errors...PySparkRuntimeError: [CANNOT_OPEN_SOCKET] Can not open socket: ...

So does a worker whose task was stopped, when it hands over the last of what it has:

    Traceback (most recent call last):
      File ".../pyspark/daemon.py", line 95, in worker
    BrokenPipeError: [Errno 32] Broken pipe

If nobody had stopped them, Spark would say so itself, with an exception. Invariant: every other
line is passed on, in order, and at once, unless it may be of such a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

#: How lines begin: of a module that Spark asks for, of the Python that asks a stateful operator for
#: its state, and of a query that was stopped while that started.
NOISE: Final = (
    b"WARNING: Using incubator modules",
    b"Starting Streaming TransformWithState",
    b"Streaming TransformWithState",
    b"spark: failed to close state server socket",
)
_BEGINS: Final = b"Traceback "
#: What a traceback goes on with, and the first of the two errors: the socket is gone, or closed.
_GOES_ON: Final = (
    _BEGINS,
    b" ",
    b"During handling of the above exception",
    b"FileNotFoundError: [Errno 2] No such file or directory\n",
    b"ConnectionRefusedError: [Errno 111] Connection refused\n",
)
_FRAME: Final = b"  File "


def without_noise(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines that tell somebody something.

    >>> list(without_noise([b"Streaming TransformWithState\\n", b"spark: lost\\n", b"\\n"]))
    [b'spark: lost\\n']
    """
    held: list[bytes] = []
    for line in lines:
        if not line.strip() or line.startswith(NOISE):
            continue
        if not (held or line.startswith(_BEGINS)):
            yield line
            continue
        held.append(line)
        if line.startswith(_GOES_ON):
            continue
        if not _is_of_a_stopped_one(held):
            yield from held
        held = []
    yield from held


def _is_of_a_stopped_one(traceback: list[bytes]) -> bool:
    """Whether a whole traceback is of a process whose query was stopped, and of nobody's code."""
    error, frames = traceback[-1], [line for line in traceback if line.startswith(_FRAME)]
    if b"[CANNOT_OPEN_SOCKET]" in error:
        return any(b"transform_with_state_driver_worker.py" in frame for frame in frames)
    return error.startswith(b"BrokenPipeError: ") and all(b"/daemon.py" in each for each in frames)
