"""The text of a file in any of the languages; what cannot be read has its place."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Final

from ebbtide.program import Origin, ProgramError

_GZIP: Final = b"\x1f\x8b"


def read_text(path: str | PathLike[str], what: str) -> str:
    """The text of a file in UTF-8; `what` it holds, for the error if there is none.

    >>> read_text("nowhere.rules", "rules")
    Traceback (most recent call last):
    ebbtide.program.origin.ProgramError: nowhere.rules:1:1: cannot read the rules: No such file or
    directory
    """
    source = fspath(path)
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ProgramError(f"cannot read the {what}: {reason}", Origin(source, 1, 1)) from None
    except UnicodeDecodeError as error:
        if error.object.startswith(_GZIP):
            raise ProgramError(
                f"the file is gzip'd; unpack the {what} first", Origin(source, 1, 1)
            ) from None
        line = error.object.count(b"\n", 0, error.start) + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        raise ProgramError("the text is not UTF-8", Origin(source, line, column)) from None
