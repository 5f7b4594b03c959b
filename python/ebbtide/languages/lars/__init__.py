"""LARS: rules over windows, with diamond, box and @."""

from ebbtide.languages.lars.check import strata
from ebbtide.languages.lars.formula import LarsProgram, LarsRule
from ebbtide.languages.lars.printing import show_fact
from ebbtide.languages.lars.reader import load_lars, parse_atoms, parse_lars

__all__ = [
    "LarsProgram",
    "LarsRule",
    "load_lars",
    "parse_atoms",
    "parse_lars",
    "show_fact",
    "strata",
]
