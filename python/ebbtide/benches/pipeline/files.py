"""Files of LUBM facts, as a stream of them would bring."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ebbtide.terms.writing import ntriples_line
from ebbtide.testing.workloads.lubm import departments, lubm

T = TypeVar("T")


def write_files(
    folder: Path, facts: int, files: int, seed: int, *, a_second: int = 1, at_once: int = 1
) -> list[Path]:
    """FOLDER/files/00000.tnt and so on, so many a second of event time; the ontology beside.

    So many departments send their facts at once; when one has no more, the next begins.
    """
    written = []
    rows = by_turns((each.rows for each in departments(1_000, seed)), at_once)
    (folder / "files").mkdir()
    for number in range(files):
        file = folder / "files" / f"{number:05d}.tnt"
        at = 1_000 * (number // a_second) + 1
        lines = (f"{at}\t{s} {p} {o} .\n" for s, p, o in islice(rows, facts))
        file.write_text("".join(lines))
        os.utime(file, (60 * number, 60 * number))
        written.append(file)
    ontology = (ntriples_line(fact.terms) for fact in lubm().background())
    (folder / "ontology.nt").write_text("".join(ontology))
    return written


def by_turns(parts: Iterable[Iterable[T]], at_once: int) -> Iterator[T]:
    """What is in some parts, so many of them at once, one of each in turn.

    >>> "".join(by_turns(["aaaa", "b", "cc"], 2))
    'abaacac'
    """
    coming = iter(parts)
    open_ = deque(map(iter, islice(coming, at_once)))
    while open_:
        part = open_.popleft()
        for one in part:
            yield one
            open_.append(part)
            break
        else:
            open_.extend(map(iter, islice(coming, 1)))
