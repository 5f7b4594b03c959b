"""Predicates of a stream that no rule asks for: rather a slip of the pen than meant.

Their atoms are taken all the same, since a stream may be for several programs. So this is said once
of each predicate, and of a few of them only. A count window over the whole stream counts them all:
where a program has one, nothing is said.
"""

from __future__ import annotations

from typing import Final

from ebbtide.languages.lars.formula import CountWindow, LarsProgram, kind_places, show_kind
from ebbtide.program import TRIPLE
from ebbtide.program.wording import did_you_mean

#: So many predicates are named; that there are more is said.
MOST_NAMED: Final = 5


class UnreadPredicate(UserWarning):
    """A stream has atoms of a predicate that no rule asks for."""


class Unread:
    """What is to be said of the predicates of a stream, each at its first atom.

    >>> from ebbtide.languages.lars import parse_lars
    >>> unread = Unread(parse_lars("hot :- temp(X) in [3], X > 30."))
    >>> unread.met("tmep"), unread.met("tmep"), unread.met("temp")
    ('no rule asks for tmep, so its atoms have no effect; did you mean temp?', None, None)
    """

    def __init__(self, program: LarsProgram) -> None:
        asked = [part for rule in program.rules for part in rule.atoms()]
        #: The predicates of which there is nothing to say, or no more.
        self._known = {part.atom.relation for part in asked}
        # Of triples, which may be both stated and concluded, what tells them apart: ex:temp.
        triples = [part.atom for part in asked if part.atom.relation == TRIPLE]
        kinds = {show_kind(atom, kind_places(atom), program.prefixes) for atom in triples}
        self._likely = sorted((self._known - program.intensional | kinds) - {TRIPLE})
        self._left = MOST_NAMED
        self._is_over = any(
            isinstance(part.window, CountWindow) and not part.window.of_predicate for part in asked
        )

    def met(self, predicate: str) -> str | None:
        """What is to be said of a predicate of the stream, if anything."""
        if predicate in self._known or self._is_over:
            return None
        self._known.add(predicate)
        if self._left == 0:
            self._is_over = True
            return "there are more predicates that no rule asks for"
        self._left -= 1
        if predicate == TRIPLE:
            return "no rule asks for triples, so they have no effect"
        hint = did_you_mean(predicate, self._likely)
        return f"no rule asks for {predicate}, so its atoms have no effect{hint}"
