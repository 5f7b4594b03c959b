"""The clauses about streams: a grammar over the tokens of SPARQL.

    registration  REGISTER kind name [(COMPUTE | COMPUTED) EVERY duration] AS
    kind          QUERY | STREAM | RSTREAM | ISTREAM | DSTREAM
    name          iri | word
    emission      (SELECT | CONSTRUCT) (RSTREAM | ISTREAM | DSTREAM)
    source        FROM [GRAPH] iri
                | FROM NAMED [GRAPH] iri
                | FROM STREAM iri window                         C-SPARQL: in the default graph
                | FROM NAMED STREAM iri window                   C-SPARQL: in a graph of its own
                | FROM NAMED WINDOW iri ON [STREAM] iri window   RSP-QL
                | FROM NAMED WINDOW ON [STREAM] iri window AS iri
    window        "[" RANGE duration ((STEP | SLIDE) duration | TUMBLING) "]"
                | "[" LANDMARK (STEP | SLIDE) duration "]"
                | "[" [RANGE] (TRIPLES | ELEMENTS | ITEMS | ITEM | ROWS) number
                      [(STEP | SLIDE) number] "]"
    use           WINDOW (iri | variable) "{"

A registration stands before or after the prologue, sources and emissions outside of all brackets,
uses in the body. `Clauses.read` gives all of them and the text in which they are blanks, with GRAPH
for WINDOW, so that every other character is where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from ebbtide.languages.rspql.query import CountWindow, Emits, QueryWindow, Registers, TimeWindow
from ebbtide.languages.sparql import Text, Token
from ebbtide.program import ProgramError
from ebbtide.program.wording import did_you_mean
from ebbtide.time import LATEST, DurationError, parse_duration

_EMITS: Final[dict[str, Emits]] = {
    "RSTREAM": "RStream",
    "ISTREAM": "IStream",
    "DSTREAM": "DStream",
}
Bounds: TypeAlias = Literal["(]", "[)"]

#: As many as a window may count.
MOST_FACTS: Final = 2**31
_STEP: Final = ("STEP", "SLIDE")
_COUNTED: Final = ("TRIPLES", "ELEMENTS", "ITEMS", "ITEM", "ROWS")
_SOURCES: Final = ("STREAM", "NAMED", "GRAPH", "WINDOW")
_KINDS: Final = ("QUERY", "STREAM", *_EMITS)


class Registration(NamedTuple):
    """What REGISTER says; `name` is one token, or a word made of several."""

    registers: Registers
    emits: Emits
    name: Token
    every: int | None


class Source(NamedTuple):
    """A FROM clause: a static graph, or a stream with its window. `name` makes it a named graph."""

    place: Token
    iri: Token
    name: Token | None
    window: QueryWindow | None


@dataclass
class Clauses:
    """The clauses of a text, and what is left of the text without them."""

    text: Text
    registration: Registration | None = None
    emits: Emits | None = None
    sources: list[Source] = field(default_factory=list)
    uses: list[Token] = field(default_factory=list)
    rest: str = ""
    _windows: list[Token] = field(default_factory=list)

    @classmethod
    def read(cls, text: Text) -> Clauses:
        """Find the clauses of a text."""
        clauses = cls(text)
        cursor = _Cursor(text)
        characters = list(text.text)
        for first, last in clauses._walk(cursor):
            for position in range(first.start, last.end):
                if not characters[position].isspace():
                    characters[position] = " "
        for token in clauses._windows:
            characters[token.start : token.end] = "GRAPH "
        clauses.rest = "".join(characters)
        return clauses

    def _walk(self, cursor: _Cursor) -> Iterator[tuple[Token, Token]]:
        """Read clause after clause; each one's first and last token."""
        depth = 0
        while (token := cursor.token) is not None:
            before = cursor.before
            if token.kind == "mark":
                depth += (token.text in "([{") - (token.text in ")]}")
            cursor.advance()
            if depth == 0 and token.keyword == "REGISTER":
                if self.registration is not None:
                    raise self.text.error("a text registers one query", token)
                self.registration = _registration(cursor)
                yield token, cursor.last
            elif depth == 0 and token.keyword == "FROM":
                self.sources.append(_source(cursor, token, self._every))
                yield token, cursor.last
            elif token.keyword in _EMITS and before in ("SELECT", "CONSTRUCT") and depth == 0:
                self.emits = _EMITS[token.keyword]
                yield token, token
            elif depth > 0 and token.keyword == "WINDOW" and cursor.is_graph:
                self.uses.append(cursor.here)
                self._windows.append(token)

    @property
    def _every(self) -> int | None:
        return None if self.registration is None else self.registration.every


class _Cursor:
    """A place among the tokens of a text, comments aside."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self._tokens = [token for token in text.tokens if token.kind != "comment"]
        self._position = 0

    @property
    def token(self) -> Token | None:
        """The token here; None at the end."""
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    @property
    def here(self) -> Token:
        """The token here; at the end, it is empty."""
        return self.token or Token("end", "", len(self.text.text.rstrip()))

    @property
    def before(self) -> str:
        """The keyword before the token here."""
        return self._tokens[self._position - 1].keyword if self._position else ""

    @property
    def last(self) -> Token:
        """The token that was passed last."""
        return self._tokens[self._position - 1]

    @property
    def is_graph(self) -> bool:
        """Whether a name of a graph and a group begin here."""
        kinds = [token.kind for token in self._tokens[self._position : self._position + 1]]
        opens = [token.text for token in self._tokens[self._position + 1 : self._position + 2]]
        return kinds in (["iri"], ["name"], ["variable"]) and opens == ["{"]

    def advance(self) -> Token:
        """Pass the token here."""
        token = self.here
        self._position += 1
        return token

    def take(self, *words: str) -> str:
        """Pass one of these words, if it is here; which one."""
        if self.here.keyword in words or self.here.text in words:
            return self.advance().text.upper()
        return ""

    def expect(self, *words: str) -> str:
        """Pass one of these words, which must be here."""
        return self.take(*words) or self.fail(_one_of(words), words)

    def iri(self, what: str) -> Token:
        """Pass an IRI."""
        if self.here.kind not in ("iri", "name"):
            self.fail(what)
        return self.advance()

    def joined(self) -> Token:
        """Pass tokens that stand together without space, as one."""
        first = self.advance()
        end = first.end
        while self.here.start == end and (
            self.here.kind in ("word", "number") or self.here.text in (".", "-")
        ):
            end = self.advance().end
        return Token(first.kind, self.text.text[first.start : end], first.start)

    def duration(self) -> int:
        """Pass a duration."""
        place = self.here
        if place.kind not in ("word", "number"):
            self.fail("a duration, like 10s or PT10S")
        try:
            if place.kind == "word":
                return parse_duration(self.joined().text)
            self.advance()
            if self.here.keyword in ("", *_STEP, "TUMBLING", "AS"):
                self.fail(f"the unit of {place.text} (ms, s, m, h or d)")
            return parse_duration(place.text + self.advance().text)
        except DurationError as error:
            raise self.text.error(str(error), place) from None

    def number(self) -> int:
        """Pass a whole number of facts."""
        if not self.here.text.isdecimal() or int(self.here.text) < 1:
            self.fail("a whole number of at least 1")
        if int(self.here.text) > MOST_FACTS:
            self.fail(f"a whole number of at most {MOST_FACTS}")
        return int(self.advance().text)

    def fail(self, expected: str, known: Sequence[str] = ()) -> str:
        """Refuse what is here; if it is near to a word that is known, say so."""
        found = repr(self.here.text[:40]) if self.here.text else "the end of the text"
        hint = did_you_mean(self.here.keyword, known)
        raise self.text.error(f"expected {expected}, but found {found}{hint}", self.here)


def _one_of(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _registration(cursor: _Cursor) -> Registration:
    kind = cursor.expect(*_KINDS)
    if cursor.here.kind in ("iri", "name"):
        name = cursor.advance()
    elif cursor.here.kind == "word" and cursor.here.keyword not in ("AS", "COMPUTE", "COMPUTED"):
        name = cursor.joined()
    else:
        name = cursor.iri("the name of the query")
    every = None
    if cursor.take("COMPUTE", "COMPUTED"):
        cursor.expect("EVERY")
        every = cursor.duration()
    if cursor.here.keyword == "UNDER":
        raise cursor.text.error(
            "a query does not choose its regime; give the rules when it is registered", cursor.here
        )
    cursor.expect("AS")
    registers: Registers = "query" if kind == "QUERY" else "stream"
    return Registration(registers, _EMITS.get(kind, "RStream"), name, every)


def _source(cursor: _Cursor, place: Token, every: int | None) -> Source:
    named = cursor.take("NAMED")
    if cursor.take("STREAM"):
        stream = cursor.iri("the IRI of a stream")
        return Source(place, stream, stream if named else None, _window(cursor, every, "(]"))
    if named and cursor.take("WINDOW"):
        name = None if cursor.here.keyword == "ON" else cursor.iri("the IRI of a window, or ON")
        cursor.expect("ON")
        cursor.take("STREAM")
        stream = cursor.iri("the IRI of a stream")
        window = _window(cursor, every, "[)")
        if name is None:
            cursor.expect("AS")
            name = cursor.iri("the IRI of a window")
        return Source(place, stream, name, window)
    cursor.take("GRAPH")
    if cursor.here.kind == "word":
        cursor.fail("the IRI of a graph, or STREAM, NAMED or GRAPH", _SOURCES)
    graph = cursor.iri("the IRI of a graph, or STREAM, NAMED or GRAPH")
    return Source(place, graph, graph if named else None, None)


def _window(cursor: _Cursor, every: int | None, bounds: Bounds) -> QueryWindow:
    if not cursor.take("["):
        cursor.fail("the window of the stream, like [RANGE 10s STEP 5s]")
    window = _extent(cursor, every, bounds)
    cursor.expect("]")
    return window


def _extent(cursor: _Cursor, every: int | None, bounds: Bounds) -> QueryWindow:
    if cursor.here.keyword == "FROM":
        raise _not_there(cursor, "a window that ends in the past")
    if cursor.take("LANDMARK"):
        cursor.expect(*_STEP)
        return TimeWindow(LATEST, cursor.duration(), bounds)
    has_range = cursor.take("RANGE")
    if cursor.take(*_COUNTED):
        size = cursor.number()
        return CountWindow(size, cursor.number() if cursor.take(*_STEP) else 1)
    if not has_range:
        cursor.expect("RANGE", "LANDMARK", "TRIPLES")
    length = cursor.duration()
    if cursor.take("TUMBLING"):
        step = length
    elif cursor.take(*_STEP):
        step = cursor.duration()
    elif every is not None:
        step = every
    else:
        cursor.expect("STEP", "TUMBLING")
    return TimeWindow(length, step, bounds)


def _not_there(cursor: _Cursor, what: str) -> ProgramError:
    return cursor.text.error(f"{what} is not supported", cursor.here)
