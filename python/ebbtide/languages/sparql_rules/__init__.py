"""SPARQL rules: a file of INSERT { } WHERE { } and CONSTRUCT operations is a network of rules."""

from ebbtide.languages.sparql_rules.lower import UNBOUND, CannotLower, Lowered, lower_pattern
from ebbtide.languages.sparql_rules.reader import (
    SparqlRules,
    load_sparql_rules,
    parse_sparql_rules,
)
from ebbtide.languages.sparql_rules.write import SparqlText, write_sparql_rules

__all__ = [
    "UNBOUND",
    "CannotLower",
    "Lowered",
    "SparqlRules",
    "SparqlText",
    "load_sparql_rules",
    "lower_pattern",
    "parse_sparql_rules",
    "write_sparql_rules",
]
