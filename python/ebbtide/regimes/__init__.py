"""Entailment regimes: open rule files that anybody can read, copy and edit.

Each regime is a file `NAME.rules` in this folder, in the language of `ebbtide.languages.jena`. It
opens with a header that says what it is and what it is not (`regime.py`). Nothing here is known to
the engines: a regime is a program like any other.
"""

from ebbtide.regimes.load import load, load_file
from ebbtide.regimes.regime import Regime, find, regimes

__all__ = ["Regime", "find", "load", "load_file", "regimes"]
