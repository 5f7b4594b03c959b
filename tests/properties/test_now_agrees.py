"""The time in rules: the kernel gives what the reference engine does, at every tick."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.program import Fact
from ebbtide.reasoner import Reasoner
from ebbtide.time import Sliding

RULES = """
    @relation seen/2 .
    [age:   seen(?x ?t), now(?n), difference(?n ?t ?age) -> age(?x ?age)]
    [old:   age(?x ?age), ge(?age, 4) -> old(?x)]
    [young: seen(?x ?t), now(?n), not old(?x) -> young(?x)]
    [node:  seen(?x ?t), now(?n), makeTemp(?b) -> node(?x ?b)]
    [late:  now(?n), greaterThan(?n, 9) -> late()]
"""


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), max_size=6),
    st.sampled_from((1, 2, 3)),
    st.integers(1, 7),
    st.lists(st.integers(0, 16), min_size=1, max_size=4).map(sorted),
)
def test_now(events: list[tuple[str, int]], step: int, range_: int, pauses: list[int]) -> None:
    told = []
    for engine in ("native", "reference"):
        reasoner = Reasoner(RULES, window=Sliding(range_), step=step, start=0, engine=engine)
        for name, at in events:
            reasoner.push(Fact.of("seen", f"<{name}>", at), at)
        deltas = [delta for pause in pauses for delta in reasoner.advance(to=pause)]
        told.append([(d.tick, d.entered, d.left, d.renewed) for d in deltas])
        told[-1].append((None, reasoner.facts(), {}, {}))
    assert told[0] == told[1]
