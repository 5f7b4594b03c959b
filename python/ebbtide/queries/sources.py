"""Where the facts of a stream come from, one by one, as they arrive.

    PATH              a file, plain or gzip'd, in any timed format
    -                 standard input, timed N-Triples
    tcp://HOST:PORT   a socket that sends timed N-Triples

A source is read only as fast as its facts are taken: a pipe fills up and TCP slows the sender down,
so that nothing piles up here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Any, Final
from urllib.parse import urlsplit

from ebbtide.queries.socket import SocketSource
from ebbtide.terms import parse_term
from ebbtide.terms.formats import BadLine, FormatError, TimedFact, open_document, read_timed
from ebbtide.time import Instant

STANDARD_INPUT: Final = "-"
_TCP: Final = "tcp"


class SourceError(ValueError):
    """A source that cannot be read."""


def timed_source(source: str) -> Iterator[TimedFact]:
    """The facts of a source; a bad line among them is raised."""
    if source == STANDARD_INPUT:
        facts: Iterable[TimedFact | BadLine] = _piped("/dev/stdin", "<stdin>")
    elif source.startswith(f"{_TCP}:"):
        facts = read_socket(*_address(source))
    else:
        facts = read_timed(source)
    for fact in facts:
        if isinstance(fact, BadLine):
            raise FormatError(fact)
        yield fact


def read_socket(host: str, port: int) -> Iterator[TimedFact | BadLine]:
    """Connect, and read timed N-Triples line by line until the other side closes."""
    name = f"{_TCP}://{host}:{port}"
    try:
        with SocketSource.connect(host, port, name=name) as source:
            yield from source
    except OSError as error:
        raise SourceError(f"{name}: {error.strerror or error}") from None


def merged(streams: Iterable[tuple[str, str]]) -> Iterator[tuple[str, TimedFact]]:
    """The facts of several sources, each with the name of its stream, the earliest first.

    A stream may have several sources.
    """
    streams = list(streams)
    if [source for _, source in streams].count(STANDARD_INPUT) > 1:
        raise SourceError("standard input (-) can be the source of one stream only")

    def named(name: str, source: str) -> Iterator[tuple[Instant, str, TimedFact]]:
        for fact in timed_source(source):
            yield fact.at, name, fact

    sources = [named(name, source) for name, source in streams]
    for _, name, fact in merge(*sources, key=lambda each: each[0]):
        yield name, fact


def _piped(path: str, name: str) -> Iterator[TimedFact | BadLine]:
    """One fact at a time, so that each is seen when it was written."""
    reader: Any = open_document(path, "tnt", name=name, timed=True, lenient=True)
    while rows := reader.rows(1):
        for row in rows:
            if isinstance(row, BadLine):
                yield row
            else:
                at, *terms = row
                s, p, o = map(parse_term, terms)
                yield TimedFact((s, p, o), at)


def _address(source: str) -> tuple[str, int]:
    parts = urlsplit(source)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise SourceError(f"not a socket (tcp://HOST:PORT): {source}")
    return host, port
