"""The bytes of a snapshot: what the reasoner keeps, then what its engine keeps.

    8 bytes    EBBTIDE and the version
    32 bytes   SHA-256 of all that follows
    4 bytes    length of the header, big-endian
    header     JSON: the settings the reasoner ran with, and where it stands
    the rest   the engine's snapshot

Invariant: bytes that were cut, changed or written by another version are refused, never read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

MAGIC: Final = b"EBBTIDE\x01"
_DIGEST: Final = 32
_LENGTH: Final = 4


class SnapshotError(ValueError):
    """A snapshot that cannot be restored here."""


def pack(header: dict[str, Any], engine: bytes) -> bytes:
    """The bytes of a snapshot."""
    text = json.dumps(header, sort_keys=True).encode()
    rest = len(text).to_bytes(_LENGTH, "big") + text + engine
    return MAGIC + hashlib.sha256(rest).digest() + rest


def unpack(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the engine's part.

    >>> unpack(pack({"step": 10}, b"engine"))
    ({'step': 10}, b'engine')
    """
    if not data.startswith(MAGIC[:-1]):
        raise SnapshotError("these bytes are not a snapshot of a reasoner")
    if not data.startswith(MAGIC):
        raise SnapshotError("the snapshot was written by another version of Ebbtide")
    digest, rest = data[len(MAGIC) :][:_DIGEST], data[len(MAGIC) + _DIGEST :]
    if hashlib.sha256(rest).digest() != digest:
        raise SnapshotError("the snapshot is damaged: its checksum does not match")
    end = _LENGTH + int.from_bytes(rest[:_LENGTH], "big")
    return json.loads(rest[_LENGTH:end]), rest[end:]


def check_settings(header: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse a snapshot of a reasoner that ran with other settings.

    >>> check_settings({"settings": {"step": 10}}, {"step": 5})
    Traceback (most recent call last):
    ebbtide.reasoner.snapshot.SnapshotError: the snapshot was taken with another step: 10, not 5
    """
    for name, value in settings.items():
        taken_with = header["settings"].get(name)
        if taken_with != value:
            raise SnapshotError(
                f"the snapshot was taken with another {name}: {taken_with}, not {value}"
            )
