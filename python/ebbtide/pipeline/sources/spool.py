"""A stream that cannot be asked again, kept as files until it is read.

A thread takes pieces of text from somewhere and moves each into the folder as one file, which the
files source reads: Spark's own log of files makes the stream replayable. What was not spooled when
the process ended is lost, as it is for any reader of that stream.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class Piece(NamedTuple):
    """A file to be: its name (which sorts as time goes) and its text."""

    name: str
    text: str


class Spool(threading.Thread):
    """Moves pieces into a folder until there are no more, or `stop` is called."""

    def __init__(self, pieces: Iterable[Piece], folder: Path, stop: threading.Event) -> None:
        super().__init__(name=f"spool {folder.name}", daemon=True)
        self.error: Exception | None = None
        self._pieces = pieces
        self._folder = folder
        self._stop_asked = stop

    def run(self) -> None:
        """Spool until the end."""
        try:
            for piece in self._unread():
                # Written aside and moved, so that Spark never reads half a file.
                aside = self._folder / f".{piece.name}.tmp"
                aside.write_text(piece.text, encoding="utf-8")
                aside.rename(self._folder / piece.name)
                if self._stop_asked.is_set():
                    return
        except Exception as error:
            self.error = error

    def _unread(self) -> Iterator[Piece]:
        return (piece for piece in self._pieces if not (self._folder / piece.name).exists())

    def stop(self) -> None:
        """Stop spooling and wait until it has."""
        self._stop_asked.set()
        self.join()
