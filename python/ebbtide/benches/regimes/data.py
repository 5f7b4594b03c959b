"""The data of the contest as files that every contender reads: N-Triples, which is Turtle too.

LUBM(1) is the published one where the shared data are at hand (../shared/data, or the folder that
EBBTIDE_DATA names), and a generated one otherwise; larger ones are generated.
"""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from ebbtide.testing.workloads.lubm import departments, ontology

SHARED: Final = Path(os.environ.get("EBBTIDE_DATA", "../shared/data"))


class Data(NamedTuple):
    """A file, what it is, and how many triples it has, ontology included."""

    path: Path
    name: str
    triples: int


def lubm_1(folder: Path, seed: int) -> Data:
    """The published LUBM(1) with its ontology, or a generated one."""
    published = SHARED / "lubm"
    if not published.exists():
        return generated(folder, 1, seed)
    path = folder / "lubm-1.ttl"
    with path.open("wb") as file:
        for source, opener in (("univ-bench.nt", open), ("lubm1.nt.gz", gzip.open)):
            with opener(published / source, "rb") as part:
                shutil.copyfileobj(part, file)
    return Data(path, "published LUBM(1)", _lines(path))


def generated(folder: Path, universities: int, seed: int) -> Data:
    """A generated LUBM(N) with its ontology."""
    path = folder / f"lubm-{universities}-generated.ttl"
    with path.open("w", encoding="utf-8") as file:
        for rows in (ontology(), *(each.rows for each in departments(universities, seed))):
            file.writelines(f"{s} {p} {o} .\n" for s, p, o in rows)
    return Data(path, f"generated LUBM({universities})", _lines(path))


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)
