"""The tokens of a LARS text, taken from the front."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, NoReturn

from ebbtide.languages.lars.tokens import Token, tokens
from ebbtide.program import Origin, ProgramError, Variable
from ebbtide.time.duration import UNITS

MAX_DEPTH: Final = 100
#: A comment that would be an operand, if % were a sign of arithmetic.
_REMAINDER: Final = re.compile(r"[ \t]*%[ \t]*(?:[0-9]|[A-Z]\w*[ \t]*[.,)\n])")


class Cursor:
    """A place in a text. Nesting is counted, so that no input is too deep."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._tokens = tokens(text, source)
        #: Where the lines begin.
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._next = 0
        self._depth = 0
        self._fresh = 0

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def _take(self) -> Token:
        token = self._peek()
        self._next += 1
        return token

    def _is(self, name: str) -> bool:
        token = self._peek()
        return token.text == name and token.kind in ("NAME", "VARIABLE")

    def _skip(self, name: str) -> bool:
        if self._is(name):
            self._take()
            return True
        return False

    def _expect(self, text: str) -> Token:
        token = self._take()
        if token.text != text or token.kind == "STRING":
            self._fail("a full stop" if text == "." else text, token)
        return token

    def _deeper(self, token: Token) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ProgramError("too many brackets within each other", self._at(token))

    def _fresh_variable(self) -> Variable:
        """A variable that nobody can write: those of a text do not begin with a small letter."""
        self._fresh += 1
        return Variable(f"any{self._fresh}")

    def _fail(self, wanted: str, token: Token) -> NoReturn:
        found = f"`{token.text}`" if token.text else "the end of the text"
        hint = ""
        if self._is_after_remainder():
            hint = "; % begins a comment: there is no remainder"
        elif self._is_unit(token):
            hint = "; units stand in windows, and time points are numbers: milliseconds with a tick"
        raise ProgramError(f"expected {wanted}, found {found}{hint}", self._at(token))

    def _is_unit(self, token: Token) -> bool:
        """Whether the token, at hand or just taken, is a unit of time behind a number."""
        place = self._next if token is self._peek() else self._next - 1
        return token.text in UNITS and place > 0 and self._tokens[place - 1].kind == "NUMBER"

    def _is_after_remainder(self) -> bool:
        """Whether the token at hand, or the one before it, follows `% 2`, meant as an operand."""
        for place in (self._next - 1, self._next):
            if 0 < place < len(self._tokens):
                before, token = self._tokens[place - 1 : place + 1]
                if _REMAINDER.match(self._text, before.end, token.start):
                    return True
        return False

    def _at(self, token: Token) -> Origin:
        return self._origin(token, token)

    def _origin(self, first: Token, last: Token) -> Origin:
        written = self._text[first.start : last.end]
        line = bisect_right(self._lines, first.start)
        column = first.start - self._lines[line - 1] + 1
        return Origin(self._source, line, column, written)
