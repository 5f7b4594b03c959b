"""The facts that rules make of a pattern are the solutions that oxigraph finds for it.

As a set always, and one by one where `Lowered.counts` says so. One of the named graphs is in a
relation of its own, as a window of a query is.
"""

from __future__ import annotations

from collections import Counter

import pyoxigraph as ox
from hypothesis import event, given, note, reject
from hypothesis import strategies as st
from tests.properties.sparql_operations import EX, PREFIXES, datasets, patterns
from tests.properties.test_sparql_rules import REFUSED, to_oxigraph

from ebbtide import Reasoner
from ebbtide._kernel import sparql_query
from ebbtide.languages.sparql_rules import UNBOUND, CannotLower, lower_pattern
from ebbtide.program import QUAD, TRIPLE, Fact, Program, ProgramError
from ebbtide.terms import parse_term

GRAPHS = {f"<{EX}g>": "in_g"}
NAMES = ("x", "y", "z", "b1")


def solutions(text: str, facts: frozenset[Fact]) -> Counter[tuple[str, ...]]:
    """The rows of oxigraph, each as often as it has them."""
    store = ox.Store()
    for fact in facts:
        store.add(ox.Quad(*(to_oxigraph(term.text) for term in fact.terms)))
    rows = store.query(text)
    known = {variable.value for variable in rows.variables}
    return Counter(
        tuple(_text(row[name]) if name in known else UNBOUND.text for name in NAMES) for row in rows
    )


def _text(term: object) -> str:
    return UNBOUND.text if term is None else parse_term(str(term)).text


def moved(fact: Fact) -> Fact:
    """A fact where `GRAPHS` says that it is."""
    relation = GRAPHS.get(fact.terms[3].text) if fact.relation == QUAD else None
    return fact if relation is None else Fact(relation, fact.terms[:3])


@given(patterns(), st.lists(datasets(), min_size=2, max_size=2), st.booleans())
def test_solutions(pattern: str, many: list[frozenset[Fact]], witnesses: bool) -> None:
    text = f"{PREFIXES} SELECT * {{ {pattern} }}"
    note(pattern)
    try:
        _, _, algebra = sparql_query(text)
    except ValueError:
        reject()
    inner = algebra[1] if algebra[0] == "project" else algebra
    try:
        lowered = lower_pattern(inner, "answer", NAMES, graphs=GRAPHS, witnesses=witnesses)
        relations = {TRIPLE: 3, QUAD: 4, "in_g": 3, "answer": lowered.arity}
        program = Program(lowered.rules, relations)
    except (CannotLower, ProgramError) as error:
        if not any(reason in str(error) for reason in REFUSED):
            raise
        event("refused")
        reject()
    note(str(program))
    event(f"witnesses {witnesses}, counts {lowered.counts}")
    for facts in many:
        reasoner = Reasoner(program)
        reasoner.add_all(map(moved, facts))
        reasoner.advance(to=0)
        rows = [fact.terms for fact in reasoner if fact.relation == "answer"]
        found = Counter(tuple(term.text for term in row[: len(NAMES)]) for row in rows)
        expected = solutions(text, facts)
        event(f"answers: {bool(expected)}")
        assert found.keys() == expected.keys()
        if lowered.counts:
            assert found == expected
