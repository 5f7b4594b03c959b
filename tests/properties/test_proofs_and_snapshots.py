"""Every live fact has a proof that can be replayed; a snapshot at any point changes nothing."""

from __future__ import annotations

from hypothesis import given, note
from hypothesis import strategies as st
from tests.properties.snapshots import changes_nothing

from ebbtide.engines.native import NativeEngine
from ebbtide.program import Program
from ebbtide.testing import Happening, Tick, play, program, stream
from ebbtide.testing.generate import programs, streams, windows
from ebbtide.time import Sliding, Window

STRATEGIES = st.sampled_from(["expiry", "dred", "naive"])


@given(programs(), windows(), streams(), STRATEGIES)
def test_proofs_can_be_replayed(
    rules: Program, looking: dict[str, Window], story: list[Happening], strategy: str
) -> None:
    note(f"{rules}\n{looking}\n" + "  ".join(map(str, story)))
    engine = NativeEngine(rules, looking, strategy=strategy)
    for happening in story:
        play(engine, [happening])
        if isinstance(happening, Tick):
            facts = engine.facts()
            for fact, until in facts.items():
                proof = engine.why(fact)
                assert (proof.fact, proof.until) == (fact, until)
                proof.check(rules, facts)
                for _, node in proof.walk():
                    assert facts[node.fact] == node.until
                    assert node.rule is not None or engine.is_stated(node.fact)


def test_premises_that_match_in_several_orders_stand_in_the_one_that_proves() -> None:
    rules = program("pair(?y) :- speed(?x, ?n), speed(?x, ?y), lessThan(?y, ?n).")
    engine = NativeEngine(rules, {"default": Sliding(5)})
    play(engine, stream("1 speed(A, 1)  1 speed(A, 2)  1 speed(A, 3)  tick 1"))
    for each in engine.facts():
        engine.why(each).check(rules, engine.facts())


@given(programs(), windows(), streams(), STRATEGIES, st.data())
def test_a_snapshot_changes_nothing(
    rules: Program,
    looking: dict[str, Window],
    story: list[Happening],
    strategy: str,
    data: st.DataObject,
) -> None:
    changes_nothing(rules, looking, story, strategy, cut=data.draw(st.integers(0, len(story))))


@given(programs(), programs(), windows(), streams(), STRATEGIES, st.data())
def test_adopted_statements_are_as_good_as_one_s_own(
    before: Program,
    after: Program,
    looking: dict[str, Window],
    story: list[Happening],
    strategy: str,
    data: st.DataObject,
) -> None:
    known = {**before.relations, **after.relations}
    if any(before.relations.get(name, arity) != arity for name, arity in after.relations.items()):
        return
    before, after = Program(before.rules, known), Program(after.rules, known)
    note(f"{before}\nthen\n{after}\n{looking}\n" + "  ".join(map(str, story)))
    cut = data.draw(st.integers(0, len(story)))
    own = NativeEngine(after, looking, strategy=strategy)
    play(own, story)
    first = NativeEngine(before, looking, strategy=strategy)
    play(first, story[:cut])
    second = NativeEngine(after, looking, strategy=strategy)
    second.adopt(first)
    play(second, story[cut:])
    assert second.facts() == own.facts()
