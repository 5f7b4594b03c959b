"""Where the suites are, and how their files become terms.

The suites are other people's data and not part of the project: they are read from the folder named
by EBBTIDE_DATA, or from ../shared/data. Where they are absent, tests skip with `ABSENT`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, TypeAlias

from ebbtide.terms import Term
from ebbtide.terms.formats import read_triples

Triple: TypeAlias = tuple[Term, Term, Term]
Graph: TypeAlias = frozenset[Triple]

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(os.environ.get("EBBTIDE_DATA", ROOT.parent / "shared" / "data"))
PRESENT: Final = FOLDER.is_dir()
ABSENT: Final = f"the conformance suites are not in {FOLDER}; EBBTIDE_DATA names another folder"


def read_graph(path: Path) -> Graph:
    """The triples of a Turtle or N-Triples file; blank nodes keep their labels."""
    return frozenset(read_triples(path, keep_labels=True))
