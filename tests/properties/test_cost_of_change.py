"""Negation, retraction and count windows cost what they change, not what stands: DESIGN section 1.

Counted in lookups, the joins' unit of work, in a small and in a large materialisation.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ebbtide.engines.native import NativeEngine
from ebbtide.program import Fact, Program
from ebbtide.testing import program
from ebbtide.time import Count, Sliding, Window

SIZES = (300, 3_000)
RULES = program(
    """reach(?x, ?y) :- edge(?x, ?y).
       reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z).
       calm(?x) :- edge(?x, ?y), not busy(?x).
       quiet(?x) :- calm(?x), not loud(?x)."""
)


def edge(number: int) -> Fact:
    """Chains of three edges: 0 to 1 to 2 to 3, 10 to 11 to 12 to 13, ..."""
    chain, place = divmod(number, 3)
    return Fact.of("edge", 10 * chain + place, 10 * chain + place + 1)


def lookups(
    rules: Program, window: Window, size: int, change: Callable[[NativeEngine], None]
) -> int:
    """The lookups of a tick with the change, less those of a tick without any."""
    engine = NativeEngine(rules, {"default": window, "events": Sliding(2)})
    for number in range(size):
        engine.push(edge(number), at=1)
    # The first retraction plans the rules backwards; that is done once.
    engine.push(Fact.of("edge", -1, -2), at=1, stream="events")
    engine.retract(Fact.of("edge", -1, -2), at=2)
    for tick in (1, 2, 3, 4):
        engine.advance(tick)
    idle = engine.stats()["lookups"]
    engine.advance(5)
    idle = engine.stats()["lookups"] - idle
    assert idle == 0, "a tick in which nothing changes joins nothing"
    before = engine.stats()["lookups"]
    change(engine)
    delta = engine.advance(6)
    assert delta.entered or delta.left
    return engine.stats()["lookups"] - before


def blocker_comes(engine: NativeEngine) -> None:
    engine.push(Fact.of("busy", 10), at=6, stream="events")


def fact_is_retracted(engine: NativeEngine) -> None:
    engine.retract(edge(4), at=6)


def newest_is_counted(engine: NativeEngine) -> None:
    engine.push(Fact.of("edge", -5, -6), at=6)


CHANGES: dict[str, tuple[Callable[[NativeEngine], None], Callable[[int], Window]]] = {
    "a blocker comes": (blocker_comes, lambda size: Sliding(1_000)),
    "a fact is retracted": (fact_is_retracted, lambda size: Sliding(1_000)),
    "a count window moves on": (newest_is_counted, Count),
}


@pytest.mark.parametrize("name", CHANGES)
def test_work_follows_the_change(name: str) -> None:
    change, window = CHANGES[name]
    small, large = (lookups(RULES, window(size), size, change) for size in SIZES)
    assert 0 < large <= small + 5 < 60


def test_a_blocker_that_expires_lets_go_of_what_it_blocked_and_no_more() -> None:
    counts = []
    for size in SIZES:
        engine = NativeEngine(RULES, {"default": Sliding(1_000), "events": Sliding(2)})
        for number in range(size):
            engine.push(edge(number), at=1)
        engine.push(Fact.of("busy", 10), at=1, stream="events")
        engine.advance(1)
        before = engine.stats()["lookups"]
        assert set(engine.advance(3).entered) == {Fact.of("calm", 10), Fact.of("quiet", 10)}
        counts.append(engine.stats()["lookups"] - before)
    assert counts[0] == counts[1] < 10
