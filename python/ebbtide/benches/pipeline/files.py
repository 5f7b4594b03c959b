"""Files of LUBM facts, as a stream of them would bring."""

from __future__ import annotations

import os
from itertools import chain, islice
from pathlib import Path

from ebbtide.terms.writing import ntriples_line
from ebbtide.testing.workloads.lubm import departments, lubm


def write_files(
    folder: Path, facts: int, files: int, seed: int, *, a_second: int = 1
) -> list[Path]:
    """FOLDER/files/00000.tnt and so on, so many a second of event time; the ontology beside."""
    written = []
    rows = chain.from_iterable(each.rows for each in departments(1_000, seed))
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
