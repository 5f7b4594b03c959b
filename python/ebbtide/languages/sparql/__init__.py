"""SPARQL as it is written: tokens with their places, and texts parsed by the kernel's parser."""

from ebbtide.languages.sparql.parse import Algebra, Declarations, parse_query, parse_update
from ebbtide.languages.sparql.tokens import Text, Token

__all__ = ["Algebra", "Declarations", "Text", "Token", "parse_query", "parse_update"]
