"""From LARS text to tokens.

Comments run from % or // to the end of the line, or from /* or %* to */ or *%. Invariant: whatever
the text, the outcome is a list of tokens that ends with END, or a `ProgramError` with line and
column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ebbtide.program import Origin, ProgramError
from ebbtide.terms.term import BLANK_PATTERN, IRI_PATTERN, LANGUAGE_PATTERN, STRING_PATTERN

MAX_TEXT: Final = 16 * 2**20

_KINDS: Final = (
    ("SPACE", r"[ \t\r\n\f]+"),
    ("COMMENT", r"%\*.*?\*%|/\*.*?\*/|%[^\n]*|//[^\n]*"),
    ("DIRECTIVE", r"@prefix\b"),
    ("ARROW", r":-|<-|←"),
    ("IRI", IRI_PATTERN),
    ("BLANK", BLANK_PATTERN),
    ("STRING", STRING_PATTERN),
    ("QUOTED", r"'(?:[^'\n]|'')*'"),
    ("NUMBER", r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"),
    ("PREFIXED", r"(?:[a-z][A-Za-z0-9_\-]*)?:[A-Za-z0-9_][A-Za-z0-9_\-]*"),
    ("PREFIX", r"[a-z][A-Za-z0-9_\-]*:(?!-)|:(?=[ \t]*<)"),
    ("VARIABLE", r"_[A-Za-z0-9_]*|[A-Z][A-Za-z0-9_]*"),
    ("NAME", r"[a-z][A-Za-z0-9_]*"),
    ("COMPARISON", r"!=|<>|<=|>=|==|≤|≥|≠|=|<|>"),
    ("DATATYPE", r"\^\^"),
    ("SIGN", r"[().,\[\]{}@#+\-*/:;]"),
)
_TOKEN: Final = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS), re.DOTALL
)
_COMPARISON: Final = re.compile(r"<-|<=|<>|<")
_COLON: Final = re.compile(":")
#: After a string; elsewhere @ says a time point, and - subtracts.
_LANGUAGE: Final = re.compile(f"(?P<LANGUAGE>{LANGUAGE_PATTERN})")
#: After one of these, < compares; elsewhere it opens an IRI.
_OPERANDS: Final = frozenset(
    {"VARIABLE", "NUMBER", "NAME", "STRING", "LANGUAGE", "PREFIXED", "IRI", "QUOTED"}
)
#: Words that stand before atoms and predicates, whose IRIs they do not compare.
_WORDS: Final = frozenset({"not", "always", "box", "some", "diamond", "and", "of"})
_HINTS: Final = {
    '"': "this string is not closed on its line",
    "'": "this name is not closed on its line",
    "<": "this IRI is not closed, or it contains a character that an IRI cannot have",
    "?": "a variable begins with a capital letter or an underscore",
    "|": "there is no disjunction, but there may be several rules",
    "&": "a comma joins the parts of a body",
    "!": "`not` denies an atom, and != says that two terms differ; there is no cut",
    "^": "there is no power; X * X is a square",
    "~": "`not` denies an atom",
    **dict.fromkeys("⊞◇◊□", "write p(X) in [3], always p(X) in [3], @T p(X) in [3]"),
    "\\": "`not` denies an atom, and != says that two terms differ",
}
#: A string that is closed: then it is its escapes that are wrong.
_CLOSED: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ESCAPES: Final = (
    "a backslash in a string begins one of \\t \\n \\r \\b \\f \\\" \\' \\\\ \\uXXXX \\UXXXXXXXX; "
    "a backslash itself is \\\\"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: its kind, and where it begins and ends."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str, source: str) -> list[Token]:
    """The tokens of a text, comments and spaces left out."""
    if len(text) > MAX_TEXT:
        raise ProgramError(f"the text is longer than {MAX_TEXT} characters", Origin(source, 1, 1))
    found: list[Token] = []
    points = _Points()
    position = 0
    while position < len(text):
        match = _LANGUAGE.match(text, position) if found and found[-1].kind == "STRING" else None
        match = match or _TOKEN.match(text, position)
        if match is None:
            character = text[position]
            hint = _HINTS.get(character, f"unexpected character {character!r}")
            if character == '"' and _CLOSED.match(text, position):
                hint = _ESCAPES
            if character.isalpha():
                hint += ": names with other letters than a to z stand in quotes, as 'été'"
            raise ProgramError(hint, _place(text, position, source))
        kind = match.lastgroup or ""
        if kind == "SIGN" and text.startswith("/*", position):
            raise ProgramError("this comment is not closed", _place(text, position, source))
        if kind == "PREFIXED" and match[0][0] == ":" and _ends_values(found):
            match = _COLON.match(text, position)
            assert match is not None, "a name without a prefix begins with a colon"
            kind = "SIGN"
        if kind == "IRI" and found and not points.ends and _may_be_compared(found[-1]):
            match = _COMPARISON.match(text, position)
            assert match is not None, "an IRI begins with <"
            kind = "ARROW" if match[0] == "<-" else "COMPARISON"
        if kind not in ("SPACE", "COMMENT"):
            found.append(Token(kind, match[0], position, match.end()))
            points.see(match[0])
        position = match.end()
    found.append(Token("END", "", position, position))
    return found


def _ends_values(found: list[Token]) -> bool:
    """Whether a colon ends the values of an aggregate, { X :p(X) }, unlike that of @T :p(X)."""
    before = [token.text for token in found[-2:-1]]
    return bool(found) and found[-1].kind == "VARIABLE" and before in (["{"], [","])


def _may_be_compared(token: Token) -> bool:
    """Whether a token may end what is compared."""
    if token.kind == "NAME" and token.text in _WORDS:
        return False
    return token.kind in _OPERANDS or token.text == ")"


class _Points:
    """Where time points end: at the T of @T, the 1 of @-1, the bracket of @(T + 1).

    An atom follows, never a comparison. The brackets of @(T, p) have a comma: they are around both.
    """

    def __init__(self) -> None:
        #: Whether the last token ends a time point.
        self.ends = False
        self._begins = False
        #: For each bracket that is open, whether it may be around a time point.
        self._opened: list[bool] = []

    def see(self, text: str) -> None:
        """Take the text of the next token."""
        begun, self._begins = self._begins, text == "@" or (self._begins and text == "-")
        self.ends = begun and text not in ("(", "-")
        if text == "(":
            self._opened.append(begun)
        elif text == "," and self._opened:
            self._opened[-1] = False
        elif text == ")" and self._opened:
            self.ends = self._opened.pop()


def _place(text: str, position: int, source: str) -> Origin:
    """The line and column of a position."""
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return Origin(source, line, column)
