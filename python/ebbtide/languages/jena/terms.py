"""From tokens to the arguments of atoms: terms, variables and functors.

Prefixes hold from their `@prefix` on. A blank node `_:b` is the one with that label, in every rule
that names it. A functor `all(?p, ?d)` is a structured term, and only the object of a pattern can be
one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lark import Token

from ebbtide.languages.jena.syntax import Node, place
from ebbtide.program import Argument, Origin, ProgramError, Variable
from ebbtide.program.wording import did_you_mean
from ebbtide.terms import IRI, BlankNode, Literal, Term, TermError, absolute, parse_term
from ebbtide.terms.term import RDF, XSD, XSD_STRING, unescape

WELL_KNOWN: Final = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
}

#: A name that begins with one of these is an IRI as it stands, unless it is a prefix, too.
_SCHEMES: Final = ("urn", "mailto", "http", "https", "file", "ftp")


@dataclass(frozen=True, slots=True)
class Functor:
    """A name applied to arguments, as a term."""

    name: str
    arguments: tuple[Argument, ...]
    origin: Origin


class Terms:
    """The terms of one text, with the prefixes met so far."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._prefixes = dict(WELL_KNOWN)

    def declare(self, prefix: Token, iri: Token) -> None:
        """From here on the prefix stands for the IRI."""
        self._prefixes[prefix[:-1]] = self.iri(iri)

    def pattern(self, node: Node) -> tuple[Argument | Functor, ...]:
        """The subject, the predicate and the object of a pattern."""
        subject, predicate, object_ = node.children
        if isinstance(object_, Token) or object_.data != "functor":
            return self.arguments(node, predicate=1)
        return self._plain(subject), self._predicate(predicate), self._functor(object_)

    def arguments(self, node: Node, predicate: int | None = None) -> tuple[Argument, ...]:
        """The arguments of a pattern or a call; `a` is rdf:type at the place of the predicate."""
        children = node.children if node.data == "triple" else node.children[1:]
        return tuple(
            self._predicate(child) if index == predicate else self._plain(child)
            for index, child in enumerate(children)
        )

    def iri(self, token: Token) -> str:
        """The IRI that a token stands for; it is absolute, since rules have no base."""
        if token.type != "PREFIXED":
            return self._absolute(token if token.type == "IRI" else f"<{token}>", token)
        prefix, _, local = token.partition(":")
        if prefix in self._prefixes:
            return self._prefixes[prefix] + local
        if prefix in _SCHEMES and local:
            return self._absolute(f"<{token}>", token)
        hint = did_you_mean(prefix, self._prefixes)
        raise self.error(f"the prefix {prefix}: is not declared{hint}", token)

    def origin(self, node: Node) -> Origin:
        """Where a node stands, and its text."""
        meta = node.meta
        text = self._text[meta.start_pos : meta.end_pos]
        return Origin(self._source, meta.line, meta.column, text)

    def place(self, token: Token) -> Origin:
        """Where a token stands."""
        return place(self._text, token.start_pos or 0, self._source)

    def error(self, message: str, token: Token) -> ProgramError:
        """What is wrong at a token."""
        return ProgramError(message, self.place(token))

    def file(self, token: Token) -> str:
        """What a token in angle brackets says, which need not be a term."""
        return self._written(parse_term, token, token)

    def _absolute(self, text: str, token: Token) -> str:
        return self._written(lambda text: absolute(parse_term(text)), text, token)

    def _written(self, read: Callable[[str], Term], text: str, token: Token) -> str:
        try:
            return read(text).text[1:-1]
        except TermError as error:
            raise self.error(str(error), token) from None

    def _predicate(self, child: Node | Token) -> Argument:
        is_a = isinstance(child, Token) and child.type == "A"
        return IRI(RDF + "type") if is_a else self._plain(child)

    def _plain(self, child: Node | Token) -> Argument:
        if not isinstance(child, Token):
            if child.data == "literal":
                return self._literal(child)
            raise self.error(
                f"only the object of a pattern can be a functor like {child.children[0]}, and not "
                "of a negated one",
                next(child.scan_values(lambda value: isinstance(value, Token))),
            )
        match child.type:
            case "VARIABLE":
                return Variable(child[1:])
            case "BLANK":
                return BlankNode(child[2:])
            case "BOOLEAN":
                return Literal(str(child), XSD + "boolean")
            case "NUMBER":
                return Literal(str(child), XSD + _number_type(child))
            case "A":
                raise self.error("`a` stands for rdf:type only as the predicate", child)
        return IRI(self.iri(child))

    def _functor(self, node: Node) -> Functor:
        return Functor(str(node.children[0]), self.arguments(node), self.origin(node))

    def _literal(self, node: Node) -> Literal:
        string, *kind = (child for child in node.children if isinstance(child, Token))
        try:
            lexical = unescape(string[1:-1])
        except TermError as error:
            raise self.error(str(error), string) from None
        if not kind:
            return Literal(lexical)
        if kind[0].type == "LANGUAGE":
            return Literal(lexical, XSD_STRING, kind[0][1:])
        return Literal(lexical, self.iri(kind[0]))


def _number_type(text: str) -> str:
    if "e" in text.lower():
        return "double"
    return "decimal" if "." in text else "integer"
