"""SPARQL rules conclude what oxigraph's updates insert, and every engine agrees with the reference.

A rule holds all the time, so its materialisation is the fixpoint of running the update again and
again. That is so with negation too, because rules are stratified: what an operation negates, it
does not conclude.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyoxigraph as ox
from hypothesis import HealthCheck, event, given, note, reject, settings
from hypothesis import strategies as st
from tests.conftest import MakeEngine
from tests.properties.sparql_operations import FACTS, PREFIXES, datasets, operations
from tests.properties.test_engines_agree import assert_same_ticks

from ebbtide import Reasoner
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.languages.sparql_rules import SparqlRules, parse_sparql_rules
from ebbtide.program import QUAD, TRIPLE, Fact, Program, ProgramError
from ebbtide.terms import parse_term
from ebbtide.testing import Happening
from ebbtide.testing.generate import streams, windows
from ebbtide.time import Window

#: What may be refused in generated texts, and nothing else.
REFUSED = (
    *("no strata", "is bound outside of EXISTS", "further out", "inside EXISTS", "SPARQL"),
    *("the pattern never binds", "nothing ever matches", "nothing of this template"),
)


def rules_of(text: str) -> SparqlRules:
    note(text)
    try:
        rules = parse_sparql_rules(PREFIXES + text)
    except ProgramError as error:
        if not any(reason in error.message for reason in REFUSED):
            raise
        event(f"refused: {error.message[:40]}")
        reject()
    note(str(rules.program))
    return rules


def materialised(rules: SparqlRules, facts: Iterable[Fact]) -> set[str]:
    """What a reasoner holds; that its engine agrees with the reference is tested below."""
    reasoner = Reasoner(Program(rules.program.rules, {**rules.program.relations, QUAD: 4}))
    reasoner.add_all(facts)
    reasoner.advance(to=0)
    return {str(fact) for fact in reasoner}


def updated(texts: Iterable[str], facts: Iterable[Fact]) -> set[str]:
    """What a store of oxigraph holds when its updates change nothing any more."""
    store = ox.Store()
    for fact in facts:
        store.add(ox.Quad(*(to_oxigraph(term.text) for term in fact.terms)))
    size = -1
    while len(store) != size:
        size = len(store)
        for text in texts:
            store.update(text)
    return {str(as_fact(quad)) for quad in store}


def to_oxigraph(text: str) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    term = parse_term(text)
    if text.startswith("<"):
        return ox.NamedNode(term.value)
    if text.startswith("_:"):
        return ox.BlankNode(term.label)
    if term.language:
        return ox.Literal(term.lexical, language=term.language)
    return ox.Literal(term.lexical, datatype=ox.NamedNode(term.datatype))


def as_fact(quad: ox.Quad) -> Fact:
    terms = [parse_term(str(term)) for term in (quad.subject, quad.predicate, quad.object)]
    if isinstance(quad.graph_name, ox.DefaultGraph):
        return Fact(TRIPLE, tuple(terms))
    return Fact(QUAD, (*terms, parse_term(str(quad.graph_name))))


@given(operations(), st.lists(datasets(), min_size=3, max_size=3))
def test_one_operation(text: str, many: list[frozenset[Fact]]) -> None:
    rules = rules_of(text)
    for facts in many:
        expected = updated([PREFIXES + text], facts)
        event(f"concludes something: {len(expected) > len(facts)}")
        assert materialised(rules, facts) == expected


@given(
    st.lists(operations(recursive=True), min_size=2, max_size=3),
    st.lists(datasets(), min_size=2, max_size=2),
)
def test_a_recursive_network(texts: list[str], many: list[frozenset[Fact]]) -> None:
    """Operations that read what others insert: the iteration of the updates to a fixpoint."""
    rules = rules_of(" ;\n".join(texts))
    for facts in many:
        expected = updated([PREFIXES + text for text in texts], facts)
        event(f"concludes something: {len(expected) > len(facts)}")
        assert materialised(rules, facts) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations(), windows(only_time=True), streams(FACTS))
def test_every_tick_equals_the_reference(
    other_engine: MakeEngine, text: str, looking: dict[str, Window], story: list[Happening]
) -> None:
    rules = rules_of(text)
    program = Program(rules.program.rules, {**rules.program.relations, QUAD: 4})
    assert_same_ticks(other_engine(program, looking), ReferenceEngine(program, looking), story)
