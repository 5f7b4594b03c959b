"""A short notation for terms, facts and programs, the one this package prints.

    A                       the IRI http://example/A
    <http://e/a>  _:b       any IRI, a blank node
    7  2.5  1e3             xsd:integer, xsd:decimal, xsd:double
    "hei"  "hei"@fi         strings; "..."^^<datatype> for any other literal
    isIn(A, B)  rain        facts of any arity
    isIn(A, B)[11]          a fact that holds until 11, or until [forever]
    R: isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).
    d(?x) :- p(?x, ?n), not q(?x, ?any), lessThan(?n, 3).

A rule is known by its name, or else by its place: `rule1`, `rule2`, ... In a body the name of a
builtin makes a guard. The relations of events can be named: `list:malformed`, `inconsistency:r`.
Comments run from # to the end of the line. What cannot be read is a
`ProgramError` with the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ebbtide.program import (
    Argument,
    Atom,
    BodyPart,
    Fact,
    Guard,
    Negation,
    Origin,
    Program,
    ProgramError,
    Rule,
    Variable,
    find_builtin,
)
from ebbtide.terms import IRI, Literal, Term, parse_term
from ebbtide.terms.term import XSD
from ebbtide.time import FOREVER, Instant

EXAMPLE: Final = "http://example/"

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<variable>\?\w+)
      | (?P<term><[^<>\s]*> | _:\w+
          | "(?:[^"\\\n]|\\.)*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^<[^<>\s]*>)?)
      | (?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<name>(?:list|inconsistency):[\w.-]+ | [A-Za-z_]\w*)
      | (?P<mark>:-|\.\.|.)""",
    re.VERBOSE,
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_END: Final = "the end"


class Token(NamedTuple):
    """A word of the notation and where it stands."""

    kind: str
    text: str
    origin: Origin


class Reader:
    """Reads a text of the notation from left to right."""

    def __init__(self, text: str, source: str = "<text>", first_line: int = 1) -> None:
        self._tokens = list(_tokens(text, source, first_line))
        self._next = 0

    @property
    def here(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    def at_end(self) -> bool:
        """Whether everything was read."""
        return self.here.kind == "end"

    def take(self) -> Token:
        """The next token, which is then behind."""
        token = self.here
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def accept(self, text: str) -> bool:
        """Go past this text if it comes next."""
        if self.here.kind in ("mark", "name", "number") and self.here.text == text:
            self.take()
            return True
        return False

    def expect(self, text: str) -> None:
        """Go past this text, which must come next."""
        if not self.accept(text):
            raise self.error(f"expected {text!r}")

    def error(self, message: str) -> ProgramError:
        """The error at the next token."""
        found = self.here.text or _END
        return ProgramError(f"{message}, found {found!r}", self.here.origin)

    def name(self) -> str:
        """A name."""
        if self.here.kind != "name":
            raise self.error("expected a name")
        return self.take().text

    def integer(self) -> int:
        """A whole number."""
        if self.here.kind != "number" or not re.fullmatch(r"[+-]?\d+", self.here.text):
            raise self.error("expected a whole number")
        return int(self.take().text)

    def until(self) -> Instant:
        """A whole number or `forever`."""
        return FOREVER if self.accept("forever") else self.integer()

    def argument(self) -> Argument:
        """A term or a variable."""
        token = self.take()
        match token.kind:
            case "variable":
                return Variable(token.text[1:])
            case "term":
                return parse_term(token.text)
            case "name":
                return IRI(EXAMPLE + token.text)
            case "number":
                return Literal(token.text, XSD + _datatype(token.text))
        self._next -= token.kind != "end"
        raise self.error("expected a term or a variable")

    def atom(self) -> Atom:
        """A relation with its arguments."""
        origin = self.here.origin
        relation = self.name()
        arguments: list[Argument] = []
        if self.accept("(") and not self.accept(")"):
            arguments.append(self.argument())
            while self.accept(","):
                arguments.append(self.argument())
            self.expect(")")
        return Atom(relation, tuple(arguments), origin)

    def fact(self) -> Fact:
        """An atom without variables."""
        atom = self.atom()
        for variable in atom.variables():
            raise ProgramError(f"a fact has no variables, but here is {variable}", atom.origin)
        return Fact(atom.relation, tuple(a for a in atom.arguments if not isinstance(a, Variable)))

    def body_part(self) -> BodyPart:
        """An atom, a negation or a guard."""
        if self.accept("not"):
            return Negation(self.atom())
        atom = self.atom()
        if find_builtin(atom.relation):
            return Guard(atom.relation, atom.arguments, atom.origin)
        return atom

    def rule(self, default_name: str) -> Rule:
        """`name: heads :- body.`"""
        origin = self.here.origin
        name, first = default_name, self.atom()
        if not first.arguments and self.accept(":"):
            name, first = first.relation, self.atom()
        heads, body = [first], []
        while self.accept(","):
            heads.append(self.atom())
        if self.accept(":-") and self.here.text != ".":
            body.append(self.body_part())
            while self.accept(","):
                body.append(self.body_part())
        self.expect(".")
        return Rule(name, tuple(heads), tuple(body), origin)


def program(text: str, source: str = "<text>", first_line: int = 1) -> Program:
    """Read a program.

    >>> print(program("R: isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z)."))
    isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).
    """
    reader = Reader(text, source, first_line)
    rules: list[Rule] = []
    while not reader.at_end():
        rules.append(reader.rule(f"rule{len(rules) + 1}"))
    return Program(rules)


def fact(text: str) -> Fact:
    """Read a fact.

    >>> print(fact("speed(A, 7)"))
    speed(<http://example/A>, "7"^^<http://www.w3.org/2001/XMLSchema#integer>)
    """
    reader = Reader(text)
    found = reader.fact()
    if not reader.at_end():
        raise reader.error("expected nothing more")
    return found


def facts(text: str) -> dict[Fact, Instant]:
    """Read facts with their `until`.

    >>> [show(fact) for fact in facts("isIn(A, B)[11]  isIn(B, C)[forever]")]
    ['isIn(A, B)', 'isIn(B, C)']
    """
    reader = Reader(text)
    found: dict[Fact, Instant] = {}
    while not reader.at_end():
        key = reader.fact()
        reader.expect("[")
        found[key] = reader.until()
        reader.expect("]")
    return found


def show(fact: Fact) -> str:
    """A fact in the notation."""
    return f"{fact.relation}({', '.join(map(_show_term, fact.terms))})"


def _show_term(term: Term) -> str:
    match term:
        case IRI() if term.value.startswith(EXAMPLE):
            short = term.value.removeprefix(EXAMPLE)
            return short if _NAME.fullmatch(short) else term.text
        case Literal():
            number = re.fullmatch(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", term.lexical)
            if number and term.datatype == XSD + _datatype(term.lexical):
                return term.lexical
    return term.text


def _datatype(number: str) -> str:
    if "e" in number or "E" in number:
        return "double"
    return "decimal" if "." in number else "integer"


def _tokens(text: str, source: str, first_line: int) -> Iterator[Token]:
    line, line_start = first_line, 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "mark"
        if kind != "space":
            yield Token(kind, match[0], Origin(source, line, match.start() - line_start + 1))
        if newlines := match[0].count("\n"):
            line += newlines
            line_start = match.start() + match[0].rindex("\n") + 1
    yield Token("end", "", Origin(source, line, len(text) - line_start + 1))
