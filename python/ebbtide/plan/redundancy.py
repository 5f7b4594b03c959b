"""Redundancy: rules whose conclusions the other rules reach as well.

`reduced` leaves out rules that are *uniformly contained* in the others (Sagiv 1987): from the body
of the rule, its variables taken for constants, the other rules derive its heads.
"""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.plan.chase import MOST, Chase, takes_part
from ebbtide.program import Rule


def reduced(rules: Sequence[Rule]) -> set[int]:
    """The ids of the rules that stay; each of the others follows from these.

    >>> from ebbtide.testing import program
    >>> rules = program('''
    ...     b(?x) :- a(?x).
    ...     c(?x) :- b(?x).
    ...     c(?x) :- a(?x).
    ... ''').rules
    >>> stay = reduced(rules)
    >>> [str(rule) for rule in rules if id(rule) in stay]
    ['b(?x) :- a(?x).', 'c(?x) :- b(?x).']
    """
    chase = Chase(rules)
    gone: set[int] = set()
    # Most of what can go follows in two steps. Without it, to look further takes less long.
    for most in (2, MOST):
        for rule in rules:
            if id(rule) in gone or not takes_part(rule):
                continue
            gone.add(id(rule))
            if not chase.derives(rule, gone, most):
                gone.remove(id(rule))
    return {id(rule) for rule in rules} - gone
