"""Spark's daemon of Python workers, whose workers go quietly.

A worker that waits for its next task when Spark stops says so on its socket, and if that is one of
Unix it is gone already: the worker would end with a traceback, at the end of a run that went well.
"""

from __future__ import annotations

import socket

from pyspark import daemon

_work = daemon.worker


def worker(sock: socket.socket, authenticated: bool) -> int:
    """Do a task, or find that there are no more; how it ended."""
    try:
        return _work(sock, authenticated)
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
