"""The input of a LARS program as it came, for engines that work each time point out anew.

It holds the atoms at each time point, and what was answered last. Invariant: what is kept is all
that the next time point needs, so a snapshot is just that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from ebbtide.engines.lars_answer import Answer, answered
from ebbtide.engines.protocol import LateFact
from ebbtide.engines.reference.lars import Stream
from ebbtide.program import Fact
from ebbtide.terms import parse_term
from ebbtide.time import Instant

#: A fact in words of JSON: its relation and the texts of its terms.
FactState: TypeAlias = list[Any]


class KeptInput:
    """Time points from `start` on, `step` apart, and the atoms of each; or as a snapshot has it."""

    def __init__(self, start: Instant, step: int, state: bytes | None) -> None:
        self._start = start
        self._step = step
        self._atoms: dict[Instant, set[Fact]] = {}
        self._last: Answer | None = None
        if state is not None:
            kept = json.loads(state)
            self._atoms = {at: set(map(fact_of, facts)) for at, facts in kept["atoms"]}
            if kept["last"] is not None:
                at, facts = kept["last"]
                self._last = Answer(at, None if facts is None else frozenset(map(fact_of, facts)))

    @property
    def next(self) -> Instant:
        """The time point that comes next."""
        return self._start if self._last is None else self._last.t + self._step

    def take(self, fact: Fact, at: Instant) -> None:
        """Take an input atom; `LateFact` if its time point is over."""
        point = self._start - (self._start - at) // self._step * self._step
        if point < self.next:
            raise LateFact(f"{fact} happens at {at}, and that time point is over")
        self._atoms.setdefault(point, set()).add(fact)

    def leap(self, to: Instant) -> None:
        """Every time point is worked out, so none is left out."""

    def snapshot(self) -> bytes:
        """What the time points to come need."""
        last = self._last
        kept = {
            "atoms": [[at, states(facts)] for at, facts in sorted(self._atoms.items())],
            "last": last and [last.t, None if last.atoms is None else states(last.atoms)],
        }
        return json.dumps(kept).encode()

    def _input(self) -> Stream:
        """The input up to the next time point."""
        return Stream(self._start, self.next, self._atoms, self._step).up_to(self.next)

    def _answered(
        self, atoms: frozenset[Fact] | None, every: tuple[frozenset[Fact], ...] | None = None
    ) -> Answer:
        """Go on to the time point after, the next one being answered so."""
        self._last = answered(self.next, self._last, atoms, every)
        return self._last


def state_of(fact: Fact) -> FactState:
    """A fact in words of JSON.

    >>> state_of(Fact.of("p", "<a>"))
    ['p', ['<a>']]
    """
    return [fact.relation, [term.text for term in fact.terms]]


def states(facts: Sequence[Fact] | set[Fact] | frozenset[Fact]) -> list[FactState]:
    """Some facts in words of JSON, in order."""
    return sorted(map(state_of, facts))


def fact_of(state: FactState) -> Fact:
    """The fact that `state_of` wrote down."""
    relation, texts = state
    return Fact(relation, tuple(map(parse_term, texts)))
