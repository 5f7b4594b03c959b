"""Libraries that an installation may do without, and how their absence is told.

`pip install ebbtide` brings the in-process reasoner; `ebbtide[spark]`, `ebbtide[lars]` and
`ebbtide[bench]` bring what the other rooms import. Whoever imports it says so with `needing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingLibrary(ImportError):
    """A library is not installed; the message says what needs it, and how to install it."""

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(
            f"{what} needs {library}, which is missing: pip install 'ebbtide[{extra}]'",
            name=library,
        )


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Imports in the block that fail say what to install.

    >>> with needing("a pipeline", "spark"):
    ...     import sparkling
    Traceback (most recent call last):
    ebbtide.extras.MissingLibrary: a pipeline needs sparkling, which is missing: pip install
    'ebbtide[spark]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library in ("", "ebbtide"):
            raise
        raise MissingLibrary(what, library, extra) from None
