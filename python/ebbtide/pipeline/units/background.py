"""The files of a background, with what tells them from others: digests of what is in them.

Invariant: a file is digested once for each `Background`, however many ask, for it may be large; and
never for longer: neither its size nor its time tells that it is as it was (a file system may count
seconds, and `cp -p` keeps them).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path


class Background(tuple[Path, ...]):
    """The paths of the files; units of one pipeline share one."""

    @classmethod
    def of(cls, files: Iterable[Path]) -> Background:
        """The background of some files; one that is one stays what it is, digests included."""
        return files if isinstance(files, cls) else cls(files)

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """What tells each file from another."""
        return tuple(map(_digest_of_file, self))

    @property
    def digest(self) -> str:
        """What tells this background from another."""
        digest = hashlib.sha256()
        for each in self.digests:
            digest.update(bytes.fromhex(each))
        return digest.hexdigest()[:32]


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
