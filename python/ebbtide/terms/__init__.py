"""RDF terms, parsing and writing, timed formats."""

from ebbtide.terms.term import (
    IRI,
    BlankNode,
    Literal,
    Term,
    TermError,
    absolute,
    is_absolute,
    parse_term,
    to_python,
    to_rdflib,
    to_term,
)

__all__ = [
    "IRI",
    "BlankNode",
    "Literal",
    "Term",
    "TermError",
    "absolute",
    "is_absolute",
    "parse_term",
    "to_python",
    "to_rdflib",
    "to_term",
]
