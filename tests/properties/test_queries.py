"""Continuous queries answer what rdflib answers on the window content that the definitions give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from ebbtide._kernel import sparql_query
from ebbtide.languages.jena import parse_rules
from ebbtide.languages.rspql import ContinuousQuery, CountWindow, StreamWindow, TimeWindow
from ebbtide.program import Fact, Program
from ebbtide.queries import Answers, QueryEngine
from ebbtide.queries.answers import Row, difference
from ebbtide.regimes import load
from ebbtide.terms import IRI, parse_term, to_term
from ebbtide.testing.query_oracle import answers, comparable, dataset_at

E = "http://e/"
STREAMS = [IRI(E + "s1"), IRI(E + "s2")]
RULES = {
    "none": Program(),
    "transitive": parse_rules(
        f"[t: (?x <{E}p> ?y), (?y <{E}p> ?z) -> (?x <{E}p> ?z)]"
        f"[q: (?x <{E}q> ?y) -> (?y <{E}p> ?x)]"
    ),
    "schema": load("rdfs-sparkwave"),
    "negation": parse_rules(f"[n: (?x <{E}p> ?y), noValue(?y, <{E}q>, ?z) -> (?x <{E}r> ?y)]"),
}

TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SUBCLASS = IRI("http://www.w3.org/2000/01/rdf-schema#subClassOf")

NODES = st.sampled_from("abc").map(lambda name: IRI(E + name))
VALUES = st.sampled_from([1, 2, 5]).map(to_term)
FACTS = st.one_of(
    st.builds(lambda s, p, o: Fact.triple(s, IRI(E + p), o), NODES, st.sampled_from("pq"), NODES),
    st.builds(lambda s, o: Fact.triple(s, IRI(E + "v"), o), NODES, VALUES),
    st.builds(Fact.triple, NODES, st.sampled_from([TYPE, SUBCLASS]), NODES),
)
EVENTS = st.lists(st.tuples(FACTS, st.integers(0, 24)), max_size=12)

VARIABLES = st.sampled_from(["?x", "?y", "?z"])
SUBJECTS = st.one_of(VARIABLES, VARIABLES, NODES.map(lambda node: node.text))
PATTERNS = st.one_of(
    st.builds(
        lambda s, p, o: f"{s} {p} {o} .",
        SUBJECTS,
        st.sampled_from([f"<{E}p>", f"<{E}q>", f"<{E}r>", "a", "?r"]),
        SUBJECTS,
    ),
    st.builds(lambda s, n: f"{s} <{E}v> ?n{n} .", VARIABLES, st.integers(1, 2)),
    st.builds(
        lambda s, path, o: f"{s} {path} {o} .",
        VARIABLES,
        st.sampled_from([f"<{E}p>+", f"<{E}p>/<{E}q>", f"^<{E}p>", f"<{E}p>|<{E}q>"]),
        VARIABLES,
    ),
)
GROUPS = st.lists(PATTERNS, min_size=1, max_size=3).map(" ".join)
BODIES = st.one_of(
    GROUPS,
    st.builds("{} FILTER(?n1 > {})".format, GROUPS, st.integers(0, 3)),
    st.builds("{} FILTER(?n1 < {} || ?x = ?y)".format, GROUPS, st.integers(0, 6)),
    st.builds("{{ {} }} UNION {{ {} }}".format, GROUPS, GROUPS),
    st.builds("{} OPTIONAL {{ {} }}".format, GROUPS, GROUPS),
    st.builds("{} FILTER NOT EXISTS {{ {} }}".format, GROUPS, PATTERNS),
    st.builds("{} MINUS {{ {} }}".format, GROUPS, PATTERNS),
    st.builds("{} FILTER(?x != ?y)".format, GROUPS),
    st.builds("{} BIND(?n1 + 1 AS ?m)".format, GROUPS),
)


def _select(body: str, kind: str) -> str:
    if "?x" not in body and kind in ("count", "sums", "average", "different"):
        # By a variable that the pattern does not have, oxigraph makes a group of nothing.
        kind = "all"
    match kind:
        case "rows":
            return f"SELECT ?x ?y ?n1 WHERE {{ {body} }}"
        case "distinct":
            return f"SELECT DISTINCT ?x WHERE {{ {body} }}"
        case "count":
            return f"SELECT ?x (COUNT(?y) AS ?many) WHERE {{ {body} }} GROUP BY ?x"
        case "sums":
            return (
                "SELECT ?x (SUM(?n1) AS ?sum) (MIN(?n1) AS ?least) (MAX(?n1) AS ?most) "
                f"WHERE {{ {body} FILTER(BOUND(?n1)) FILTER(BOUND(?x)) }} GROUP BY ?x"
            )
        case "average":
            return (
                "SELECT ?x (AVG(?n1) AS ?mean) (COUNT(*) AS ?many) "
                f"WHERE {{ {body} FILTER(BOUND(?n1)) FILTER(BOUND(?x)) }} GROUP BY ?x "
                "HAVING(COUNT(*) > 1)"
            )
        case "different":
            return (
                "SELECT ?x (COUNT(DISTINCT ?y) AS ?many) (SUM(DISTINCT ?n1) AS ?sum) "
                f"WHERE {{ {body} FILTER(BOUND(?n1)) FILTER(BOUND(?x)) }} GROUP BY ?x"
            )
        case "all":
            return f"SELECT (COUNT(*) AS ?many) WHERE {{ {body} }}"
        case "ask":
            return f"ASK {{ {body} }}"
        case _:
            return f"CONSTRUCT {{ ?x <{E}made> ?y }} WHERE {{ {body} }}"


KINDS = st.sampled_from(
    [
        *("rows", "rows", "distinct", "count", "sums", "average", "different", "all"),
        *("ask", "construct"),
    ]
)


def _query(name: str, text: str, streams: Sequence[StreamWindow], every: int | None) -> Any:
    algebra = sparql_query(text)
    return ContinuousQuery(
        name, algebra[0], "RStream", "query", every, tuple(streams), (), (), text, algebra
    )


WINDOWS = st.builds(TimeWindow, st.integers(1, 12), st.integers(1, 6))


@st.composite
def csparql(draw: st.DrawFn) -> ContinuousQuery:
    kind = draw(KINDS)
    text = _select(draw(BODIES), kind)
    read = draw(st.lists(st.sampled_from(STREAMS), min_size=1, max_size=2, unique=True))
    if draw(st.booleans()):
        windows = [StreamWindow(each, None, draw(WINDOWS)) for each in read]
        return _query("q", text, windows, draw(st.sampled_from([None, 3])))
    sizes = st.integers(1, 5)
    return _query(
        "q", text, [StreamWindow(each, None, CountWindow(draw(sizes))) for each in read], 3
    )


@st.composite
def rspql(draw: st.DrawFn) -> ContinuousQuery:
    names = [IRI(E + "w1"), IRI(E + "w2")][: draw(st.integers(1, 2))]
    windows = [
        StreamWindow(
            draw(st.sampled_from(STREAMS)),
            name,
            TimeWindow(draw(st.integers(1, 12)), draw(st.integers(1, 6)), "[)"),
        )
        for name in names
    ]
    parts = " ".join(f"GRAPH {name.text} {{ {draw(GROUPS)} }}" for name in names)
    return _query("q", _select(parts, draw(KINDS)), windows, None)


@dataclass
class Case:
    query: ContinuousQuery
    rules: str
    background: list[Fact]
    streams: dict[IRI, list[tuple[Fact, int]]]


CASES = st.builds(
    Case,
    st.one_of(csparql(), rspql()),
    st.sampled_from(sorted(RULES)),
    st.lists(FACTS, max_size=4),
    st.fixed_dictionaries(dict.fromkeys(STREAMS, EVENTS)),
)


ASK_NOTHING = sparql_query("ASK {}")


def pushed(
    engine: QueryEngine,
    streams: dict[IRI, list[tuple[Fact, int]]],
    after: int = -1,
    up_to: int = 100,
) -> None:
    for at, stream, fact in sorted(
        ((at, stream.value, fact) for stream, events in streams.items() for fact, at in events),
        key=lambda each: each[0],
    ):
        if after < at <= up_to:
            engine.push(stream, fact, at)


def told(answers: Answers) -> list[Any]:
    if answers.form == "ask":
        return [answers.truth]
    return comparable(
        [[None if text is None else parse_term(text) for text in row] for row in answers.rows]
    )


def check(case: Case, reported: Sequence[Answers]) -> None:
    for each in reported:
        graphs = dataset_at(
            case.query, RULES[case.rules], {None: case.background}, case.streams, each.tick
        )
        expected = answers(case.query, graphs)
        note(f"{each.tick}: {case.query.text}\n{each.rows}")
        assert told(each) == expected


@given(CASES, st.booleans())
def test_answers_are_those_of_rdflib_on_the_oracle_s_windows(case: Case, lazy: bool) -> None:
    engine = QueryEngine(RULES[case.rules], background=case.background, lazy=lazy)
    query = engine.register(case.query)
    pushed(engine, case.streams)
    engine.finish()
    check(case, list(query))


def changed(query: ContinuousQuery, **fields: Any) -> ContinuousQuery:
    return replace(query, **fields)


@given(st.lists(CASES, min_size=2, max_size=4))
def test_queries_that_share_a_view_do_not_disturb_each_other(cases: list[Case]) -> None:
    first = cases[0]
    together = QueryEngine(RULES[first.rules], background=first.background)
    alone, handles = [], []
    for number, case in enumerate(cases):
        query = changed(case.query, name=f"q{number}")
        single = QueryEngine(RULES[first.rules], background=first.background)
        handle = single.register(query)
        pushed(single, first.streams)
        single.finish()
        alone.append([(each.tick, told(each)) for each in handle])
        handles.append(together.register(query))
    pushed(together, first.streams)
    together.finish()
    for handle, expected in zip(handles, alone, strict=True):
        found = [(each.tick, told(each)) for each in handle]
        assert found[: len(expected)] == expected


@given(CASES)
def test_what_comes_and_goes_is_the_difference_of_two_ticks(case: Case) -> None:
    engine = QueryEngine(RULES[case.rules], background=case.background)
    handles = {
        emits: engine.register(changed(case.query, name=emits, emits=emits))
        for emits in ("RStream", "IStream", "DStream")
    }
    pushed(engine, case.streams)
    engine.finish()
    came = {each.tick: each for each in handles["IStream"]}
    went = {each.tick: each for each in handles["DStream"]}
    before: tuple[Row, ...] = ()
    for each in handles["RStream"]:
        for changes, op, expected in (
            (came, "+", difference(each.rows, before)),
            (went, "-", difference(before, each.rows)),
        ):
            found = changes.pop(each.tick, None)
            assert found is None or found.op == op
            assert sorted(found.rows if found else (), key=str) == sorted(expected, key=str)
        before = each.rows
    assert not came
    assert not went


@given(CASES, st.integers(0, 24))
def test_a_query_registered_late_sees_what_another_one_kept(case: Case, registered: int) -> None:
    whole = QueryEngine(RULES[case.rules], background=case.background)
    early = whole.register(case.query)
    pushed(whole, case.streams)
    whole.finish()
    expected = {each.tick: told(each) for each in early}

    engine = QueryEngine(RULES[case.rules], background=case.background)
    keeper = engine.register(changed(case.query, name="keeper", text="ASK {}", algebra=ASK_NOTHING))
    pushed(engine, case.streams, up_to=registered)
    late = engine.register(case.query)
    pushed(engine, case.streams, after=registered)
    keeper.drop()
    engine.finish()
    for each in late:
        assert told(each) == expected[each.tick]


@given(CASES, st.randoms(use_true_random=False), st.integers(1, 8))
def test_answers_do_not_depend_on_order_batches_or_repetition(
    case: Case, random: Random, lateness: int
) -> None:
    """Each fact comes up to `lateness` late, some come twice, alone or as graphs."""
    in_order = QueryEngine(RULES[case.rules], background=case.background)
    expected = in_order.register(case.query)
    pushed(in_order, case.streams)
    in_order.finish()

    engine = QueryEngine(RULES[case.rules], background=case.background, lateness=lateness)
    query = engine.register(case.query)
    events = [
        (at + random.random() * lateness, stream.value, fact, at)
        for stream, timed in case.streams.items()
        for fact, at in timed
        for _ in range(random.choice([1, 1, 2]))
    ]
    for _, stream, fact, at in sorted(events, key=lambda each: each[0]):
        engine.push(stream, random.choice([fact, [fact]]), at)
    engine.finish()
    assert engine.late == 0
    assert {each.tick: told(each) for each in query} == {each.tick: told(each) for each in expected}


def wider(query: ContinuousQuery, by: int) -> ContinuousQuery:
    """The same query, through windows that are longer."""
    streams = tuple(
        replace(each, window=replace(each.window, range=each.window.range + by))
        if isinstance(each.window, TimeWindow)
        else each
        for each in query.streams
    )
    return replace(query, name="wider", streams=streams)


@given(CASES, st.integers(0, 24), st.integers(0, 9), st.sampled_from(["IStream", "DStream"]))
def test_a_wider_query_that_comes_and_goes_is_not_noticed(
    case: Case, registered: int, by: int, emits: Any
) -> None:
    told_alone, told_together = (
        [(each.tick, told(each)) for each in _changes(case, emits, registered, by, others)]
        for others in (False, True)
    )
    # The wider one's ticks may be others, and so may the last one be that all facts need.
    known = dict(told_alone)
    assert {tick: rows for tick, rows in told_together if tick in known} == known


def _changes(case: Case, emits: Any, registered: int, by: int, others: bool) -> list[Answers]:
    engine = QueryEngine(RULES[case.rules], background=case.background)
    query = engine.register(changed(case.query, emits=emits))
    pushed(engine, case.streams, up_to=registered)
    other = engine.register(wider(case.query, by)) if others else None
    pushed(engine, case.streams, after=registered, up_to=registered + 8)
    if other is not None:
        other.drop()
    pushed(engine, case.streams, after=registered + 8)
    engine.finish()
    return list(query)


@given(CASES, st.lists(st.tuples(FACTS, st.integers(0, 24)), max_size=4))
def test_retraction_is_the_same_both_ways(case: Case, retractions: list[tuple[Fact, int]]) -> None:
    events = [
        (at, stream.value, fact) for stream, timed in case.streams.items() for fact, at in timed
    ]
    events += [(at, "", fact) for fact, at in retractions]
    reported = []
    for is_new in (True, False):
        engine = QueryEngine(
            RULES[case.rules], background=case.background, incremental=is_new, lazy=is_new
        )
        query = engine.register(case.query)
        for at, stream, fact in sorted(events, key=lambda each: each[0]):
            if stream:
                engine.push(stream, fact, at)
            else:
                engine.retract(fact, at)
        engine.finish()
        reported.append([(each.tick, told(each)) for each in query])
    assert reported[0] == reported[1]
