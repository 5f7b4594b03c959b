"""Files that are whole or not there: written aside, sealed by a checksum, moved into place.

    8 bytes    EBBSEAL and the version
    32 bytes   SHA-256 of the rest
    the rest   the content

Invariant: `unseal` gives back what `seal` was given, or refuses. A process that is killed leaves
the old file or the new one, never half of one. (Power cuts are another matter: nothing is synced,
as Spark does not sync its own checkpoint either.)
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from ebbtide.testing.crash import crash_point

MAGIC: Final = b"EBBSEAL\x01"
_DIGEST: Final = 32


class Damaged(ValueError):
    """A file that is not as it was written."""


def aside_of(path: Path) -> Path:
    """Where a file is written before it is in its place."""
    return path.with_name(f".{path.name}.tmp")


def replace_file(path: Path, content: bytes) -> None:
    """Put a file into place at once."""
    aside = aside_of(path)
    try:
        with aside.open("wb") as file:
            middle = len(content) // 2
            file.write(content[:middle])
            file.flush()
            crash_point("half written", path.name)
            file.write(content[middle:])
    except OSError as error:
        # Where a disk is full, the error does not say of which file.
        raise OSError(error.errno, error.strerror, str(path)) from None
    crash_point("written aside", path.name)
    os.replace(aside, path)


def seal(path: Path, content: bytes) -> None:
    """Write a file with its checksum."""
    replace_file(path, MAGIC + hashlib.sha256(content).digest() + content)


def unseal(path: Path) -> bytes:
    """The content of a sealed file."""
    data = path.read_bytes()
    if not data.startswith(MAGIC[:-1]):
        raise Damaged(f"{path} is damaged: it does not begin as it should")
    if not data.startswith(MAGIC):
        raise Damaged(f"{path} was written by another version of Ebbtide")
    start = len(MAGIC) + _DIGEST
    if hashlib.sha256(data[start:]).digest() != data[len(MAGIC) : start]:
        raise Damaged(f"{path} is damaged: its checksum does not match")
    return data[start:]
