"""Whether the files of a background can be read, told without keeping what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TypeAlias

from ebbtide.terms.formats import CHUNK, open_document

#: What is told how far a file was read: bytes of all bytes, while it is.
Reading: TypeAlias = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]


def check_background(files: Iterable[str], reading: Reading) -> None:
    """Read files to their ends; the first thing wrong is a `FormatError` with its place.

    A chunk is forgotten when the next one is read, so that files may be of any size.
    """
    for file in files:
        with reading(file) as tell:
            reader = open_document(file)
            while len(reader.table(CHUNK)):
                tell(*reader.progress)
