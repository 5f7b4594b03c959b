"""Templates of terms: N-Triples texts with holes for the columns of a row.

    <http://example/sensor/{id}>        the column is percent-encoded
    <{+url}>                            the column is an IRI, or part of one, as it is
    "{name}"  "{v}"^^<DATATYPE>  "{text}"@en      the column's text is escaped
    "{position.lat}"                    a field of a column that is a struct

A row whose column is null makes no triple. Braces around anything else are refused: what was meant
for a column must not become part of a term. A brace itself is written \\u007B.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ebbtide.terms import TermError, parse_term

_HOLE: Final = re.compile(r"\{(\+?)(\w+(?:\.\w+)*)\}")
#: What stands for a hole while a template is read.
_MARK: Final = re.compile(r"hole(\d+)hole")
_BRACES: Final = re.compile(r"\{.*?\}|[{}]")


@dataclass(frozen=True)
class Hole:
    """A place for a column, or for a field of it.

    `raw` as it is, else encoded for an IRI or escaped for a literal.
    """

    column: str
    raw: bool

    def __str__(self) -> str:
        return f"{{{'+' if self.raw else ''}{self.column}}}"


@dataclass(frozen=True)
class Template:
    """What a term is made of, in order, and whether it is an IRI."""

    is_iri: bool
    parts: tuple[str | Hole, ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template.

        >>> Template.parse("<http://e/{id}>").parts
        ('<http://e/', Hole(column='id', raw=False), '>')
        """
        # With something harmless in the holes it must be a term, which also makes it canonical.
        marks: list[Hole] = []

        def mark(match: re.Match[str]) -> str:
            marks.append(Hole(match[2], bool(match[1])))
            return f"hole{len(marks) - 1}hole"

        filled = _HOLE.sub(mark, text)
        if strange := _BRACES.search(filled):
            raise ValueError(f"{strange[0]} is no column, such as {{id}} or {{+id}} or {{place.x}}")
        # An IRI that begins with a raw hole has its scheme from there.
        scheme = "scheme:" if filled.startswith("<hole") else ""
        try:
            canonical = parse_term(filled.replace("<hole", f"<{scheme}hole", 1)).text
        except TermError as error:
            # As it was written.
            said = _MARK.sub(lambda found: str(marks[int(found[1])]), str(error))
            raise TermError(said) from None
        pieces = _MARK.split(canonical.replace(f"<{scheme}", "<", 1))
        parts = [marks[int(each)] if place % 2 else each for place, each in enumerate(pieces)]
        return cls(text.startswith("<"), tuple(part for part in parts if part != ""))
