"""Jena-style rules: `[name: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]`."""

from ebbtide.languages.jena.reader import load_rules, parse_rules

__all__ = ["load_rules", "parse_rules"]
