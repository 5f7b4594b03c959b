"""Whether a program can be run as joins: positive, and nothing but facts and rules."""

from __future__ import annotations

from ebbtide.program import Program
from ebbtide.program.reserved import NOW


def why_no_joins(program: Program) -> str | None:
    """Why a program cannot be run as joins of tables; None if it can.

    >>> from ebbtide.testing import program
    >>> why_no_joins(program("A: a(?x) :- b(?x), c(?x)."))
    >>> why_no_joins(program("A: a(?x) :- b(?x), not c(?x)."))
    'A (<text>:1:1) has a negation'
    """
    if program.operators:
        return f"an operator reads {program.operators[0].input}"
    for rule in program.rules:
        if rule.negations:
            return f"{rule.name} ({rule.origin}) has a negation"
        if any(atom.relation == NOW for atom in rule.positives):
            return f"{rule.name} ({rule.origin}) asks for the time"
    return None
