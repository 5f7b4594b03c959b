"""LARS over a disordered stream, and after a restart: the answers stay the same."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from ebbtide.engines.lars_answer import Answer
from ebbtide.languages.lars import LarsProgram
from ebbtide.program import Fact
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.testing.lars import LAST, lars_programs, lars_streams

# Random streams have predicates that random programs do not ask for.
pytestmark = pytest.mark.filterwarnings("ignore::ebbtide.languages.lars.unread.UnreadPredicate")

ENGINES = st.sampled_from(["native", "native", "native", "reference"])


def in_order(atoms: dict[int, set[Fact]]) -> list[tuple[int, Fact]]:
    return [(at, fact) for at in sorted(atoms) for fact in sorted(atoms[at], key=str)]


def answers(reasoner: LarsReasoner, items: list[tuple[int, Fact]]) -> list[Answer]:
    return list(reasoner.run(((at, [fact]) for at, fact in items), to=LAST))


@given(lars_programs(), lars_streams(), st.integers(0, 14), st.integers(0, 3), ENGINES)
def test_a_snapshot_goes_on_as_if_nothing_had_happened(
    program: LarsProgram, atoms: dict[int, set[Fact]], place: int, lateness: int, engine: str
) -> None:
    note(f"{program}\n{program.background}\n{atoms}")
    items = in_order(atoms)
    expected = answers(LarsReasoner(program, lateness=lateness, engine=engine), items)
    before = LarsReasoner(program, lateness=lateness, engine=engine)
    found = []
    for at, fact in items[:place]:
        before.push(fact, at)
        found += before.advance()
    after = LarsReasoner.restore(before.snapshot(), program, lateness=lateness, engine=engine)
    found += answers(after, items[place:])
    assert found == expected


@given(lars_programs(), lars_streams(), st.data(), ENGINES)
def test_order_within_the_lateness_does_not_matter(
    program: LarsProgram, atoms: dict[int, set[Fact]], data: st.DataObject, engine: str
) -> None:
    note(f"{program}\n{program.background}\n{atoms}")
    lateness = data.draw(st.integers(1, 4))
    delays = data.draw(
        st.lists(st.integers(0, lateness), min_size=len(in_order(atoms)), max_size=14)
    )
    ordered = in_order(atoms)
    expected = answers(LarsReasoner(program, engine=engine), ordered)
    arriving = sorted(zip(ordered, delays, strict=False), key=lambda pair: pair[0][0] + pair[1])
    reasoner = LarsReasoner(program, lateness=lateness, engine=engine)
    assert answers(reasoner, [item for item, _ in arriving]) == expected
    assert reasoner.late == 0


@given(lars_programs(), lars_streams(), st.randoms(use_true_random=False))
def test_late_atoms_are_as_if_they_had_not_come(
    program: LarsProgram, atoms: dict[int, set[Fact]], chance: Random
) -> None:
    items = in_order(atoms)
    chance.shuffle(items)
    note(f"{program}\n{program.background}\n{items}")
    reasoner = LarsReasoner(program, start=0, lateness=1)
    found = answers(reasoner, items)
    late = [(late.at, late.fact) for late in reasoner.take_late()]
    assert len(late) == reasoner.late
    taken = list(items)
    for item in late:
        taken.remove(item)
    assert answers(LarsReasoner(program, start=0), sorted(taken, key=lambda item: item[0])) == found
