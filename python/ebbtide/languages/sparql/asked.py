"""What a query can see: the triple patterns that its answers depend on.

In: SPARQL's algebra as `_kernel.pyi` describes it, EXISTS and subqueries included. Out: atoms, each
once; constants and repeated variables of a pattern are kept.

Invariant: a query answers the same on any two sets of triples that agree on these patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ebbtide.languages.sparql.parse import Algebra, Declarations, parse_query
from ebbtide.languages.sparql.tokens import Text
from ebbtide.program import TRIPLE, Argument, Atom, Variable
from ebbtide.terms import IRI, parse_term

_SUBJECT, _PREDICATE, _OBJECT = (Variable(name) for name in "spo")
_ANYTHING = Atom(TRIPLE, (_SUBJECT, _PREDICATE, _OBJECT))


def asked_by(text: str, source: str) -> list[Atom]:
    """The patterns that the query of a text asks for; `ProgramError` if it is none."""
    read = Text.read(text, source)
    declarations = Declarations()
    tokens = [token for token in read.tokens if token.kind != "comment"]
    read = replace(read, tokens=tuple(tokens))
    position = declarations.take(read, 0)
    return asked(parse_query(read, read.tokens[position:], declarations))


def asked(query: Algebra) -> list[Atom]:
    """The patterns of the triples that a query asks for.

    >>> from ebbtide._kernel import sparql_query
    >>> for atom in asked(sparql_query(
    ...     "PREFIX e: <http://e/> ASK { ?x (e:isIn|e:near)+ ?y FILTER NOT EXISTS { ?y a ?c } }")):
    ...     print(atom)
    triple(?s, <http://e/isIn>, ?o)
    triple(?s, <http://e/near>, ?o)
    triple(?y, <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>, ?c)
    """
    if query[0] == "describe":
        return [_ANYTHING]
    return list(dict.fromkeys(_patterns(query[2])))


def _patterns(node: Any) -> Iterator[Atom]:
    """The patterns of a node of any kind: what is no pattern itself may hold some."""
    match node:
        case ("bgp", triples):
            yield from (_atom(triple) for triple in triples)
        case ("path", _, path, _):
            yield from _steps(path)
        case ("values", *_) | ("service", *_):
            return
        case tuple() | list():
            for part in node:
                yield from _patterns(part)


def _steps(path: Any) -> Iterator[Atom]:
    match path:
        case str():
            yield Atom(TRIPLE, (_SUBJECT, IRI(path.strip("<>")), _OBJECT))
        case ("*" | "?", _) | ("!", *_):
            # Zero steps lead from everything there is to itself.
            yield _ANYTHING
        case (_, *parts):
            for part in parts:
                yield from _steps(part)


def _atom(triple: tuple[str, str, str]) -> Atom:
    return Atom(TRIPLE, tuple(map(_argument, triple)))


def _argument(text: str) -> Argument:
    # In a query a blank node is a variable.
    if text.startswith(("?", "_:")):
        return Variable(text.lstrip("?"))
    return parse_term(text)
