"""Timed facts from sockets, no faster than they are taken.

A producer writes lines of timed N-Triples (`terms/formats.py`: instant, TAB, statement) to a TCP
connection. A `SocketSource` reads a piece of them when it is asked for the next, and never ahead:

    producer ─► its send buffer ─► our receive buffer ─► one piece of lines ─► push, evaluate
                      full: the producer waits          asked for: when the last one is done

So back-pressure is TCP's own: while a tick is being evaluated nobody reads, the buffers fill, and
the producer waits. Memory is bounded by one piece and one line, whatever the producer does.

Invariant: every line comes out once, in order, as its facts or as a `BadLine` with its number.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol, Self

from ebbtide._kernel import Reader
from ebbtide.terms import parse_term
from ebbtide.terms.formats import MAX_LINE, BadLine, FormatError, TimedFact, Triple
from ebbtide.time import Instant

#: How many bytes are asked for at a time.
PIECE: Final = 1 << 16


class SocketSource:
    """The timed facts, and the bad lines, that arrive on a connection; iterate to take them.

    >>> server = socket.create_server(("localhost", 0))
    >>> with socket.create_connection(server.getsockname()) as producer:
    ...     _ = producer.send(b"1500\\t<http://e/a> <http://e/isIn> <http://e/b> .\\nnoon\\n")
    >>> with SocketSource.accept(server, name="doors") as source:
    ...     for item in source:
    ...         print(item if isinstance(item, BadLine) else item.at)
    1500
    doors:2:1: expected an instant, a TAB and an N-Triples statement
    >>> server.close()
    """

    def __init__(self, connection: socket.socket, name: str | None = None) -> None:
        self.connection = connection
        self.name = name or _address(connection)
        self._begun = bytearray()
        self._lines = 0
        self._is_over = False

    @classmethod
    def connect(cls, host: str, port: int, *, name: str | None = None) -> Self:
        """From a producer that waits for consumers at an address."""
        return cls(socket.create_connection((host, port)), name)

    @classmethod
    def accept(cls, server: socket.socket, *, name: str | None = None) -> Self:
        """From the next producer that connects to a listening socket."""
        connection, _ = server.accept()
        return cls(connection, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.connection.close()

    def fileno(self) -> int:
        """The connection's, so that a source can be waited for."""
        return self.connection.fileno()

    @property
    def is_over(self) -> bool:
        """Whether the producer has hung up and everything was taken."""
        return self._is_over

    def __iter__(self) -> Iterator[TimedFact | BadLine]:
        while not self._is_over:
            yield from self.take()

    def take(self) -> list[TimedFact | BadLine]:
        """The facts of the lines that the next piece completes; waits until there is a piece."""
        known = len(self._begun)
        piece = self.connection.recv(PIECE)
        self._begun += piece
        self._is_over = not piece
        end = known if self._is_over else self._begun.rfind(b"\n", known) + 1
        # Of a line that is too long, what is kept suffices to say so.
        if end == 0 and len(self._begun) > MAX_LINE:
            del self._begun[MAX_LINE + 1 :]
        lines = bytes(self._begun[:end])
        del self._begun[:end]
        return list(self._read(lines)) if lines else []

    def _read(self, lines: bytes) -> Iterator[TimedFact | BadLine]:
        # One scope for the connection: a label means the same node in every piece.
        reader = Reader(lines, self.name, format="tnt", scope=self.name, timed=True, lenient=True)
        while rows := reader.rows(PIECE):
            for row in rows:
                if isinstance(row, BadLine):
                    yield row.after(self._lines)
                else:
                    at, *terms = row
                    s, p, o = map(parse_term, terms)
                    yield TimedFact((s, p, o), at)
        self._lines += lines.count(b"\n")


class TakesFacts(Protocol):
    """What facts of several streams can be poured into, like a `QueryEngine`."""

    def push(self, stream: str, facts: Triple, at: Instant) -> object:
        """A fact happens on a stream."""


def _raise(bad: BadLine) -> None:
    raise FormatError(bad)


def pour(
    sources: Mapping[str, SocketSource],
    into: TakesFacts,
    *,
    on_bad: Callable[[BadLine], object] = _raise,
) -> None:
    """Push what arrives, from whichever source it arrives, until every producer has hung up.

    Nothing is read while the engine evaluates. A bad line is raised as a `FormatError`, or handed
    to `on_bad`. Facts of different sources have no order among them beyond their instants, so the
    engine's lateness must allow for the sources' differences.
    """
    with selectors.DefaultSelector() as waiting:
        for stream, source in sources.items():
            waiting.register(source, selectors.EVENT_READ, (stream, source))
        while waiting.get_map():
            for key, _ in waiting.select():
                stream, source = key.data
                for item in source.take():
                    if isinstance(item, BadLine):
                        on_bad(item)
                    else:
                        into.push(stream, item.triple, item.at)
                if source.is_over:
                    waiting.unregister(source)


def _address(connection: socket.socket) -> str:
    host, port, *_ = connection.getpeername()
    return f"tcp://{host}:{port}"
