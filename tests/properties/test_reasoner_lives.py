"""Whole lives of a reasoner: by any engine, strategy and plan, restarted or not, one story."""

from __future__ import annotations

from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from ebbtide import Count, Landmark, Reasoner, Session, Sliding, Tumbling
from ebbtide.program import Fact, ProgramError

PREFIX = "@prefix e: <http://e/>.\n"
RULES = (
    "[in: (?x e:in ?y), (?y e:in ?z) -> (?x e:in ?z)]",
    "[sub: (?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]",
    "[chain: (?c rdfs:subClassOf ?d), (?d rdfs:subClassOf ?f) -> (?c rdfs:subClassOf ?f)]",
    "[domain: (?p rdfs:domain ?c), (?x ?p ?y) -> (?x rdf:type ?c)]",
    "[under: (?p rdfs:subPropertyOf ?q), (?x ?p ?y) -> (?x ?q ?y)]",
    "[open: (?x e:in ?y), noValue(?y e:closed ?z) -> (?x e:open ?y)]",
    "[other: (?x rdf:type e:A), noValue(?x rdf:type e:B) -> (?x rdf:type e:C)]",
    "[next: (?x e:v ?n), greaterThan(?n, 2), sum(?n, 1, ?m), lessThan(?m, 7) -> (?x e:v ?m)]",
    "[has: (?x e:in ?y) -> (?y e:has ?x), (?x rdf:type e:Thing)]",
    "[back: (?x e:has ?y) -> (?y e:in ?x)]",
)
RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"


def named(names: str) -> st.SearchStrategy[str]:
    return st.sampled_from(names.split()).map("<http://e/{}>".format)


NODES, CLASSES, PROPERTIES = named("a b c"), named("A B C"), named("in closed has")
FACTS = st.one_of(
    st.tuples(NODES, PROPERTIES, NODES),
    st.tuples(NODES, st.just(f"<{RDF}type>"), CLASSES),
    st.tuples(NODES, st.just("<http://e/v>"), st.integers(1, 4)),
    st.tuples(CLASSES, st.just(f"<{RDFS}subClassOf>"), CLASSES),
    st.tuples(PROPERTIES, st.just(f"<{RDFS}domain>"), CLASSES),
    st.tuples(PROPERTIES, st.just(f"<{RDFS}subPropertyOf>"), PROPERTIES),
)
TIMES = st.integers(0, 14)
HAPPENINGS = st.one_of(
    st.tuples(st.just("push"), FACTS, TIMES),
    st.tuples(st.just("push"), FACTS, TIMES),
    st.tuples(st.just("add"), FACTS),
    st.tuples(st.just("retract"), FACTS, TIMES),
    st.tuples(st.just("heartbeat"), TIMES),
    st.tuples(st.just("advance")),
    st.tuples(st.just("advance"), TIMES),
)
WINDOWS = st.one_of(
    st.builds(Sliding, st.integers(1, 9)),
    st.builds(Tumbling, st.integers(1, 6)),
    st.builds(Landmark, st.integers(0, 5)),
    st.builds(Count, st.integers(1, 3), st.sampled_from([(), (0,)])),
    st.builds(Session, st.integers(1, 4), st.sampled_from([(), (0,)])),
)


def told(
    rules: str, settings: dict[str, Any], story: list[tuple[Any, ...]], restarts: set[int]
) -> list[Any]:
    """All that a reasoner says, at each tick and in the end."""
    reasoner = Reasoner(rules, **settings)
    said: list[Any] = []

    def lines(facts: dict[Fact, int]) -> list[tuple[str, int]]:
        return sorted((str(fact), until) for fact, until in facts.items())

    for place, (word, *details) in enumerate([*story, ("advance", 14), ("advance", 30)]):
        if place in restarts:
            reasoner = Reasoner.restore(reasoner.snapshot(), rules, **settings)
        for delta in getattr(reasoner, word)(*details) or ():
            changes = (delta.entered, delta.left, delta.renewed)
            said.append((delta.tick, *(lines(dict(each)) for each in changes)))
    late = [(str(each.fact), each.at, each.reason) for each in reasoner.take_late()]
    return [*said, lines(dict(reasoner.facts())), late]


@given(
    st.lists(st.sampled_from(RULES), min_size=1, max_size=6, unique=True),
    WINDOWS,
    st.lists(HAPPENINGS, max_size=14),
    st.sampled_from(["expiry", "expiry", "dred", "naive"]),
    st.booleans(),
    st.sets(st.integers(0, 15), max_size=4),
    st.sampled_from([{"step": 1}, {"step": 3}, {"step": 2, "lateness": 3, "start": 0}]),
)
def test_every_life_is_told_as_by_the_reference(
    rules: list[str],
    window: Any,
    story: list[tuple[Any, ...]],
    strategy: str,
    specialise: bool,
    restarts: set[int],
    grid: dict[str, int],
) -> None:
    text = PREFIX + "\n".join(rules)
    note(f"{text}\n{window}\n{grid}\n" + "\n".join(map(str, story)))
    settings = {"window": window, **grid}
    try:
        expected = told(text, {**settings, "engine": "reference"}, story, set())
    except ProgramError:
        return
    by_kernel = {**settings, "strategy": strategy, "specialise": specialise}
    assert told(text, by_kernel, story, restarts) == expected
