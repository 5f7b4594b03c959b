"""SPARQL as it is written: tokens with their places, and texts parsed by the kernel's parser."""

from ebbtide.languages.sparql.parse import (
    Algebra,
    Declarations,
    names_in,
    parse_query,
    parse_update,
    resolve,
)
from ebbtide.languages.sparql.tokens import Text, Token

__all__ = [
    "Algebra",
    "Declarations",
    "Text",
    "Token",
    "names_in",
    "parse_query",
    "parse_update",
    "resolve",
]
