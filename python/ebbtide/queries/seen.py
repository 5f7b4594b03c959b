"""What queries see of a view whose rules invent terms: the triples without such terms.

Rules match what they invented like any other term. To queries it is nothing: a node that stands for
a literal, or for some value that must be there, is no answer, and is not counted as one. So in such
a view queries do not read the relation `triple` but

    seen:triple(?s, ?p, ?o) :- triple(?s, ?p, ?o), notInvented(?s), notInvented(?o).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ebbtide.program import TRIPLE, Atom, BodyPart, Guard, Negation, Program, Rule, Variable

SEEN: Final = "seen:triple"

_TERMS: Final = tuple(map(Variable, "spo"))
_INVENTING: Final = frozenset(["skolem", "functor"])

#: The rule that says what is seen. No predicate is invented: it would be no triple of RDF.
SEEING: Final = Rule(
    SEEN,
    (Atom(SEEN, _TERMS),),
    (
        Atom(TRIPLE, _TERMS),
        *(Guard("notInvented", (term,)) for term in (_TERMS[0], _TERMS[2])),
    ),
)


def invents(program: Program) -> bool:
    """Whether rules of a program invent terms.

    >>> from ebbtide.regimes import load
    >>> [name for name in ("rdfs", "owl2rl", "dstar", "pdstarsv") if invents(load(name))]
    ['dstar', 'pdstarsv']
    """
    return any(guard.builtin in _INVENTING for rule in program.rules for guard in rule.guards)


def seen_atom(atom: Atom) -> Atom:
    """The atom, about what is seen if it is about triples."""
    return replace(atom, relation=SEEN) if atom.relation == TRIPLE else atom


def seen_rule(rule: Rule) -> Rule:
    """The rule of a query, which asks for what is seen where it asks for triples."""
    return replace(rule, body=tuple(map(_seen_part, rule.body)))


def _seen_part(part: BodyPart) -> BodyPart:
    match part:
        case Atom():
            return seen_atom(part)
        case Negation(atom):
            return replace(part, atom=seen_atom(atom))
        case _:
            return part
