"""Patterns as rules with a relation of answers: graphs of their own, witnesses, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import Reasoner
from ebbtide._kernel import sparql_query
from ebbtide.languages.sparql_rules import CannotLower, Lowered, lower_pattern
from ebbtide.languages.sparql_rules.helpers import Helpers
from ebbtide.program import Fact, Origin, Program, Rule
from ebbtide.time import Sliding


def pattern(text: str) -> Any:
    """The algebra of a WHERE, without the projection to all of its variables."""
    _, _, algebra = sparql_query(f"PREFIX e: <e:> SELECT * {{ {text} }}")
    return algebra[1] if algebra[0] == "project" else algebra


def lower(text: str, *variables: str, **options: Any) -> Lowered:
    return lower_pattern(pattern(text), "answer", variables, **options)


def shown(rules: tuple[Rule, ...]) -> list[str]:
    return [str(rule) for rule in rules]


def test_answers_carry_until() -> None:
    lowered = lower("?s e:v ?v FILTER(?v > 2)", "s", "v")
    reasoner = Reasoner(Program(lowered.rules), window=Sliding(10), step=1)
    reasoner.push(("<e:a>", "<e:v>", 3), at=1)
    reasoner.push(("<e:a>", "<e:v>", 2), at=1)
    reasoner.advance(to=1)
    assert reasoner.until(Fact.of("answer", "<e:a>", 3)) == 11
    assert [fact for fact in reasoner if fact.relation == "answer"] == [
        Fact.of("answer", "<e:a>", 3)
    ]


def test_names_and_origins() -> None:
    origin = Origin("q.rq", 3, 7)
    lowered = lower("{ ?x e:p ?y } UNION { ?y e:p+ ?x }", "x", name="q", origin=origin)
    assert [rule.name for rule in lowered.rules] == ["q.1", "q.2", "q.path1", "q.path2"]
    assert {rule.origin for rule in lowered.rules} == {origin}


def test_a_graph_can_be_a_relation() -> None:
    graphs = {None: "all", "<e:w>": "narrow"}
    lowered = lower(
        "?x e:p ?y GRAPH e:w { ?y e:q* ?z } GRAPH e:g { ?z e:r ?x }", "x", graphs=graphs
    )
    first = lowered.rules[0]
    assert [atom.relation for atom in first.positives][:1] == ["all"]
    assert "quad(?y, <e:r>, ?x, <e:g>)" in str(first)
    assert any("narrow(?path:x" in str(rule) for rule in lowered.rules)
    assert not any("triple(" in str(rule) for rule in lowered.rules)


def test_a_variable_graph_is_each_of_them() -> None:
    lowered = lower("GRAPH ?g { ?x e:p ?y }", "g", "x", graphs={"<e:w>": "narrow"})
    assert shown(lowered.rules) == [
        "answer(?g, ?x) :- quad(?x, <e:p>, ?y, ?g).",
        "answer(<e:w>, ?x) :- narrow(?x, <e:p>, ?y).",
    ]


def test_witnesses_keep_solutions_apart() -> None:
    text = "{ ?x e:p ?y } UNION { ?x e:q ?z . ?z e:r ?y }"
    assert not lower(text, "x").counts
    lowered = lower(text, "x", witnesses=True)
    assert lowered.counts
    assert lowered.arity == 4
    assert shown(lowered.rules) == [
        'answer(?x, ?y, <urn:ebbtide:unbound>, "1") :- triple(?x, <e:p>, ?y).',
        'answer(?x, ?z, ?y, "2") :- triple(?x, <e:q>, ?z), triple(?z, <e:r>, ?y).',
    ]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("?x e:p ?y", True),
        ("?x e:p ?y . ?y e:p ?z", False),
        ("?x e:p/e:q ?y", False),
        ("?x e:p ?y FILTER(?y > 1) BIND(?y + 1 AS ?z)", False),  # two rules: with ?z, without
        ("?x e:p ?y FILTER NOT EXISTS { ?y e:q ?z }", True),
        ("?x e:p ?y FILTER EXISTS { ?y e:q ?z }", False),
        ("?x e:p* ?y", False),
        ("?x e:p+ ?y", True),
    ],
)
def test_counts(text: str, counts: bool) -> None:
    assert lower(text, "x", "y").counts is counts


def test_helpers_can_be_shared() -> None:
    helpers = Helpers()
    one = lower("?x e:p+ ?y", "x", "y", helpers=helpers)
    with pytest.raises(CannotLower):
        lower("?x e:q+ ?y { SELECT ?x { ?x e:p ?z } LIMIT 1 }", "x", helpers=helpers)
    other = lower("?x e:q+/e:p+ ?y", "x", "y", helpers=helpers)
    assert len(dict.fromkeys((*one.rules, *other.rules))) == 2 + 2 + 2
    assert Program(dict.fromkeys((*one.rules, *other.rules)))


@pytest.mark.parametrize(
    ("text", "node", "reason"),
    [
        ("{ SELECT ?x { ?x e:p ?y } ORDER BY ?y LIMIT 3 }", "slice", "LIMIT cuts an order"),
        ("{ SELECT ?x { ?x e:p ?y } ORDER BY ?y }", "order_by", "ORDER cuts an order"),
        ("{ SELECT (COUNT(*) AS ?n) { ?x e:p ?y } }", "group", "GROUP aggregates rows"),
        ("?x e:p ?y SERVICE e:s { ?x e:q ?y }", "service", "SERVICE asks another server"),
        ("?x e:p ?y FILTER(?y < NOW())", "filter", "NOW gives another value at every"),
        ("?x e:p ?y BIND(BNODE() AS ?b)", "extend", "BNODE makes a node a row"),
        ("?x e:p ?y FILTER(e:f(?y))", "filter", "the function <e:f> is not known"),
    ],
)
def test_what_cannot_be_lowered(text: str, node: str, reason: str) -> None:
    with pytest.raises(CannotLower) as caught:
        lower(f"?x e:q ?y . {text}", "x")
    assert caught.value.reason.startswith(reason)
    assert caught.value.pattern is not None
    assert caught.value.pattern[0] == node
