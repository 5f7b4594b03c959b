"""Aggregates, runs and narrower mirrors: what the kernel keeps equals what is worked out anew."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from tests.properties.snapshots import changes_nothing

from ebbtide.engines.native import NativeEngine
from ebbtide.engines.protocol import Engine
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.program import (
    Aggregate,
    Always,
    AlwaysAt,
    Fact,
    Operator,
    Program,
    ProgramError,
)
from ebbtide.terms import IRI, BlankNode, Literal, Term
from ebbtide.terms.term import XSD
from ebbtide.testing import Happening, Tick, play, program, rows, show_rows
from ebbtide.testing.generate import STREAMS, streams, windows
from ebbtide.testing.notation import EXAMPLE
from ebbtide.time import Instant, Sliding, Tumbling, Window

STRATEGIES = st.sampled_from(["expiry", "dred", "naive"])
NODES = st.sampled_from("ABC").map(lambda name: IRI(EXAMPLE + name))


def _typed(texts: Sequence[str], datatype: str) -> st.SearchStrategy[Literal]:
    return st.sampled_from(texts).map(lambda text: Literal(text, XSD + datatype))


NUMBERS = st.one_of(
    _typed(["1", "2", "-7", "9223372036854775807"], "integer"),
    _typed(["0.5", "2.0", "-1.25"], "decimal"),
    _typed(["0.1", "2", "-1e30", "16777217"], "float"),
)
VALUES = st.one_of(
    NUMBERS,
    _typed(["-9223372036854775809", "+9223372036854775808", "1e5"], "integer"),
    _typed(["0.1", "0.1000000000000000000001", "-9223372036854775809.5", "."], "decimal"),
    _typed(["0.1", "9223372036854775808", "1e300", "-1e300", "2", "INF", "-INF", "NaN"], "double"),
    _typed(["a", "b"], "string"),
    _typed(["2020-01-01T00:00:00Z", "2020-01-01T00:00:00", "2019-12-31T23:00:00"], "dateTime"),
    _typed(["2020-01-01", "2020-01-01+14:00", "nope"], "date"),
    _typed(["PT1H", "P1M", "-P1Y2M3DT4H5M6.7S", "P", "P30DT10H"], "duration"),
    _typed(["PT60M", "P31D", "P1Y"], "dayTimeDuration"),
    _typed(["P12M", "P1D", "-P1M"], "yearMonthDuration"),
    NODES,
    st.sampled_from([Literal("a", language="en"), Literal("b", language="en")]),
    st.sampled_from([BlankNode("n"), Literal("PT1H", XSD + "duration"), Literal("x", EXAMPLE)]),
)
READINGS = st.builds(lambda x, v: Fact("reads", (x, v)), NODES, st.one_of(NUMBERS, VALUES))
PAIRS = st.builds(lambda x, y: Fact("p", (x, y)), NODES, NODES)
STOPS = st.builds(lambda x: Fact("stop", (x,)), NODES)

AGGREGATES = tuple(
    Aggregate(function, "seen", f"the_{function}", group, 1)
    for function, group in [
        *[("sum", (0,)), ("min", (0,)), ("max", ()), ("avg", (0,)), ("first", (0,)), ("last", ())]
    ]
)
GROUPED = Program(
    program(
        """seen(?x, ?v) :- reads(?x, ?v), not stop(?x).
           busy(?x) :- many(?x, ?n), greaterThan(?n, 1).
           calm(?x) :- seen(?x, ?v), not busy(?x).
           total(?s) :- the_sum(?x, ?s), calm(?x)."""
    ).rules,
    operators=(
        *AGGREGATES,
        Aggregate("count", "seen", "many", (0,)),
        Aggregate("count", "many", "all"),
    ),
)


def _past(text: str, *operators: Operator) -> Program:
    return Program(program(text).rules, {"p": 2, "stop": 1}, operators=operators)


PAST = {
    "runs": _past(
        """q(?x, ?y) :- p(?x, ?y), not stop(?x).
           r(?x) :- q(?x, ?y), steady(?x, ?y), young(?x, ?y).
           s(?x) :- q(?x, ?y), not steady(?x, ?y).""",
        Always("q", "steady", 2),
        Always("p", "young", 3, start=0),
    ),
    "a run of runs": _past(
        """q(?x) :- steady(?x, ?y), not stop(?x).
           r(?x) :- calm(?x).""",
        Always("p", "steady", 1),
        Always("q", "calm", 1, start=0),
    ),
}


@given(windows(), streams(st.one_of(READINGS, READINGS, STOPS)), STRATEGIES)
def test_aggregates_equal_the_naive_specification(
    looking: dict[str, Window], story: list[Happening], strategy: str
) -> None:
    note(f"{looking}\n" + "  ".join(map(str, story)))
    engine, oracle = (
        NativeEngine(GROUPED, looking, strategy=strategy),
        ReferenceEngine(GROUPED, looking),
    )
    for happening in story:
        answered, expected = play(engine, [happening]), play(oracle, [happening])
        if isinstance(happening, Tick):
            assert show_rows(rows(answered)) == show_rows(rows(expected)), happening
            assert engine.facts() == oracle.facts(), happening


@given(
    st.sampled_from(sorted(PAST)), windows(), streams(st.one_of(PAIRS, PAIRS, STOPS)), STRATEGIES
)
def test_runs_equal_the_naive_specification(
    name: str, looking: dict[str, Window], story: list[Happening], strategy: str
) -> None:
    rules = PAST[name]
    note(f"{rules}\n{looking}\n" + "  ".join(map(str, story)))
    engine, oracle = (
        NativeEngine(rules, looking, strategy=strategy),
        ReferenceEngine(rules, looking),
    )
    for happening in story:
        play(engine, [happening])
        play(oracle, [happening])
        if isinstance(happening, Tick):
            assert engine.facts() == oracle.facts(), happening


# Which of p's time points, from 0 on, are there: at(T, x) for those of the last `width`.
COVERED = {
    f"{width} points, {step} apart, {pane}": Program(
        program(
            """q(?x) :- every(?x), not stop(?x).
               r(?t, ?x) :- at(?t, ?x), not stop(?x)."""
        ).rules,
        {"at": 2, "stop": 1},
        operators=[AlwaysAt("r", "every", width, step, 0, pane)],
    )
    for width, step, pane in [(2, 1, None), (3, 2, None), (3, 1, 0), (2, 1, 1)]
}


@given(st.sampled_from(sorted(COVERED)), st.lists(st.tuples(NODES, st.booleans())), STRATEGIES)
def test_coverings_equal_the_naive_specification(
    name: str, given: list[tuple[IRI, bool]], strategy: str
) -> None:
    rules = COVERED[name]
    (operator,) = rules.operators
    assert isinstance(operator, AlwaysAt)
    looking: dict[str, Window] = {
        "at": Sliding(operator.width * operator.step)
        if operator.pane is None
        else Tumbling(operator.width, operator.pane - 1),
        "stop": Sliding(1),
    }
    engines: list[Engine] = [
        NativeEngine(rules, looking, strategy=strategy),
        ReferenceEngine(rules, looking),
    ]
    for tick in range(0, 8 * operator.step, operator.step):
        for engine in engines:
            for node, stops in given[tick // operator.step :: 8]:
                engine.push(Fact.of("at", tick, node), tick, "at")
                if stops:
                    engine.push(Fact.of("stop", node), tick, "stop")
            engine.advance(tick)
        assert engines[0].facts() == engines[1].facts(), tick


@given(
    st.sampled_from([GROUPED, *PAST.values()]),
    windows(),
    streams(st.one_of(READINGS, PAIRS, STOPS)),
    STRATEGIES,
    st.data(),
)
def test_a_snapshot_changes_nothing(
    rules: Program,
    looking: dict[str, Window],
    story: list[Happening],
    strategy: str,
    data: st.DataObject,
) -> None:
    story = [
        each for each in story if getattr(each, "fact", Fact("p", ())).relation in rules.relations
    ]
    changes_nothing(rules, looking, story, strategy, cut=data.draw(st.integers(0, len(story))))


NARROWED = """path(?x, ?y) :- p(?x, ?y).
              path(?x, ?z) :- path(?x, ?y), p(?y, ?z), notEqual(?x, ?z)."""


@given(st.integers(1, 6), st.integers(0, 5), streams(PAIRS, retractions=False), STRATEGIES)
def test_a_narrower_window_is_the_same_facts_ending_earlier(
    range_: int, by: int, story: list[Happening], strategy: str
) -> None:
    note("  ".join(map(str, story)))
    rules = program(NARROWED).rules
    looking = {name: Sliding(range_ + by) for name in STREAMS}
    wide = NativeEngine(Program(rules, {"p": 2}), looking, strategy=strategy)
    mirror = NativeEngine(Program((), {"near": 2}), {})
    narrow = ReferenceEngine(Program(rules), {name: Sliding(range_) for name in STREAMS})
    for happening in story:
        for engine in (wide, narrow):
            play(engine, [happening])
        if isinstance(happening, Tick):
            mirror.mirror("near", wide, "path", by=by, whole=False)
            mirror.evaluate(happening.at)
            assert _of("near", mirror) == _of("path", narrow)


def _of(relation: str, engine: Engine) -> dict[tuple[Term, ...], Instant]:
    facts = engine.facts().items()
    return {fact.terms: until for fact, until in facts if fact.relation == relation}


@pytest.mark.parametrize(
    ("operators", "message"),
    [
        ([Aggregate("median", "p", "m", (0,), 1)], "unknown aggregate function median"),
        ([Aggregate("sum", "p", "m", (0,))], "sum needs a value"),
        ([Aggregate("count", "p", "m", (2,))], "p has 2 columns"),
        ([Aggregate("count", "none", "m")], "the relation none is not known"),
        ([Aggregate("count", "p", "q", (0,))], "so rule1 cannot make it too"),
        ([Always("p", "m", 2), Always("p", "m", 1)], "cannot make it too"),
        ([Always("p", "m", -1)], "a span cannot be negative"),
        ([AlwaysAt("none", "m", 1, 1, 0)], "the relation none is not known"),
        ([Aggregate("count", "r", "n", (0,))], "no strata"),
        ([Always("r", "n", 1)], "no strata"),
    ],
)
def test_what_is_wrong_with_an_operator_is_told(operators: list[Operator], message: str) -> None:
    rules = program("q(?x, ?y) :- p(?x, ?y).  r(?x, ?n) :- p(?x, ?y), n(?x, ?n).").rules
    with pytest.raises(ProgramError, match=message):
        Program(rules, operators=operators)
