"""What a new time point may set off, so that time points without a change can be left out.

A rule reads the clock for one of two reasons. Most ask of a conclusion for T whether T is still in
a window: there is none for a time point that has just come, so nothing happens. The others make
something of the time point itself; as long as any relation that they need besides is empty, they do
not. Everything else that changes by itself, ends, and the engine knows when.

Out: for each rule of the second kind the relations that it needs; and how far back a clock must say
the time points that were left out.
"""

from __future__ import annotations

from typing import Final

from ebbtide.languages.lars.lowered import Clock, Lowered
from ebbtide.program import Atom, Rule
from ebbtide.time import LATEST, Sliding, Tumbling

#: Where the facts of a relation have their time point, by what the relation says.
_TIME_COLUMN: Final = {"at": 0, "tally at": 1}


def wakes(lowered: Lowered) -> list[list[str]]:
    """The rules that a new time point may set off, each by the relations that it needs besides.

    >>> from ebbtide.languages.lars import parse_lars
    >>> from ebbtide.languages.lars.lower import lower
    >>> wakes(lower(parse_lars("@T p :- @T e in [9]. q :- p in [3]."), start=0))
    []
    >>> wakes(lower(parse_lars("p :- e in [9], f. q(T) :- @T p in [3]."), start=0))
    [['p now']]
    """
    clocks = {clock.relation for clock in lowered.clocks}
    found = []
    for rule in lowered.program.rules:
        read = [atom for atom in rule.positives if atom.relation in clocks]
        denied = any(part.atom.relation in clocks for part in rule.negations)
        if denied or not all(_is_filter(lowered, rule, clock) for clock in read):
            needed = {atom.relation for atom in rule.positives}
            found.append(sorted(needed - clocks))
    return found


def _is_filter(lowered: Lowered, rule: Rule, clock: Atom) -> bool:
    """Whether a rule asks the clock about a time point that a fact is about."""
    for atom in rule.positives:
        meaning = lowered.meanings.get(atom.relation)
        column = None if meaning is None else _TIME_COLUMN.get(meaning.kind)
        if column is not None and (atom.arguments[column],) == clock.arguments:
            return True
    return False


def reach(lowered: Lowered, clock: Clock, step: int) -> int:
    """How far back a clock says the time points that were left out.

    Only where rules work time points out can something be concluded for one of those.
    """
    if not lowered.has_outside or clock.kind in ("first", "pane"):
        return 0
    match lowered.streams[clock.stream]:
        case Sliding(range):
            return range - step
        case Tumbling(width):
            return width - step
        case _:
            return LATEST
