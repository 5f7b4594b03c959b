"""Lines of a TCP server, in pieces of what has arrived within a tenth of a second."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Final

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.sources.spool import Arrival

SECONDS_A_PIECE: Final = 0.1
#: How long a server may take to answer.
PATIENCE: Final = 10.0
BYTES_A_PIECE: Final = 8 * 1024 * 1024
_BLOCK: Final = 65_536


def received(
    at: str,
    host: str,
    port: int,
    stop: threading.Event,
    format: str,
    bytes_a_piece: int = BYTES_A_PIECE,
) -> Iterator[Arrival]:
    """Whole lines from a server, until it ends the connection; `at` is the key's path.

    A piece is not much larger than `bytes_a_piece`, however fast they come. If the connection is
    lost, the lines before that are handed out first.
    """
    block_size = min(_BLOCK, bytes_a_piece)
    with _connected(at, host, port) as connection:
        connection.settimeout(SECONDS_A_PIECE)
        waiting = b""
        lost: OSError | None = None
        begun = time.monotonic()
        while not stop.is_set():
            try:
                block = connection.recv(block_size)
                if not block:
                    break
            except TimeoutError:
                block = b""
            except OSError as error:
                lost = error
                break
            waiting += block
            is_time = time.monotonic() - begun >= SECONDS_A_PIECE
            if (is_time or len(waiting) >= bytes_a_piece) and b"\n" in waiting:
                lines, _, waiting = waiting.rpartition(b"\n")
                yield _piece(lines + b"\n", format)
                begun = time.monotonic()
        if lost is not None:
            # Of the last line there may be more.
            waiting = b"".join(waiting.rpartition(b"\n")[:2])
        # Of a server that goes on, what waits is half a line.
        if waiting.strip() and not stop.is_set():
            yield _piece(waiting, format)
        if lost is not None:
            raise PipelineError(
                f"{at}: the connection to {host}:{port} was lost: {_reason(lost)}; the next run "
                "connects again"
            )


def _connected(at: str, host: str, port: int) -> socket.socket:
    try:
        return socket.create_connection((host, port), PATIENCE)
    except OSError as error:
        raise PipelineError(f"{at}: no server answers at {host}:{port}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _piece(lines: bytes, format: str) -> Arrival:
    return Arrival(format, lines.decode(errors="replace"))
