"""Everything that was ever stated and retracted, and what of it is in sight at a tick.

An event is a statement, a retraction or a background fact, with the instant it takes effect. What
is in sight is found by replaying the events in order:

    by instant; at one instant statements, then retractions, then background facts;
    among statements by relation and texts of the terms (the order of count windows)

Invariant: the answers depend on the set of events alone, never on the order they were told in.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from ebbtide.program import Fact
from ebbtide.terms import Term
from ebbtide.time import FOREVER, Count, Instant, Session, Window

#: A stream, and the terms that the facts of a group in it have in common.
_Group: TypeAlias = tuple[str, tuple[Term | None, ...]]


class Kind(IntEnum):
    """What an event says of its fact, in the order of replay at one instant."""

    STATEMENT = 0
    RETRACTION = 1
    BACKGROUND = 2


class Event(NamedTuple):
    """Ordered by its fields. Code points order texts as their UTF-8 bytes do."""

    at: Instant
    kind: Kind
    relation: str
    texts: tuple[str, ...]
    stream: str
    fact: Fact


class Journal:
    """The events of one engine, and the windows it looks at its streams through."""

    def __init__(self, windows: Mapping[str, Window]) -> None:
        self._windows = dict(windows)
        self._events: set[Event] = set()

    def record(self, kind: Kind, fact: Fact, at: Instant, stream: str = "") -> None:
        """Keep an event. Only statements are of a stream."""
        if kind is Kind.STATEMENT and stream not in self._windows:
            raise ValueError(f"no window was given for the stream {stream!r}")
        texts = tuple(term.text for term in fact.terms)
        self._events.add(Event(at, kind, fact.relation, texts, stream, fact))

    def stated(self, tick: Instant) -> dict[Fact, Instant]:
        """The background and the facts in the windows at a tick, each with its `until`."""
        stated: dict[Fact, Instant] = {}
        recent: dict[_Group, list[Fact]] = {}
        sessions: dict[_Group, tuple[Instant, list[Fact]]] = {}
        for event in sorted(event for event in self._events if event.at <= tick):
            fact = event.fact
            match event.kind:
                case Kind.BACKGROUND:
                    stated[fact] = FOREVER
                case Kind.RETRACTION:
                    stated.pop(fact, None)
                    for group, facts in recent.items():
                        recent[group] = [other for other in facts if other != fact]
                    for group, (end, facts) in sessions.items():
                        kept = [other for other in facts if other != fact]
                        # A session without facts is over.
                        sessions[group] = (end if kept else event.at, kept)
                case Kind.STATEMENT:
                    window = self._windows[event.stream]
                    if isinstance(window, Count):
                        group = (event.stream, _group(window, fact))
                        recent[group] = [*recent.get(group, ()), fact][-window.size :]
                    elif isinstance(window, Session):
                        group = (event.stream, _group(window, fact))
                        end, facts = sessions.get(group, (event.at, []))
                        facts = [*facts, fact] if event.at < end else [fact]
                        sessions[group] = (event.at + window.gap, facts)
                    elif (until := window.until(event.at)) is not None:
                        stated[fact] = max(until, stated.get(fact, until))
        for end, facts in sessions.values():
            stated.update((fact, max(end, stated.get(fact, end))) for fact in facts)
        stated.update((fact, FOREVER) for facts in recent.values() for fact in facts)
        return {fact: until for fact, until in stated.items() if until > tick}


def _group(window: Count | Session, fact: Fact) -> tuple[Term | None, ...]:
    """The terms that say which group a fact is in; None beyond its arity."""
    terms = fact.terms
    return tuple(terms[place] if place < len(terms) else None for place in window.group)
