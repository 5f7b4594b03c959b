"""The tokens of a SPARQL text, each with its place.

The kernel's parser says what a text means, but not where anything of it stands. Tokens do: they
find operations, keywords and names, with strings, IRIs and comments respected.

    word        SELECT, not, COUNT, a, true          name        ex:room, ex:, :, _:b is a blank
    iri         <http://example/>                    variable    ?x, $x
    string      "x", 'x', and both in threes         number      5, 2.5, 1e3
    comment     # to the end of the line             language    @en
    mark        any other one or two characters

Invariant: tokens and the white space between them are the whole text. Brackets do not nest deeper
than `MAX_NESTING`, because parsers descend by recursion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from ebbtide.program import Origin, ProgramError

MAX_TEXT: Final = 16 * 2**20
MAX_NESTING: Final = 100

_NAME_START: Final = r"[^\W\d_]"
_LOCAL: Final = r"(?:[\w:]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%])"
_TOKEN: Final = re.compile(
    rf"""
    (?P<comment>\#[^\n\r]*)
  | (?P<iri><(?:[^\x00-\x20<>"{{}}|^`\\]|\\[uU][0-9A-Fa-f]+)*>)
  | (?P<string>
        \"\"\"(?:\"{{0,2}}(?:[^"\\]|\\.))*\"\"\"
      | '''(?:'{{0,2}}(?:[^'\\]|\\.))*'''
      | "(?:[^"\\\n\r]|\\.)*"
      | '(?:[^'\\\n\r]|\\.)*'
    )
  | (?P<variable>[?$]\w+)
  | (?P<blank>_:\w(?:[\w.-]*[\w-])?)
  | (?P<name>(?:{_NAME_START}(?:[\w.-]*[\w-])?)?:(?:{_LOCAL}(?:(?:{_LOCAL}|[.-])*(?:{_LOCAL}|-))?)?)
  | (?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<word>[A-Za-z]\w*)
  | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<space>\s+)
  | (?P<mark>\^\^|&&|\|\||!=|<=|>=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")


class Token(NamedTuple):
    """A piece of a text: its kind, the piece itself, and where it begins."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)

    @property
    def keyword(self) -> str:
        """A word in capitals; nothing for other tokens."""
        return self.text.upper() if self.kind == "word" else ""


@dataclass(frozen=True)
class Text:
    """A text, where it comes from, and its tokens, comments included.

    >>> text = Text.read("SELECT * { ?s ex:p <a#b> } # all", "q.rq")
    >>> [token.text for token in text.tokens]
    ['SELECT', '*', '{', '?s', 'ex:p', '<a#b>', '}', '# all']
    >>> str(text.origin(text.tokens[3]))
    'q.rq:1:12'
    """

    source: str
    text: str
    tokens: tuple[Token, ...]

    @classmethod
    def read(cls, text: str, source: str) -> Text:
        """Cut a text into tokens."""
        read = cls(source, text, tuple(_tokens(text)))
        if len(text) > MAX_TEXT:
            raise read.error(f"the text is longer than {MAX_TEXT} characters", 0)
        if control := _CONTROL.search(text):
            character = repr(control[0])
            raise read.error(
                f"the text contains the control character {character}", control.start()
            )
        depth = 0
        for token in read.tokens:
            if token.kind == "mark":
                depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if depth > MAX_NESTING:
                raise read.error(f"brackets are nested deeper than {MAX_NESTING}", token)
        return read

    def origin(self, first: Token | int, last: Token | None = None) -> Origin:
        """The place of a token or a position, with the text up to the end of `last`."""
        start = first.start if isinstance(first, Token) else first
        return Origin.at(self.source, self.text, start, last and last.end)

    def error(self, message: str, place: Token | int) -> ProgramError:
        """An error at a token or a position."""
        return ProgramError(message, self.origin(place))


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        if match.lastgroup and match.lastgroup != "space":
            yield Token(match.lastgroup, match[0], match.start())
