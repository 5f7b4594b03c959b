"""Ebbtide: a stream reasoner.

The names below are loaded when they are first used, so that `import ebbtide` costs nothing.

>>> import ebbtide
>>> ebbtide.Sliding(range=10).until(1)
11
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ebbtide.engines.events import Inconsistency, MalformedList
    from ebbtide.engines.proof import Proof
    from ebbtide.engines.protocol import Delta
    from ebbtide.languages.jena import load_rules, parse_rules
    from ebbtide.program import BuiltinError, Fact, Program, ProgramError, Rule, builtin
    from ebbtide.queries import QueryEngine
    from ebbtide.reasoner import Reasoner
    from ebbtide.reasoner.lars import LarsReasoner
    from ebbtide.terms import IRI, BlankNode, Literal
    from ebbtide.time import FOREVER, Count, Landmark, Session, Sliding, Tumbling

_HOME: Final = {
    "FOREVER": "ebbtide.time",
    "IRI": "ebbtide.terms",
    "BlankNode": "ebbtide.terms",
    "BuiltinError": "ebbtide.program",
    "Count": "ebbtide.time",
    "Delta": "ebbtide.engines.protocol",
    "Fact": "ebbtide.program",
    "Inconsistency": "ebbtide.engines.events",
    "Landmark": "ebbtide.time",
    "LarsReasoner": "ebbtide.reasoner.lars",
    "Literal": "ebbtide.terms",
    "MalformedList": "ebbtide.engines.events",
    "Program": "ebbtide.program",
    "ProgramError": "ebbtide.program",
    "Proof": "ebbtide.engines.proof",
    "QueryEngine": "ebbtide.queries",
    "Reasoner": "ebbtide.reasoner",
    "Rule": "ebbtide.program",
    "Session": "ebbtide.time",
    "Sliding": "ebbtide.time",
    "Tumbling": "ebbtide.time",
    "builtin": "ebbtide.program",
    "load_rules": "ebbtide.languages.jena",
    "parse_rules": "ebbtide.languages.jena",
}

__all__ = [
    "FOREVER",
    "IRI",
    "BlankNode",
    "BuiltinError",
    "Count",
    "Delta",
    "Fact",
    "Inconsistency",
    "Landmark",
    "LarsReasoner",
    "Literal",
    "MalformedList",
    "Program",
    "ProgramError",
    "Proof",
    "QueryEngine",
    "Reasoner",
    "Rule",
    "Session",
    "Sliding",
    "Tumbling",
    "builtin",
    "load_rules",
    "parse_rules",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ebbtide' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
