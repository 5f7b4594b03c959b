"""From a parse tree to a `Program`: what each name in the text means.

In: the tree of `syntax.parse`. Out: a checked program whose rules and atoms carry the place and the
text they were written as. Prefixes hold from their `@prefix` on; relations are known in the whole
text. A name before parentheses is a builtin if `BUILTINS` has it, and else a relation, which in a
body must be reserved, declared by `@relation` or concluded by some rule: a misspelt builtin must
not become a relation that is always empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from lark import Token

from ebbtide.languages.jena.forms import FORMS, Call
from ebbtide.languages.jena.syntax import Node, parse, place
from ebbtide.program import (
    BUILTINS,
    RESERVED,
    TRIPLE,
    Argument,
    Atom,
    BodyPart,
    Guard,
    Negation,
    Origin,
    Program,
    ProgramError,
    Rule,
    Variable,
)
from ebbtide.program.check import did_you_mean
from ebbtide.program.reserved import INCONSISTENCY
from ebbtide.terms import IRI, Literal, TermError, parse_term
from ebbtide.terms.term import RDF, XSD, XSD_STRING, unescape

WELL_KNOWN: Final = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
}
NO_VALUE: Final = "noValue"


def parse_rules(text: str, source: str = "<rules>") -> Program:
    """Read Jena-style rules.

    >>> program = parse_rules('''
    ...     @prefix ex: <http://example/> .
    ...     [transitive: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]
    ... ''')
    >>> [rule.name for rule in program.rules]
    ['transitive']
    >>> parse_rules("[(?x ex:isIn ?y) -> (?y ex:holds ?x)]")
    Traceback (most recent call last):
    ebbtide.program.origin.ProgramError: <rules>:1:6: the prefix ex: is not declared
    """
    return _Reader(text, source).program()


def load_rules(path: str | PathLike[str]) -> Program:
    """Read a file of Jena-style rules, in UTF-8."""
    source = fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ProgramError(f"cannot read the rules: {reason}", Origin(source, 1, 1)) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        raise ProgramError("the text is not UTF-8", place(before, len(before), source)) from None
    return parse_rules(text, source)


class _Reader:
    """One text on its way to a program."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._tree = parse(text, source)
        self._prefixes = dict(WELL_KNOWN)
        self._declared: dict[str, int] = {}
        self._concluded = {
            str(head.children[0])
            for heads in self._tree.find_data("heads")
            for head in _nodes(heads)
            if head.data == "call"
        }

    def program(self) -> Program:
        statements = _nodes(self._tree)
        for node in statements:
            if node.data == "relation":
                self._declare(node)
        rules: list[Rule] = []
        for node in statements:
            if node.data == "prefix":
                prefix, iri = _tokens(node)
                self._prefixes[prefix[:-1]] = self._iri(iri)
            elif node.data != "relation":
                rules.append(self._rule(node, number=len(rules) + 1))
        return Program(rules, self._declared)

    def _declare(self, node: Node) -> None:
        name, arity = _tokens(node)
        if name in BUILTINS or name in FORMS or name in (NO_VALUE, "not"):
            raise self._error(f"{name} is a builtin, so it cannot be a relation", name)
        if name in RESERVED:
            raise self._error(f"the relation {name} is reserved and needs no declaration", name)
        if name == TRIPLE and arity != "3":
            raise self._error(f"the relation {TRIPLE} has 3 arguments", name)
        if len(arity) > 3:
            raise self._error("a relation has at most 999 arguments", arity)
        if self._declared.setdefault(name, int(arity)) != int(arity):
            raise self._error(
                f"the relation {name} is declared with {self._declared[name]} arguments and "
                f"again with {arity}",
                name,
            )

    def _rule(self, node: Node, number: int) -> Rule:
        body, heads = _nodes(node)
        names = _tokens(node)
        name = _rule_name(names[0]) if names else f"rule{number}"
        # The body first: of two errors the one that stands first is told.
        reason = self._reason(name, _nodes(body))
        parts = tuple(part for child in _nodes(body) for part in self._parts(child, reason))
        if _tokens(heads):
            return Rule(name, (self._inconsistency(node, parts),), parts, self._origin(node))
        return Rule(name, tuple(map(self._head, _nodes(heads))), parts, self._origin(node))

    def _reason(self, name: str, body: Iterable[Node]) -> tuple[Argument, ...]:
        """What tells one application of a rule from any other: its name and what it matched."""
        matched = (
            self._atom(part)
            for part in body
            if part.data == "triple" or (part.data == "call" and self._is_relation(part))
        )
        variables = dict.fromkeys(variable for atom in matched for variable in atom.variables())
        return Literal(name), *variables

    def _inconsistency(self, node: Node, body: Iterable[BodyPart]) -> Atom:
        """What a rule concludes instead of `false`."""
        _, heads = _nodes(node)
        false = _tokens(heads)[0]
        if false != "false":
            raise self._error("a head is a pattern, an atom or false", false)
        if len(heads.children) > 1:
            raise self._error("a rule that concludes false concludes nothing else", false)
        names = _tokens(node)
        if not names:
            raise self._error(
                "a rule that concludes false needs a name, so that its inconsistencies can be told",
                false,
            )
        positives = (part for part in body if isinstance(part, Atom))
        variables = dict.fromkeys(variable for atom in positives for variable in atom.variables())
        origin = place(self._text, false.start_pos or 0, self._source)
        return Atom(INCONSISTENCY + _rule_name(names[0]), tuple(variables), origin)

    def _head(self, node: Node) -> Atom:
        if node.data == "call":
            name = _tokens(node)[0]
            if name in RESERVED:
                raise self._error(f"{name} follows from the data, so no rule concludes it", name)
            if not self._is_relation(node):
                raise self._error(f"{name} is a builtin, so a head cannot conclude it", name)
        return self._atom(node)

    def _is_relation(self, node: Node) -> bool:
        name = str(node.children[0])
        return name not in BUILTINS and name not in FORMS and name != NO_VALUE

    def _parts(self, node: Node, reason: tuple[Argument, ...]) -> Iterable[BodyPart]:
        if node.data == "negation":
            return [self._negation(node)]
        if node.data == "call":
            name = str(node.children[0])
            if name in FORMS:
                call = Call(name, self._arguments(node), reason, self._origin(node))
                return FORMS[name](call)
            if name in BUILTINS:
                return [Guard(name, self._arguments(node), self._origin(node))]
            if name == NO_VALUE:
                return [self._no_value(node)]
        return [self._known(self._atom(node))]

    def _negation(self, node: Node) -> Negation:
        (inner,) = _nodes(node)
        if inner.data == "call" and not self._is_relation(inner):
            name = _tokens(inner)[0]
            raise self._error(f"{name} is a builtin, and `not` takes a pattern or an atom", name)
        return Negation(self._known(self._atom(inner)))

    def _no_value(self, node: Node) -> Negation:
        """`noValue(s, p)` and `noValue(s, p, o)`: no such triple."""
        arguments = self._arguments(node, predicate=1)
        if len(arguments) == 2:
            # Local to the negation, and a name that a text cannot contain.
            arguments = (*arguments, Variable("*"))
        if len(arguments) != 3:
            raise self._error(
                f"{NO_VALUE} takes a subject, a predicate and perhaps an object, "
                f"not {len(arguments)} arguments",
                _tokens(node)[0],
            )
        return Negation(Atom(TRIPLE, arguments, self._origin(node)))

    def _known(self, atom: Atom) -> Atom:
        name = atom.relation
        if name == TRIPLE or name in {*RESERVED, *self._declared, *self._concluded}:
            return atom
        known = {*BUILTINS, *FORMS, NO_VALUE, *RESERVED, *self._declared, *self._concluded}
        hint = did_you_mean(name, sorted(known)) or (
            f"; a relation that no rule concludes is declared by @relation "
            f"{name}/{len(atom.arguments)} ."
        )
        raise ProgramError(f"unknown builtin or relation {name}{hint}", atom.origin)

    def _atom(self, node: Node) -> Atom:
        if node.data == "triple":
            return Atom(TRIPLE, self._arguments(node, predicate=1), self._origin(node))
        name = str(node.children[0])
        predicate = 1 if name == TRIPLE else None
        return Atom(name, self._arguments(node, predicate), self._origin(node))

    def _arguments(self, node: Node, predicate: int | None = None) -> tuple[Argument, ...]:
        children = node.children[1:] if node.data == "call" else node.children
        return tuple(
            IRI(RDF + "type")
            if index == predicate and isinstance(child, Token) and child.type == "A"
            else self._argument(child)
            for index, child in enumerate(children)
        )

    def _argument(self, child: Node | Token) -> Argument:
        if not isinstance(child, Token):
            return self._literal(child)
        match child.type:
            case "VARIABLE":
                return Variable(child[1:])
            case "IRI" | "PREFIXED":
                return IRI(self._iri(child))
            case "BOOLEAN":
                return Literal(str(child), XSD + "boolean")
            case "NUMBER":
                return Literal(str(child), XSD + _number_type(child))
            case "A":
                raise self._error("`a` stands for rdf:type only as the predicate", child)
        raise self._error("a rule cannot name a blank node; use a variable", child)

    def _literal(self, node: Node) -> Literal:
        string, *kind = _tokens(node)
        try:
            lexical = unescape(string[1:-1])
        except TermError as error:
            raise self._error(str(error), string) from None
        if not kind:
            return Literal(lexical)
        if kind[0].type == "LANGUAGE":
            return Literal(lexical, XSD_STRING, kind[0][1:])
        return Literal(lexical, self._iri(kind[0]))

    def _iri(self, token: Token) -> str:
        if token.type == "PREFIXED":
            prefix, _, local = token.partition(":")
            if prefix not in self._prefixes:
                hint = did_you_mean(prefix, self._prefixes)
                raise self._error(f"the prefix {prefix}: is not declared{hint}", token)
            return self._prefixes[prefix] + local
        try:
            return parse_term(token).text[1:-1]
        except TermError as error:
            raise self._error(str(error), token) from None

    def _origin(self, node: Node) -> Origin:
        meta = node.meta
        text = self._text[meta.start_pos : meta.end_pos]
        return Origin(self._source, meta.line, meta.column, text)

    def _error(self, message: str, token: Token) -> ProgramError:
        return ProgramError(message, place(self._text, token.start_pos or 0, self._source))


def _nodes(node: Node) -> list[Node]:
    return [child for child in node.children if not isinstance(child, Token | None)]


def _tokens(node: Node) -> list[Token]:
    return [child for child in node.children if isinstance(child, Token)]


def _rule_name(token: Token) -> str:
    return token[:-1].rstrip()


def _number_type(text: str) -> str:
    if "e" in text.lower():
        return "double"
    return "decimal" if "." in text else "integer"
