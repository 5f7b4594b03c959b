"""Rules by name: regimes and files of any rule language, joined into one program.

owl2rl                      a regime
site.rules                  a file of Jena-style rules
site.rq, .ru, .sparql       a file of SPARQL operations
owl2rl,owl2rl-unsat,site.rules
"""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Final

from ebbtide.languages.jena import load_rules
from ebbtide.program import Origin, Program, ProgramError
from ebbtide.program.join import join
from ebbtide.regimes.regime import find, regimes

_SPARQL: Final = frozenset([".rq", ".ru", ".sparql"])


def load(rules: str) -> Program:
    """The program that some names mean, separated by commas.

    >>> from ebbtide.regimes import load
    >>> len(load("rdfs-sparkwave").rules)
    7
    >>> load("rhodf,rdfs-sparkwave").rules[-1].name
    'sym'
    """
    names = [name.strip() for name in rules.split(",")]
    if not all(names):
        raise ProgramError("the name of a regime or file is missing", Origin(rules, 1, 1))
    programs = [_load(name) for name in names]
    return programs[0] if len(programs) == 1 else join(programs)


def _load(name: str) -> Program:
    known = {regime.name for regime in regimes()}
    if name.lower() in known or not _is_path(name):
        return find(name).program
    return load_file(name)


def load_file(path: str | PathLike[str]) -> Program:
    """The program of a file, whose suffix says the language."""
    if Path(path).suffix.lower() in _SPARQL:
        from ebbtide.languages.sparql_rules import load_sparql_rules

        return load_sparql_rules(path)
    return load_rules(fspath(path))


def _is_path(name: str) -> bool:
    """A name with a suffix or a folder is meant as a file even if there is none."""
    return "/" in name or "." in name or Path(name).exists()
