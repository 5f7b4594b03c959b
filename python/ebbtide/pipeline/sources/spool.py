"""A stream that cannot be asked again, kept as files until it is read.

A thread takes pieces of text from somewhere and moves each into the folder as one file, which
`spooled` reads: that makes the stream replayable. What was not spooled when the process ended is
lost, as it is for any reader of that stream, unless its sender waits until it is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ebbtide.pipeline.checkpoint.sealed import replace_file


class Piece(NamedTuple):
    """A file to be: its name (which sorts as time goes) and its text."""

    name: str
    text: str


class Arrival(NamedTuple):
    """What arrives once, and is called by its time: a format, and a text."""

    format: str
    text: str


def pieces_of(folder: Path, after: str = "", last: str | None = None) -> list[Path]:
    """The pieces of a spool that are there, in order, those after a name, and up to another."""
    found = (each for each in folder.iterdir() if not each.name.startswith("."))
    wanted = (each for each in found if each.name > after and (last is None or each.name <= last))
    return sorted(wanted)


class Spool(threading.Thread):
    """Moves pieces into a folder until there are no more, or `stop` is called.

    A piece is on the disk when the next one is asked for. Of pieces with names those that were
    spooled before are left out; arrivals are all new.
    """

    def __init__(
        self, pieces: Iterable[Piece | Arrival], folder: Path, stop: threading.Event
    ) -> None:
        super().__init__(name=f"spool {folder.name}", daemon=True)
        self.stream = folder.name
        self.error: Exception | None = None
        self._pieces = pieces
        self._folder = folder
        self._stop_asked = stop

    def run(self) -> None:
        """Spool until the end."""
        try:
            for piece in self._unread():
                replace_file(self._folder / piece.name, piece.text.encode())
        except Exception as error:
            self.error = error

    def _unread(self) -> Iterator[Piece]:
        spooled = pieces_of(self._folder)
        last = spooled[-1].name if spooled else ""
        for each in self._pieces:
            piece = _named(each, last) if isinstance(each, Arrival) else each
            if piece.name > last:
                last = piece.name
                yield piece

    def stop(self) -> None:
        """Stop spooling and wait until it has."""
        self._stop_asked.set()
        self.join()


def _named(arrival: Arrival, last: str) -> Piece:
    """An arrival by its time, and after the last piece: a clock may have been put back since.

    >>> _named(Arrival("tnt", ""), "9000000000000000000.tnt").name
    '9000000000000000001.tnt'
    """
    after = int(last.partition(".")[0] or 0) + 1
    return Piece(f"{max(time.time_ns(), after):019d}.{arrival.format}", arrival.text)
