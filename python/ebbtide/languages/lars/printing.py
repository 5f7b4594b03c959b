"""LARS atoms as text, as they are read back: `q(x2,y,7)`.

A constant `x2` is the IRI <x2>, a number a literal of its kind, a string a plain literal. Whatever
has no shorter form is written as in N-Triples. A triple with a predicate that has a prefix is
written as an atom of that predicate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ebbtide.languages.lars.expressions import NOTHING_MADE, Expression
from ebbtide.languages.lars.names import is_plain
from ebbtide.program import TRIPLE, Argument, Atom, Fact, Variable
from ebbtide.terms import IRI, Literal, Term
from ebbtide.terms.term import RDF, XSD

_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_]*")
#: As constants, these names are not IRIs.
BOOLEANS: Final = frozenset({"true", "false"})
#: Nor is this one everywhere.
_NOT: Final = "not"
_LOCAL: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_\-]*")
_NUMBERS: Final = {
    XSD + "integer": re.compile(r"-?[0-9]+"),
    XSD + "decimal": re.compile(r"-?[0-9]+\.[0-9]+"),
    XSD + "double": re.compile(r"-?[0-9]+(?:\.[0-9]+)?[eE][+-]?[0-9]+"),
}
RDF_TYPE: Final = IRI(RDF + "type")
NO_PREFIXES: Final[Mapping[str, str]] = {}


def show_term(term: Term, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """A term in its shortest form.

    >>> show_term(IRI("x2")), show_term(Literal("7", XSD + "integer")), show_term(Literal("x2"))
    ('x2', '7', '"x2"')
    """
    match term:
        case IRI(value):
            if _NAME.fullmatch(value) and value not in BOOLEANS and value != _NOT:
                return value
            return _prefixed(value, prefixes) or term.text
        case Literal(lexical, datatype):
            shape = _NUMBERS.get(datatype)
            return lexical if shape and shape.fullmatch(lexical) else term.text
    return term.text


def show_fact(fact: Fact, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """A ground atom, as streams and answers have it: no name but `not` needs quotes there.

    >>> show_fact(Fact("q", (IRI("x2"), IRI("y"))))
    'q(x2,y)'
    """
    is_name = _NAME.fullmatch(fact.relation) and fact.relation != _NOT
    name = fact.relation if is_name else quoted(fact.relation)
    return _shown(name, fact, [show_term(term, prefixes) for term in fact.terms], prefixes)


def show_argument(argument: Argument | None, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """A term, or the name of a variable; one that was not written by name is `_`."""
    if isinstance(argument, Variable):
        return "_" if argument.name[0].islower() else argument.name
    return "" if argument is None else show_term(argument, prefixes)


def show_atom(
    atom: Atom,
    prefixes: Mapping[str, str] = NO_PREFIXES,
    made: Mapping[Variable, Expression] = NOTHING_MADE,
) -> str:
    """An atom of a rule with its variables, or with the expressions that some stand for."""
    texts = [
        made[argument].text
        if isinstance(argument, Variable) and argument in made
        else show_argument(argument, prefixes)
        for argument in atom.arguments
    ]
    name = show_predicate(atom.relation, len(atom.arguments))
    return _shown(name, atom, texts, prefixes)


def show_predicate(predicate: str, arity: int) -> str:
    """The name of a predicate as a rule has it, in quotes if it needs to be.

    >>> print(show_predicate("flag", 0), show_predicate("my flag", 0), show_predicate("sum", 3))
    flag 'my flag' 'sum'
    """
    is_name = _NAME.fullmatch(predicate) and is_plain(predicate, arity)
    return predicate if is_name else quoted(predicate)


def quoted(name: str) -> str:
    """A name in quotes, those within it doubled."""
    doubled = name.replace("'", "''")
    return f"'{doubled}'"


def unquoted(text: str) -> str:
    """The name that `quoted` wrote."""
    return text[1:-1].replace("''", "'")


def _shown(name: str, of: Atom | Fact, texts: Sequence[str], prefixes: Mapping[str, str]) -> str:
    """An atom, given its name and its arguments as texts."""
    if of.relation == TRIPLE:
        _, predicate, kind = of.arguments if isinstance(of, Atom) else of.terms
        if predicate == RDF_TYPE and isinstance(kind, IRI) and _prefixed(kind.value, prefixes):
            return f"{texts[2]}({texts[0]})"
        if isinstance(predicate, IRI) and _prefixed(predicate.value, prefixes):
            return f"{texts[1]}({texts[0]},{texts[2]})"
    return f"{name}({','.join(texts)})" if texts else name


def _prefixed(iri: str, prefixes: Mapping[str, str]) -> str | None:
    for prefix, namespace in prefixes.items():
        local = iri[len(namespace) :]
        if iri.startswith(namespace) and _LOCAL.fullmatch(local):
            return f"{prefix}:{local}"
    return None
