"""Atoms and terms of LARS texts: constants, numbers, strings, IRIs, variables and arithmetic.

Arithmetic within a term becomes a guard in `_extra` and a variable in its place.
"""

from __future__ import annotations

from typing import Final

from ebbtide.languages.lars.cursor import Cursor
from ebbtide.languages.lars.formula import BodyPart
from ebbtide.languages.lars.printing import BOOLEANS, RDF_TYPE, show_argument, unquoted
from ebbtide.languages.lars.tokens import Token
from ebbtide.program import TRIPLE, Argument, Atom, Fact, Guard, ProgramError, Variable
from ebbtide.program.operator import FUNCTIONS
from ebbtide.program.wording import did_you_mean
from ebbtide.terms import IRI, BlankNode, Literal, TermError, parse_term, to_python, to_term
from ebbtide.terms.term import RDF, XSD, XSD_STRING

WELL_KNOWN: Final = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
}
ARITHMETIC: Final = {"+": "sum", "-": "difference", "*": "product", "/": "quotient"}

SMALL_LETTERS: Final = "predicates begin with a small letter, variables do not"


class TermReader(Cursor):
    """Reads atoms and terms, with the prefixes met so far."""

    def __init__(self, text: str, source: str, prefixes: dict[str, str] | None = None) -> None:
        super().__init__(text, source)
        self._prefixes = dict(WELL_KNOWN if prefixes is None else prefixes)
        self._extra: list[BodyPart] = []

    def _atom(self) -> Atom:
        first = self._take()
        arguments: list[Argument] = []
        if first.kind == "VARIABLE":
            self._fail(f"an atom ({SMALL_LETTERS})", first)
        if first.kind not in ("NAME", "QUOTED", "IRI", "PREFIXED"):
            self._fail("an atom", first)
        if first.kind == "NAME" and first.text == "not":
            self._fail("an atom: `not` stands in front of it and of what is around it", first)
        last = first
        if self._peek().text == "(":
            self._take()
            if self._peek().text != ")":
                arguments.append(self._expression())
                while self._peek().text == ",":
                    self._take()
                    arguments.append(self._expression())
            last = self._expect(")")
        origin = self._origin(first, last)
        match first.kind:
            case "NAME":
                return Atom(first.text, tuple(arguments), origin)
            case "QUOTED" if ":" not in first.text:
                return Atom(unquoted(first.text), tuple(arguments), origin)
        predicate = self._iri(first)
        if len(arguments) == 2:
            return Atom(TRIPLE, (arguments[0], predicate, arguments[1]), origin)
        if len(arguments) == 1:
            return Atom(TRIPLE, (arguments[0], RDF_TYPE, predicate), origin)
        raise ProgramError(
            f"{first.text} is an IRI, so it takes a subject and an object, or one member of a "
            f"class: not {len(arguments)} arguments",
            origin,
        )

    def _time(self) -> Argument:
        token = self._peek()
        is_number = token.kind == "NUMBER" and token.text.isdigit()
        if is_number or token.kind == "VARIABLE" or token.text in ("(", "-"):
            at = as_point(self._operand())
            if self._peek().text in ARITHMETIC:
                self._fail("an atom: arithmetic needs brackets, as in @(T + 1)", self._peek())
            return at
        self._fail("a time point: a variable or a number", token)

    def _expression(self) -> Argument:
        left = self._product()
        while self._peek().text in ("+", "-"):
            left = self._applied(self._take(), left, self._product())
        return left

    def _product(self) -> Argument:
        left = self._operand()
        while self._peek().text in ("*", "/"):
            left = self._applied(self._take(), left, self._operand())
        return left

    def _applied(self, sign: Token, left: Argument, right: Argument) -> Variable:
        result = self._fresh_variable()
        guard = Guard(ARITHMETIC[sign.text], (left, right, result), self._at(sign))
        self._extra.append(guard)
        return result

    def _operand(self) -> Argument:
        token = self._take()
        match token.kind:
            case "VARIABLE":
                return self._fresh_variable() if token.text == "_" else Variable(token.text)
            case "NUMBER":
                return _number(token.text)
            case "STRING":
                return self._string(token)
            case "NAME":
                if self._peek().text == "(":
                    hint = ", and braces in count { X : p(X) }" if token.text in FUNCTIONS else ""
                    self._fail(f"a term: there are no functions{hint}", token)
                if token.text in BOOLEANS:
                    return Literal(token.text, XSD + "boolean")
                return IRI(token.text)
            case "BLANK":
                return BlankNode(token.text[2:])
            case "QUOTED" | "IRI" | "PREFIXED":
                return self._iri(token)
        if token.text == "-":
            if self._peek().kind == "NUMBER":
                return _number("-" + self._take().text)
            self._deeper(token)
            negated = self._operand()
            self._depth -= 1
            return self._applied(token, _number("0"), negated)
        if token.text == "(":
            self._deeper(token)
            inner = self._expression()
            self._depth -= 1
            self._expect(")")
            return inner
        self._fail("a term", token)

    def _string(self, token: Token) -> Literal:
        term = self._parsed(token)
        assert isinstance(term, Literal)
        if self._peek().kind == "DATATYPE":
            self._take()
            return Literal(term.lexical, self._iri(self._take()).value)
        if self._peek().kind == "LANGUAGE":
            return Literal(term.lexical, XSD_STRING, self._take().text[1:])
        return term

    def _iri(self, token: Token) -> IRI:
        if token.kind == "QUOTED":
            return IRI(self._parsed(token, f"<{unquoted(token.text)}>").text[1:-1])
        if token.kind == "IRI":
            return IRI(self._parsed(token).text[1:-1])
        if token.kind != "PREFIXED":
            self._fail("an IRI", token)
        prefix, _, local = token.text.partition(":")
        if prefix not in self._prefixes:
            hint = did_you_mean(prefix, self._prefixes)
            raise ProgramError(f"the prefix {prefix}: is not declared{hint}", self._at(token))
        return IRI(self._prefixes[prefix] + local)

    def _parsed(self, token: Token, text: str | None = None) -> IRI | BlankNode | Literal:
        try:
            return parse_term(text or token.text)
        except TermError as error:
            raise ProgramError(str(error), self._at(token)) from None

    def _ground(self, atom: Atom, hint: str) -> Fact:
        terms = []
        for argument in atom.arguments:
            if isinstance(argument, Variable):
                name = show_argument(argument)
                raise ProgramError(
                    f"{name} is a variable, and a fact has none; {hint}", atom.origin
                )
            terms.append(argument)
        return Fact(atom.relation, tuple(terms))


def as_point(at: Argument) -> Argument:
    """A time point as engines write it: @01 is @1."""
    value = to_python(at) if isinstance(at, Literal) else None
    return to_term(value) if type(value) is int else at


def _number(text: str) -> Literal:
    if "e" in text.lower():
        return Literal(text, XSD + "double")
    return Literal(text, XSD + ("decimal" if "." in text else "integer"))
