"""Where a piece of a program was written: source, line, column and the text itself.

Every rule, rewritten or not, keeps the origin of the rule the user wrote, so that an error, a
plan and a proof can point to it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in a text. Lines and columns count from 1.

    >>> str(Origin("site.rules", 3, 5))
    'site.rules:3:5'
    """

    source: str
    line: int
    column: int
    text: str = ""

    @classmethod
    def at(cls, source: str, text: str, start: int, end: int | None = None) -> Origin:
        """The place of a position in a text, with what stands from there to `end`.

        >>> str(Origin.at("site.rq", "ASK\\n{ ?s", 6))
        'site.rq:2:3'
        """
        line_start = text.rfind("\n", 0, start) + 1
        line, column = text.count("\n", 0, start) + 1, start - line_start + 1
        return cls(source, line, column, "" if end is None else text[start:end])

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


IN_PYTHON = Origin("<python>", 1, 1)


class ProgramError(ValueError):
    """The user's program is wrong; the message starts with the place."""

    def __init__(self, message: str, origin: Origin = IN_PYTHON) -> None:
        super().__init__(f"{origin}: {message}")
        self.message = message
        self.origin = origin
