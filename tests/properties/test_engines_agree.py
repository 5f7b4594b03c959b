"""Every engine and strategy answers as the naive specification does, at every tick, until included.

The second family of tests tells one story in two ways: batches, order within a tick and repetition
must not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tests.conftest import MakeEngine

from ebbtide.engines.protocol import Engine
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.program import Fact, Program
from ebbtide.terms import IRI
from ebbtide.testing import Happening, Tick, play, program, rows, show_rows
from ebbtide.testing.generate import programs, retold, streams, windows
from ebbtide.testing.notation import EXAMPLE
from ebbtide.time import Window

NODES = st.sampled_from("ABCDE").map(lambda name: IRI(EXAMPLE + name))
EDGES = st.builds(lambda x, y: Fact("edge", (x, y)), NODES, NODES)

# Programs in which most facts take part in many derivations.
DENSE = {
    "transitive": "edge(?x, ?z) :- edge(?x, ?y), edge(?y, ?z).",
    "symmetric and several heads": """
        link(?x, ?y), link(?y, ?x), node(?x), node(?y) :- edge(?x, ?y).
        link(?x, ?z) :- link(?x, ?y), link(?y, ?z), notEqual(?x, ?z).""",
    "negation of a recursion": """
        node(?x), node(?y), path(?x, ?y) :- edge(?x, ?y).
        path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).
        cut(?x, ?y) :- node(?x), node(?y), not path(?x, ?y).
        sink(?x) :- node(?x), not edge(?x, ?any).
        far(?x, ?z) :- cut(?x, ?y), cut(?y, ?z), not sink(?y).""",
    "recursion over a negation": """
        source(?x) :- edge(?x, ?y), not edge(?any, ?x).
        from(?x, ?x) :- source(?x).
        from(?x, ?z) :- from(?x, ?y), edge(?y, ?z), not edge(?z, ?y).""",
}

# The fixture is a function without state, so that it lives longer than one example is no harm.
across_engines = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def tell(rules: Program, looking: Mapping[str, Window], story: Sequence[Happening]) -> None:
    note(f"{rules}\n{dict(looking)}\n" + "  ".join(map(str, story)))


def assert_same_ticks(engine: Engine, oracle: Engine, story: Sequence[Happening]) -> None:
    for happening in story:
        answered, expected = play(engine, [happening]), play(oracle, [happening])
        if isinstance(happening, Tick):
            assert show_rows(rows(answered)) == show_rows(rows(expected)), happening
            assert engine.facts() == oracle.facts(), happening


@across_engines
@given(programs(), windows(), streams())
def test_every_tick_equals_the_naive_specification(
    other_engine: MakeEngine, rules: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    tell(rules, looking, story)
    assert_same_ticks(other_engine(rules, looking), ReferenceEngine(rules, looking), story)


@across_engines
@given(st.sampled_from(sorted(DENSE)), windows(), streams(EDGES))
def test_dense_programs_equal_the_naive_specification(
    other_engine: MakeEngine, name: str, looking: dict[str, Window], story: list[Happening]
) -> None:
    rules = program(DENSE[name])
    tell(rules, looking, story)
    assert_same_ticks(other_engine(rules, looking), ReferenceEngine(rules, looking), story)


@across_engines
@given(programs(positive=True), windows(only_time=True), streams(retractions=False))
def test_positive_programs_over_time_windows_equal_the_naive_specification(
    other_engine: MakeEngine, rules: Program, looking: dict[str, Window], story: list[Happening]
) -> None:
    tell(rules, looking, story)
    assert_same_ticks(other_engine(rules, looking), ReferenceEngine(rules, looking), story)


@across_engines
@given(programs(), windows(), streams(), st.data())
def test_answers_do_not_depend_on_batches_order_and_repetition(
    engine: MakeEngine,
    rules: Program,
    looking: dict[str, Window],
    story: list[Happening],
    data: st.DataObject,
) -> None:
    retelling = data.draw(retold(story))
    tell(rules, looking, story)
    told, retold_ = engine(rules, looking), engine(rules, looking)
    assert show_rows(rows(play(told, story))) == show_rows(rows(play(retold_, retelling)))
    assert told.facts() == retold_.facts()
