"""Files of facts: N-Triples (`.nt`) and timed N-Triples (`.tnt`), plain or gzip'd (`.gz`).

    <http://e/a> <http://e/isIn> <http://e/b> .              a line of N-Triples
    1500⇥<http://e/a> <http://e/isIn> <http://e/b> .         ... after an instant and a TAB

Readers are lazy and hold one line at a time. Invariant: every line becomes a fact or a `BadLine`
that says where and why, or it is blank or a comment; nothing is lost. `read_timed` hands bad lines
out among the facts, so that the caller decides to raise or to collect; `read_ntriples` raises.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from os import PathLike, fspath
from typing import IO, Final, NamedTuple, TypeAlias, cast

from ebbtide.terms.term import (
    BLANK_PATTERN,
    IRI_PATTERN,
    LANGUAGE_PATTERN,
    STRING_PATTERN,
    Term,
    TermError,
    parse_term,
)
from ebbtide.time import Instant, InstantError, parse_instant

Triple: TypeAlias = tuple[Term, Term, Term]

MAX_LINE: Final = 2**20
_KEPT_OF_LONG_LINE: Final = 200

_ABSOLUTE: Final = rf"(?=<[A-Za-z][A-Za-z0-9+.\-]*:){IRI_PATTERN}"
_PLACES: Final = (
    (
        re.compile(rf"{_ABSOLUTE}|{BLANK_PATTERN}"),
        "expected a subject: an absolute IRI <...> or a blank node _:name",
    ),
    (re.compile(_ABSOLUTE), "expected a predicate: an absolute IRI <...>"),
    (
        re.compile(
            rf"{_ABSOLUTE}|{BLANK_PATTERN}|"
            rf"{STRING_PATTERN}(?:{LANGUAGE_PATTERN}|\^\^{_ABSOLUTE})?"
        ),
        "expected an object: an absolute IRI <...>, a blank node _:name or a literal",
    ),
)
_SPACE: Final = re.compile(r"[ \t]*")
_REST: Final = re.compile(r"[ \t]*(?:#.*)?")


class TimedFact(NamedTuple):
    """A triple and the instant it happens at."""

    triple: Triple
    at: Instant


class BadLine(NamedTuple):
    """A line that is no fact: where, why, and the line itself. Lines and columns count from 1."""

    source: str
    line: int
    column: int
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}: {self.reason}"


class FormatError(ValueError):
    """A bad line, raised."""

    def __init__(self, bad: BadLine) -> None:
        super().__init__(str(bad))
        self.bad = bad


def read_ntriples(path: str | PathLike[str]) -> Iterator[Triple]:
    """The triples of a file; the first bad line is a `FormatError`."""
    with _open(path) as stream:
        yield from parse_ntriples(stream, fspath(path))


def parse_ntriples(stream: IO[bytes], source: str) -> Iterator[Triple]:
    """The triples of an open file; the first bad line is a `FormatError`."""
    for line in _lines(stream, source):
        found = line if isinstance(line, BadLine) else _statement(line)
        if isinstance(found, BadLine):
            raise FormatError(found)
        if found is not None:
            yield found


def read_timed(path: str | PathLike[str]) -> Iterator[TimedFact | BadLine]:
    """The timed facts of a file, and its bad lines, in order."""
    with _open(path) as stream:
        yield from parse_timed(stream, fspath(path))


def parse_timed(stream: IO[bytes], source: str) -> Iterator[TimedFact | BadLine]:
    r"""The timed facts of an open file, and its bad lines, in order.

    >>> from io import BytesIO
    >>> text = b"1500\t<http://e/a> <http://e/isIn> <http://e/b> .\nnoon\t<http://e/a> .\n"
    >>> fact, bad = parse_timed(BytesIO(text), "trains.tnt")
    >>> fact.at, str(fact.triple[0])
    (1500, '<http://e/a>')
    >>> print(bad)
    trains.tnt:2:1: not an instant (milliseconds or ISO 8601): 'noon'
    """
    for line in _lines(stream, source):
        found = line if isinstance(line, BadLine) else _timed(line)
        if found is not None:
            yield found


class _Line(NamedTuple):
    source: str
    number: int
    text: str

    def bad(self, position: int, reason: str) -> BadLine:
        return BadLine(self.source, self.number, position + 1, reason, self.text)


def _open(path: str | PathLike[str]) -> IO[bytes]:
    try:
        opener = gzip.open if fspath(path).endswith(".gz") else open
        return cast("IO[bytes]", opener(path, "rb"))
    except OSError as error:
        reason = f"cannot read the file: {error.strerror or error}"
        raise FormatError(BadLine(fspath(path), 1, 1, reason, "")) from None


def _lines(stream: IO[bytes], source: str) -> Iterator[_Line | BadLine]:
    number = 0
    try:
        while raw := stream.readline(MAX_LINE + 1):
            number += 1
            if len(raw) > MAX_LINE:
                rest = raw
                while rest and not rest.endswith(b"\n"):
                    rest = stream.readline(MAX_LINE)
                kept = raw[:_KEPT_OF_LONG_LINE].decode(errors="replace")
                yield BadLine(source, number, 1, f"the line is longer than {MAX_LINE} bytes", kept)
                continue
            try:
                yield _Line(source, number, raw.decode().rstrip("\r\n"))
            except UnicodeDecodeError as error:
                column = len(raw[: error.start].decode()) + 1
                text = raw.decode(errors="replace").rstrip("\r\n")
                yield BadLine(source, number, column, "the line is not UTF-8", text)
    except (OSError, EOFError, zlib.error) as error:
        yield BadLine(source, number + 1, 1, f"the file is damaged: {error}", "")


def _timed(line: _Line) -> TimedFact | BadLine | None:
    if _REST.fullmatch(line.text):
        return None
    instant, tab, _ = line.text.partition("\t")
    if not tab:
        return line.bad(0, "expected an instant, a TAB and an N-Triples statement")
    try:
        at = parse_instant(instant)
    except InstantError as error:
        return line.bad(0, str(error))
    found = _statement(line, len(instant) + 1)
    if found is None:
        return line.bad(len(instant) + 1, "expected an N-Triples statement after the TAB")
    return found if isinstance(found, BadLine) else TimedFact(found, at)


def _statement(line: _Line, start: int = 0) -> Triple | BadLine | None:
    """The triple from `start` to the end of a line; None if there is at most a comment."""
    text, position = line.text, start
    if _REST.fullmatch(text, start):
        return None
    terms: list[Term] = []
    for pattern, expected in _PLACES:
        position = _after_space(text, position)
        match = pattern.match(text, position)
        if match is None:
            return line.bad(position, expected)
        try:
            terms.append(parse_term(match[0]))
        except TermError as error:
            return line.bad(position, str(error))
        position = match.end()
    position = _after_space(text, position)
    if not text.startswith(".", position):
        return line.bad(position, "expected a full stop")
    if not _REST.fullmatch(text, position + 1):
        return line.bad(position + 1, "expected nothing after the full stop but a comment")
    subject, predicate, object_ = terms
    return subject, predicate, object_


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
