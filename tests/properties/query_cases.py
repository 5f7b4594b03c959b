"""Generated continuous queries, what happens on their streams, and what they must answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import note
from hypothesis import strategies as st

from ebbtide._kernel import sparql_query
from ebbtide.languages.jena import parse_rules
from ebbtide.languages.rspql import ContinuousQuery, CountWindow, StreamWindow, TimeWindow
from ebbtide.program import Fact, Program
from ebbtide.queries import Answers, QueryEngine
from ebbtide.regimes import load
from ebbtide.terms import IRI, Term, parse_term, to_term
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
        st.sampled_from([f"<{E}p>", f"<{E}q>", f"<{E}r>", "a", SUBCLASS.text, "?r"]),
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
    st.builds("{} FILTER EXISTS {{ {} }}".format, GROUPS, GROUPS),
    st.builds("{} OPTIONAL {{ {} FILTER(?n1 > {}) }}".format, GROUPS, GROUPS, st.integers(0, 3)),
    st.builds("{} OPTIONAL {{ {} OPTIONAL {{ {} }} }}".format, GROUPS, GROUPS, PATTERNS),
    st.builds("{{ {} }} UNION {{ {} MINUS {{ {} }} }}".format, GROUPS, GROUPS, PATTERNS),
    st.builds(
        # Of no solutions rdflib makes one group, although there is GROUP BY; and it takes ?y for
        # that of the query around it, although the subquery does not show it.
        (
            "{} {{ SELECT ?x (COUNT(*) AS ?i) WHERE {{ {} ?x <http://e/p> ?w }} GROUP BY ?x "
            "HAVING(COUNT(*) > 0) }}"
        ).format,
        GROUPS,
        st.sampled_from(["", "?x <http://e/v> ?own .", "?w <http://e/q> ?own ."]),
    ),
    st.builds(
        "{} {{ SELECT DISTINCT ?x WHERE {{ ?x <http://e/p> ?w . {} }} }}".format,
        GROUPS,
        st.sampled_from(["", "?x <http://e/v> ?own .", "?w a ?own .", "?x <http://e/p>+ ?own ."]),
    ),
    st.builds("{} GRAPH <http://e/g> {{ {} }}".format, GROUPS, GROUPS),
    st.builds("{} OPTIONAL {{ GRAPH <http://e/g> {{ {} }} }}".format, GROUPS, PATTERNS),
    st.builds("{} FILTER NOT EXISTS {{ GRAPH <http://e/g> {{ {} }} }}".format, GROUPS, PATTERNS),
    st.builds("{} GRAPH ?graph {{ {} }}".format, GROUPS, PATTERNS),
    st.builds("{} OPTIONAL {{ GRAPH ?y {{ {} }} }}".format, GROUPS, PATTERNS),
)
#: A static graph by its name.
G = IRI(E + "g")


def _select(body: str, kind: str) -> str:
    if "?x" not in body and kind in (
        "count",
        "sums",
        "average",
        "different",
        "expressions",
        "some of each",
    ):
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
        case "expressions":
            return (
                "SELECT ?x (SUM(?n1 * 2) AS ?sum) (MAX(?n1 - 1) AS ?most) "
                "(COUNT(DISTINCT ?n1) AS ?many) "
                f"WHERE {{ {body} FILTER(BOUND(?n1)) FILTER(BOUND(?x)) }} GROUP BY ?x"
            )
        case "computed group":
            return (
                "SELECT ?key (COUNT(*) AS ?many) (AVG(?n1) AS ?mean) "
                f"WHERE {{ {body} FILTER(BOUND(?n1)) }} GROUP BY (?n1 + 1 AS ?key) "
                "HAVING(SUM(?n1) > 2)"
            )
        case "ordered":
            return f"SELECT ?x ?n1 WHERE {{ {body} }} ORDER BY ?x DESC(?n1) LIMIT 2"
        case "some of each":
            return (
                "SELECT ?x (SAMPLE(?x) AS ?one) (GROUP_CONCAT(DISTINCT STR(?x)) AS ?text) "
                f"WHERE {{ {body} FILTER(BOUND(?x)) }} GROUP BY ?x"
            )
        case "describe":
            return f"DESCRIBE ?x WHERE {{ {body} FILTER(isIRI(?x)) }}"
        case "all":
            return f"SELECT (COUNT(*) AS ?many) WHERE {{ {body} }}"
        case "ask":
            return f"ASK {{ {body} }}"
        case "construct nodes":
            return f"CONSTRUCT {{ ?x <{E}made> _:n . _:n <{E}of> ?y }} WHERE {{ {body} }}"
        case _:
            return f"CONSTRUCT {{ ?x <{E}made> ?y }} WHERE {{ {body} }}"


KINDS = st.sampled_from(
    [
        *("rows", "rows", "distinct", "count", "sums", "average", "different", "all"),
        *("ask", "construct", "construct nodes", "expressions", "computed group", "ordered"),
        *("some of each", "describe"),
    ]
)


def query_of(name: str, text: str, streams: Sequence[StreamWindow], every: int | None) -> Any:
    algebra = sparql_query(text)
    named = (G,) if G.text in text or "GRAPH ?" in text else ()
    return ContinuousQuery(
        name, algebra[0], "RStream", "query", every, tuple(streams), (), named, text, algebra
    )


NOT_THERE = "FILTER NOT EXISTS {{ {} }}"
WINDOWS = st.builds(TimeWindow, st.integers(1, 12), st.integers(1, 6))


@st.composite
def csparql(draw: st.DrawFn) -> ContinuousQuery:
    kind = draw(KINDS)
    text = _select(draw(BODIES), kind)
    read = draw(st.lists(st.sampled_from(STREAMS), min_size=1, max_size=2, unique=True))
    if draw(st.booleans()):
        windows = [StreamWindow(each, None, draw(WINDOWS)) for each in read]
        return query_of("q", text, windows, draw(st.sampled_from([None, 3])))
    counted = st.builds(CountWindow, st.integers(1, 5), st.sampled_from([1, 1, 2, 3]))
    every = draw(st.sampled_from([3, 3, None]))
    return query_of("q", text, [StreamWindow(each, None, draw(counted)) for each in read], every)


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
    asked = [draw(st.sampled_from([name.text] * 3 + ["?graph"])) for name in names]
    first, *others = (f"GRAPH {name} {{ {draw(GROUPS)} }}" for name in asked)
    how = draw(st.sampled_from(["{}", "{}", "OPTIONAL {{ {} }}", "MINUS {{ {} }}", NOT_THERE]))
    body = " ".join((first, *map(how.format, others)))
    return query_of("q", _select(body, draw(KINDS)), windows, None)


@dataclass
class Case:
    query: ContinuousQuery
    rules: str
    background: list[Fact]
    streams: dict[IRI, list[tuple[Fact, int]]]
    graph: list[Fact]
    #: Facts that are taken back; many of them were stated, and some are stated again.
    retractions: list[tuple[Fact, int]]


@st.composite
def cases(draw: st.DrawFn, has_retractions: bool = True) -> Case:
    background = draw(st.lists(FACTS, max_size=4))
    streams = draw(st.fixed_dictionaries(dict.fromkeys(STREAMS, EVENTS)))
    known = [*background, *(fact for events in streams.values() for fact, _ in events)]
    retracted: list[tuple[Fact, int]] = []
    if has_retractions and known:
        timed = st.tuples(st.sampled_from(known), st.integers(0, 24))
        retracted = draw(st.lists(timed, max_size=4))
        for fact, at in retracted:
            if draw(st.booleans()):
                streams[draw(st.sampled_from(STREAMS))].append((fact, at + draw(st.integers(0, 4))))
    query = draw(st.one_of(csparql(), rspql()))
    graph = draw(st.lists(FACTS, max_size=4)) if query.named_graphs else []
    rules = draw(st.sampled_from(sorted(RULES)))
    return Case(query, rules, background, streams, graph, retracted)


CASES = cases()


ASK_NOTHING = sparql_query("ASK {}")


def opened(case: Case, **settings: Any) -> QueryEngine:
    """An engine with the rules and the static data of a case."""
    return QueryEngine(
        RULES[case.rules], background=case.background, graphs={G.value: case.graph}, **settings
    )


def pushed(engine: QueryEngine, case: Case, after: int = -1, up_to: int = 100) -> None:
    """Tell an engine what happens after an instant, up to another one, in order."""
    for at, stream, fact in sorted(told_of(case), key=lambda each: each[0]):
        if after < at <= up_to:
            tell(engine, stream, fact, at)


def told_of(case: Case) -> list[tuple[int, IRI | None, Fact]]:
    """What happens: when, on which stream, and the fact; what is on no stream is retracted."""
    stated = [(at, stream, fact) for stream, timed in case.streams.items() for fact, at in timed]
    return [*stated, *((at, None, fact) for fact, at in case.retractions)]


def tell(engine: QueryEngine, stream: IRI | None, fact: Any, at: int) -> None:
    if stream is None:
        engine.retract(fact, at)
    else:
        engine.push(stream, fact, at)


def told(answers: Answers) -> list[Any]:
    return [answers.truth] if answers.form == "ask" else comparable(terms(answers))


def terms(answers: Answers) -> list[list[Term | None]]:
    return [[None if text is None else parse_term(text) for text in row] for row in answers.rows]


def check(case: Case, reported: Sequence[Answers]) -> None:
    for each in reported:
        graphs = dataset_at(
            case.query,
            RULES[case.rules],
            {None: case.background, G: case.graph},
            case.streams,
            each.tick,
            retractions=case.retractions,
        )
        expected = answers(case.query, graphs)
        note(f"{each.tick}: {case.query.text}\n{each.rows}")
        assert told(each) == expected


def changed(query: ContinuousQuery, **fields: Any) -> ContinuousQuery:
    return replace(query, **fields)


def wider(query: ContinuousQuery, by: int) -> ContinuousQuery:
    """The same query, through windows that are longer."""
    streams = tuple(
        replace(each, window=replace(each.window, range=each.window.range + by))
        if isinstance(each.window, TimeWindow)
        else each
        for each in query.streams
    )
    return replace(query, name="wider", streams=streams)


def shuffled(case: Case, random: Random, lateness: int) -> list[tuple[IRI | None, Fact, int]]:
    """What happens, each up to `lateness` late, some of it twice."""
    events = [
        (at + random.random() * lateness, stream, fact, at)
        for at, stream, fact in told_of(case)
        for _ in range(random.choice([1, 1, 2]))
    ]
    return [each[1:] for each in sorted(events, key=lambda each: each[0])]
