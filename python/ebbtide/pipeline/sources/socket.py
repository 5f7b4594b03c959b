"""Lines of a TCP server, in pieces of what has arrived within a tenth of a second."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Final

from ebbtide.pipeline.sources.spool import Piece

SECONDS_A_PIECE: Final = 0.1
BYTES_A_PIECE: Final = 8 * 1024 * 1024
_BLOCK: Final = 65_536


def received(
    host: str,
    port: int,
    stop: threading.Event,
    format: str,
    bytes_a_piece: int = BYTES_A_PIECE,
) -> Iterator[Piece]:
    """Whole lines from a server, until it ends the connection.

    A piece is not much larger than `bytes_a_piece`, however fast they come.
    """
    block_size = min(_BLOCK, bytes_a_piece)
    with socket.create_connection((host, port)) as connection:
        connection.settimeout(SECONDS_A_PIECE)
        waiting = b""
        begun = time.monotonic()
        while not stop.is_set():
            try:
                block = connection.recv(block_size)
                if not block:
                    break
            except TimeoutError:
                block = b""
            waiting += block
            is_time = time.monotonic() - begun >= SECONDS_A_PIECE
            if (is_time or len(waiting) >= bytes_a_piece) and b"\n" in waiting:
                lines, _, waiting = waiting.rpartition(b"\n")
                yield _piece(lines + b"\n", format)
                begun = time.monotonic()
        # Of a server that goes on, what waits is half a line.
        if waiting.strip() and not stop.is_set():
            yield _piece(waiting, format)


def _piece(lines: bytes, format: str) -> Piece:
    # Spark never reads a name twice, so none may come again.
    return Piece(f"{time.time_ns()}.{format}", lines.decode(errors="replace"))
