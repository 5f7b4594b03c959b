"""Python workers whose Spark has gone."""

from __future__ import annotations

import socket

import pytest
from pyspark import daemon

from ebbtide.pipeline.daemon import worker


def gone() -> socket.socket:
    """Our end of a socket of Unix whose other end is closed."""
    ours, theirs = socket.socketpair()
    theirs.close()
    return ours


def test_a_worker_that_waits_goes_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    # As Spark sets it.
    monkeypatch.setenv("PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE", "1")
    with gone() as theirs, pytest.raises(BrokenPipeError):
        daemon.worker(theirs, True)
    with gone() as ours:
        assert worker(ours, True) == 1
