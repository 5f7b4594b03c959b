r"""LARS streams: a line for each time point, `instant TAB atoms`.

    41	p(a,b). q(c).

A line without atoms says that time has come so far. Instants are whole numbers, or ISO 8601 where
they are milliseconds; they must not go back. Blank lines and comments are left out.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path

from ebbtide.languages.lars.reader import WELL_KNOWN, parse_atoms
from ebbtide.program import Fact, Origin, ProgramError
from ebbtide.time import Instant, InstantError, parse_instant


def read_atoms(
    path: str | PathLike[str], prefixes: Mapping[str, str] | None = None
) -> Iterator[tuple[Instant, list[Fact]]]:
    """The time points of a file, which may be gzip'd, each with its atoms."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(Path(path), "rt", encoding="utf-8") as lines:
        yield from parse_stream(lines, str(path), prefixes)


def parse_stream(
    lines: Iterable[str], source: str = "<text>", prefixes: Mapping[str, str] | None = None
) -> Iterator[tuple[Instant, list[Fact]]]:
    r"""The time points of some lines.

    >>> for at, atoms in parse_stream(["41\tp(a,b). q(7).", "43\t"]):
    ...     print(at, [str(fact) for fact in atoms])
    41 ['p(<a>, <b>)', 'q("7"^^<http://www.w3.org/2001/XMLSchema#integer>)']
    43 []
    """
    known = {**WELL_KNOWN, **(prefixes or {})}
    last: Instant | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("%"):
            continue
        instant, tab, atoms = line.rstrip("\r\n").partition("\t")
        if not tab:
            raise ProgramError(
                "a line of a stream is an instant, a TAB and atoms", Origin(source, number, 1)
            )
        try:
            at = parse_instant(instant.strip())
        except InstantError as error:
            raise ProgramError(str(error), Origin(source, number, 1)) from None
        if last is not None and at < last:
            raise ProgramError(
                f"time goes back from {last} to {at}; a stream is in order",
                Origin(source, number, 1),
            )
        last = at
        try:
            facts = parse_atoms(atoms, source, known)
        except ProgramError as error:
            column = error.origin.column + len(instant) + 1
            raise ProgramError(error.message, Origin(source, number, column)) from None
        yield at, facts
