"""Plans as `explain` shows them: join order from the live facts, shared conditions, indexes."""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.engines.native import NativeEngine
from ebbtide.program import Fact, Program
from ebbtide.testing import program
from ebbtide.time import Sliding

RULES = "answer(?x, ?y, ?z) :- start(?x), left(?x, ?y), right(?x, ?z), lessThan(?y, ?z)."


def pairs(relation: str, per_key: int) -> Iterable[Fact]:
    for key in range(40):
        for value in range(per_key):
            yield Fact.of(relation, key, value)


def joined_after_start(engine: NativeEngine) -> list[str]:
    """The relations in the order in which a `start` fact meets them."""
    lines = engine.explain().splitlines()
    begin = lines.index("  on start(?0)")
    steps = [line.split() for line in lines[begin + 1 :]]
    return [words[1].split("(")[0] for words in steps[: steps.index(["on", "left(?0,", "?1)"])]][:2]


def loaded(rules: Program, left: int, right: int) -> NativeEngine:
    engine = NativeEngine(rules, {"default": Sliding(10)})
    for fact in [*pairs("left", left), *pairs("right", right)]:
        engine.add(fact)
    engine.add(Fact.of("start", 1))
    engine.advance(1)
    return engine


def test_the_most_selective_atom_comes_first() -> None:
    rules = program(RULES)
    assert joined_after_start(loaded(rules, left=60, right=1)) == ["right", "left"]
    assert joined_after_start(loaded(rules, left=1, right=60)) == ["left", "right"]


def test_the_order_follows_the_facts_while_the_stream_runs() -> None:
    engine = loaded(program(RULES), left=60, right=1)
    for fact in pairs("left", 60):
        engine.retract(fact, at=2)
    for fact in pairs("right", 90):
        engine.push(fact, at=2)
    engine.advance(2)
    engine.advance(3)
    assert joined_after_start(engine) == ["left", "right"]


def test_equal_beginnings_are_joined_once() -> None:
    rules = program(
        """one(?x) :- edge(?x, ?y), edge(?y, ?z), red(?z).
           two(?x) :- edge(?x, ?y), edge(?y, ?z), blue(?z)."""
    )
    engine = NativeEngine(rules, {"default": Sliding(10)})
    text = engine.explain()
    joins_from_the_first_edge = text.split("on edge(?0, ?1)")[1].split("  on ")[0]
    assert joins_from_the_first_edge.count("match edge(?1, ?2)") == 1
    assert joins_from_the_first_edge.count("derive") == 2 + 2


def test_only_the_columns_that_joins_need_are_indexed() -> None:
    engine = NativeEngine(
        program("far(?x, ?z) :- edge(?x, ?y), edge(?y, ?z)."), {"default": Sliding(1)}
    )
    assert "edge has 2 columns, no index, when needed by (0) (1)" in engine.explain()
    for fact in pairs("edge", 2):
        engine.push(fact, at=1)
    engine.advance(1)
    assert "edge has 2 columns, indexed by (0) (1)" in engine.explain()
    assert "far has 2 columns, no index" in engine.explain()


def test_a_rule_that_cannot_fire_joins_nothing() -> None:
    rules = program("never(?x) :- edge(?x, ?y), edge(?y, ?z), missing(?z).")
    engine = NativeEngine(rules, {"default": Sliding(10)})
    for fact in pairs("edge", 40):
        engine.push(fact, at=1)
    engine.advance(1)
    assert engine.stats()["lookups"] == 0
    assert "edge has 2 columns, no index, when needed" in engine.explain()
    engine.push(Fact.of("missing", 1), at=2)
    engine.advance(2)
    assert engine.stats()["lookups"] > 0


def test_an_equality_of_a_term_with_itself_wakes_nothing() -> None:
    rules = program("eq(?y, ?z) :- eq(?x, ?y), edge(?x, ?z), notEqual(?x, ?y).")
    engine = NativeEngine(rules, {"default": Sliding(10)})
    engine.push(Fact.of("eq", 1, 1), at=1)
    for fact in pairs("edge", 40):
        engine.push(fact, at=1)
    engine.advance(1)
    assert engine.stats()["lookups"] == 0
