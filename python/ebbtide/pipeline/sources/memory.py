"""Documents from the memory of this process, for tests and notebooks.

The n-th document is always the same: a run that goes on leaves out those that were spooled before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from ebbtide.pipeline.sources.spool import Piece


def remembered(documents: Iterable[str], format: str, stop: threading.Event) -> Iterator[Piece]:
    """A piece for each document, whenever there is one.

    >>> [piece.name for piece in remembered(["a", "", "b"], "tnt", threading.Event())]
    ['000000000.tnt', '000000002.tnt']
    """
    for number, document in enumerate(documents):
        if stop.is_set():
            return
        if document:
            yield Piece(f"{number:09d}.{format}", document)
