"""Sockets as sources of timed facts."""

from __future__ import annotations

import socket
import threading

import pytest

from ebbtide.queries.sources import SourceError, timed_source


def test_a_socket_is_a_source() -> None:
    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            for number in range(3):
                connection.sendall(f"{number}\t<a:s{number}> <a:p> <a:o> .\n".encode())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        sender = threading.Thread(target=serve, args=(listener,))
        sender.start()
        facts = timed_source(f"tcp://127.0.0.1:{listener.getsockname()[1]}")
        assert [fact.at for fact in facts] == [0, 1, 2]
        sender.join()


def test_sources_that_cannot_be_read() -> None:
    with pytest.raises(SourceError, match="not a socket"):
        next(timed_source("tcp://nowhere"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(SourceError, match="refused"):
        next(timed_source(f"tcp://127.0.0.1:{port}"))
