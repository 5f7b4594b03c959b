"""The maintenance programs of the paper, run literally, keep what the naive specification computes.

Table 5 speaks of time windows and insertions only; Table 2 of any change of what is stated, but it
knows no `until`.
"""

from __future__ import annotations

from hypothesis import given

from ebbtide.engines.reference import ReferenceEngine, run_dred, run_expiry
from ebbtide.engines.reference.journal import Journal, Kind
from ebbtide.maintenance import maintenance_program
from ebbtide.maintenance.rule import predicates
from ebbtide.program import Fact, Program
from ebbtide.testing import Add, Happening, Push, Retract, Tick, play
from ebbtide.testing.generate import programs, streams, windows
from ebbtide.time import EARLIEST, Instant, Window


def about(program: Program, story: list[Happening]) -> list[Happening]:
    """The story without the relations that no rule mentions: they are no part of its tables."""
    mentioned = {atom.relation for atom in predicates(program)}
    return [h for h in story if isinstance(h, Tick) or h.fact.relation in mentioned]


def stated_at_ticks(
    looking: dict[str, Window], story: list[Happening]
) -> list[tuple[Instant, dict[Fact, Instant]]]:
    """What is in the windows at every tick of a story."""
    journal, last = Journal(looking), EARLIEST
    found: list[tuple[Instant, dict[Fact, Instant]]] = []
    for happening in story:
        match happening:
            case Push(fact, at, stream):
                journal.record(Kind.STATEMENT, fact, at, stream)
            case Retract(fact, at):
                journal.record(Kind.RETRACTION, fact, at)
            case Add(fact):
                journal.record(Kind.BACKGROUND, fact, last)
            case Tick(at):
                found.append((at, journal.stated(at)))
                last = at
    return found


def materialisations(
    program: Program, looking: dict[str, Window], story: list[Happening]
) -> list[dict[Fact, Instant]]:
    """What the naive specification has at every tick of a story."""
    engine = ReferenceEngine(program, looking)
    found = []
    for happening in story:
        play(engine, [happening])
        if isinstance(happening, Tick):
            found.append(dict(engine.facts()))
    return found


@given(programs(positive=True), windows(only_time=True), streams(retractions=False))
def test_table_5_keeps_every_until(
    program: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    story = about(program, story)
    table = maintenance_program(program, "expiry")
    current: dict[Fact, Instant] = {}
    before: dict[Fact, Instant] = {}
    expected = materialisations(program, looking, story)
    for (now, stated), closure in zip(stated_at_ticks(looking, story), expected, strict=True):
        inserted = {f: until for f, until in stated.items() if until > before.get(f, EARLIEST)}
        result = run_expiry(table, current, inserted, now)
        assert result.facts == set(closure.items())
        assert {f for f, _ in result.plus} == {
            f for f, until in closure.items() if current.get(f) != until
        }
        current, before = dict(result.facts), stated


@given(programs(positive=True), windows(), streams())
def test_table_2_keeps_every_fact(
    program: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    story = about(program, story)
    table = maintenance_program(program, "dred")
    current: set[Fact] = set()
    before: set[Fact] = set()
    expected = materialisations(program, looking, story)
    for (_, timed), closure in zip(stated_at_ticks(looking, story), expected, strict=True):
        stated = set(timed)
        result = run_dred(table, current, stated - before, before - stated, stated)
        assert {f for f, _ in result.facts} == set(closure)
        assert {f for f, _ in result.plus} == set(closure) - current
        assert {f for f, _ in result.minus} == current - set(closure)
        current, before = set(closure), stated
