r"""LARS streams: a line for each time point, `instant TAB atoms`.

    41	p(a,b). q(c).

A line without atoms says that time has come so far. Instants are whole numbers, or ISO 8601 where
they are milliseconds; they must not go back, unless the reader allows for that. Blank
lines and comments are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ebbtide.languages.lars.formula import LarsProgram
from ebbtide.languages.lars.printing import BOOLEANS
from ebbtide.languages.lars.reader import parse_atoms
from ebbtide.languages.lars.terms import WELL_KNOWN
from ebbtide.program import Fact, Origin, ProgramError
from ebbtide.terms import IRI, Literal, Term
from ebbtide.terms.term import XSD
from ebbtide.time import Instant, InstantError, parse_instant

NO_PROGRAM: Final = LarsProgram(())

# Most atoms are a name and plain constants or whole numbers; they are read without the grammar.
_PLAIN: Final = re.compile(
    r"\s*([a-z][A-Za-z0-9_]*)(?:\(((?:[a-z][A-Za-z0-9_]*|-?[0-9]+)"
    r"(?:,(?:[a-z][A-Za-z0-9_]*|-?[0-9]+))*)\))?\.(?=\s|[a-z]|$)"
)
_INTEGER: Final = XSD + "integer"
_NOTHING: Final = re.compile(r"\s*(?:%|//|$)")


def parse_stream(
    lines: Iterable[str],
    source: str = "<text>",
    program: LarsProgram = NO_PROGRAM,
    *,
    in_order: bool = True,
    met: Callable[[str, int], None] | None = None,
) -> Iterator[tuple[Instant, list[Fact]]]:
    r"""The time points of some lines, each with its atoms.

    The program knows prefixes, and which atoms cannot be input. `met` hears the predicate of each
    atom and the number of its line.

    >>> for at, atoms in parse_stream(["41\tp(a,b). q(7).", "43\t"]):
    ...     print(at, [str(fact) for fact in atoms])
    41 ['p(<a>, <b>)', 'q("7"^^<http://www.w3.org/2001/XMLSchema#integer>)']
    43 []
    """
    known = {**WELL_KNOWN, **program.prefixes}
    last: Instant | None = None
    for number, line in enumerate(lines, 1):
        if _NOTHING.match(line):
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
        if in_order and last is not None and at < last:
            raise ProgramError(
                f"time goes back from {last} to {at}; a stream is in order, unless a lateness is "
                "given",
                Origin(source, number, 1),
            )
        last = at
        facts = _plain_atoms(atoms)
        if facts is None or any(map(program.refuses, facts)):
            try:
                facts = parse_atoms(atoms, source, known, program.refuses)
            except ProgramError as error:
                column = error.origin.column + len(instant) + 1
                raise ProgramError(error.message, Origin(source, number, column)) from None
        if met is not None:
            for fact in facts:
                met(fact.relation, number)
        yield at, facts


def _plain_atoms(text: str) -> list[Fact] | None:
    """The atoms, if all of them are plain."""
    facts: list[Fact] = []
    position = 0
    while match := _PLAIN.match(text, position):
        arguments = match[2].split(",") if match[2] else []
        if not BOOLEANS.isdisjoint(arguments):
            return None
        facts.append(Fact(match[1], tuple(map(_plain_term, arguments))))
        position = match.end()
    return None if text[position:].strip() else facts


def _plain_term(text: str) -> Term:
    return IRI(text) if text[0].isalpha() else Literal(text, _INTEGER)
