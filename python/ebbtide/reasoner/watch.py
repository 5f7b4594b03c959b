"""The events that hold, followed from delta to delta.

Invariant: after a tick, what is held here is exactly the event facts of the materialisation, each
with the tick that saw it first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ebbtide.engines.abilities import Explains
from ebbtide.engines.events import Event, inconsistency, malformed_list
from ebbtide.engines.proof import Proof
from ebbtide.engines.protocol import Delta, Engine
from ebbtide.program import Fact, Program, is_event
from ebbtide.program.reserved import MALFORMED
from ebbtide.time import Instant


class Watch:
    """The events of one engine."""

    def __init__(self, program: Program, engine: Engine) -> None:
        self._program = program
        self._engine = engine
        self._holding: dict[Fact, Event] = {}

    def follow(self, delta: Delta) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
        """Take a delta in; the events that began, and those that ended."""
        ended = []
        for fact in _events(delta.left):
            before = self._holding.pop(fact)
            ended.append(replace(before, until=min(before.until, delta.tick)))
        for fact in _events(delta.renewed):
            since = self._holding[fact].since
            self._holding[fact] = self._event(fact, since, delta.renewed[fact])
        began = _events(delta.entered)
        for fact in began:
            self._holding[fact] = self._event(fact, delta.tick, delta.entered[fact])
        return tuple(self._holding[fact] for fact in began), tuple(ended)

    def holding(self) -> Iterable[Event]:
        """The events that hold, oldest first."""
        return sorted(self._holding.values(), key=lambda each: (each.since, str(each)))

    def state(self) -> list[tuple[Fact, Instant]]:
        """What a snapshot keeps: the facts of the events, and since when they hold."""
        return [(fact, each.since) for fact, each in self._holding.items()]

    def restore(self, fact: Fact, since: Instant, until: Instant) -> None:
        """Take back an event of a snapshot, once the engine is restored."""
        self._holding[fact] = self._event(fact, since, until)

    def _event(self, fact: Fact, since: Instant, until: Instant) -> Event:
        if fact.relation == MALFORMED:
            return malformed_list(fact, since, until)
        proof = self._proof(fact)
        facts = () if proof else self._engine.facts()
        return inconsistency(fact, since, until, self._program, proof, facts)

    def _proof(self, fact: Fact) -> Proof | None:
        if not isinstance(self._engine, Explains):
            return None
        try:
            return self._engine.why(fact)
        except RuntimeError:
            # A tick that broke off at its budget has no proofs.
            return None


def _events(facts: Iterable[Fact]) -> list[Fact]:
    """Those that are events, in an order that does not depend on the engine."""
    return sorted((fact for fact in facts if is_event(fact.relation)), key=str)
