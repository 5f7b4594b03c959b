"""LARS on the kernel equals the oracle, at every time point."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from ebbtide.engines.lars import LarsEngine
from ebbtide.engines.reference.lars import Stream, output_stream
from ebbtide.languages.lars import LarsProgram, parse_lars, show_fact
from ebbtide.program import Fact
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.terms import parse_term
from ebbtide.testing.lars import LAST, lars_programs, lars_streams
from ebbtide.time import Instant

pa = pytest.importorskip("pyarrow")

COOLING = """
    @T steam(V)  :- @T temp(V) in [N], V >= 100.
    @T liquid(V) :- @T temp(V) in [N], V >= 1, V < 100.
    @T isSteam   :- @T steam(V) in [N].
    @T isLiquid  :- @T liquid(V) in [N].
    alarm        :- always isSteam in [N].
    normal       :- always isLiquid in [N].
    freeze       :- not alarm, not normal.
    veryHot(T)   :- @T steam(V) in [N], V >= 150.
    veryCold(T)  :- @T liquid(V) in [N], V = 1.
"""


def told(facts: frozenset[Fact] | None) -> list[str] | None:
    return None if facts is None else sorted(map(show_fact, facts))


def outputs(program: LarsProgram, input: Stream) -> dict[Instant, frozenset[Fact] | None]:
    """What the kernel says, time point by time point; the changes must add up to it."""
    engine = LarsEngine(program, start=input.first, step=input.step)
    found = {}
    shown: set[Fact] = set()
    for point in input.timeline:
        for fact in input.at(point):
            engine.take(fact, point)
        answer = engine.tick()
        found[answer.t] = answer.atoms
        shown = (shown - answer.left) | answer.entered
        assert shown == (answer.atoms or set())
    return found


@given(lars_programs(), lars_streams(), st.sampled_from([1, 1, 3]), st.sampled_from([0, 0, 1, -4]))
def test_the_kernel_equals_the_oracle(
    program: LarsProgram, atoms: dict[int, set[Fact]], step: int, start: int
) -> None:
    note(f"{program}\n{program.background}\n{atoms}")
    moved = {start + at * step: facts for at, facts in atoms.items()}
    input = Stream(start, start + LAST * step, moved, step)
    expected = output_stream(program, input)
    for point, facts in outputs(program, input).items():
        assert told(facts) == told(expected[point]), point


@given(lars_programs(), lars_streams(), st.booleans(), st.integers(-1, LAST), st.booleans())
def test_tables_equal_the_oracle(
    program: LarsProgram, atoms: dict[int, set[Fact]], full: bool, cut: int, by_tick: bool
) -> None:
    note(f"{program}\n{program.background}\n{atoms}")
    expected = output_stream(program, Stream(0, LAST, atoms))
    engine = LarsEngine(program, start=0)
    for at, facts in atoms.items():
        for fact in facts:
            engine.take(fact, at)
    rows: list[tuple[int, int, Fact]] = []
    without: list[int] = []
    held: set[Fact] = set()
    first = 0
    if by_tick and cut >= 0:
        while engine.next <= cut:
            held = set(engine.tick().atoms or ())
        first = cut + 1
    for last in (cut, LAST):
        for predicate, table in engine.play(last, full=full).items():
            for row in pa.table(table).to_pylist():
                at, diff = row.pop("t"), row.pop("diff", 1)
                rows.append((at, diff, Fact(predicate, tuple(map(parse_term, row.values())))))
        without += engine.without_answer
    for point in range(first, LAST + 1):
        now = [(diff, fact) for at, diff, fact in rows if at == point]
        assert len(now) == len({fact for _, fact in now})
        held = set() if full else held - {fact for diff, fact in now if diff < 0}
        held |= {fact for diff, fact in now if diff > 0}
        assert sorted(map(show_fact, held)) == (told(expected[point]) or []), point
        assert (point in without) == (expected[point] is None), point


@given(lars_programs(), lars_streams(), st.integers(3, 6), st.booleans())
def test_leaps_over_pauses_leave_nothing_out(
    program: LarsProgram, atoms: dict[int, set[Fact]], pause: int, start_early: bool
) -> None:
    note(f"{program}\n{program.background}\n{atoms}")
    start = -pause if start_early else 0
    input = Stream(start, LAST * pause, {at * pause: facts for at, facts in atoms.items()})
    expected = output_stream(program, input)
    for point, facts in outputs(program, input).items():
        assert told(facts) == told(expected[point]), point
    reasoner = LarsReasoner(program, start=start)
    items = [(at, list(facts)) for at, facts in sorted(input.atoms.items())]
    held: list[str] | None = []
    news = {answer.t: answer for answer in reasoner.run(items, to=input.last, changed=True)}
    for point in input.timeline:
        # Each time point without an answer stream is told: after it nothing holds until told.
        held = told(news[point].atoms) if point in news else held or []
        assert held == told(expected[point]), point


@pytest.mark.parametrize("window", range(1, 81))
def test_the_cooling_program_equals_the_oracle(window: int) -> None:
    program = parse_lars(COOLING.replace("N", str(window)))
    draw = random.Random(window)
    atoms: dict[int, set[Fact]] = {}
    kinds = [[120, 160], [1, 50], [-5], [120, 50, 1]]
    kind = kinds[0]
    last = window + 20
    for point in range(last + 1):
        if draw.random() < 0.08:
            kind = draw.choice(kinds)
        if draw.random() < 0.97:
            values = draw.sample(kind, draw.randint(1, len(kind)))
            atoms[point] = {Fact.of("temp", value) for value in values}
    input = Stream(0, last, atoms)
    expected = output_stream(program, input)
    for point, facts in outputs(program, input).items():
        assert told(facts) == told(expected[point]), point
