"""Operations written by hand conclude what oxigraph's updates insert.

Each line of `operations.ru` is one operation. Its materialisation must equal the store after the
update was run until nothing changed any more.
"""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest
from tests.properties.test_sparql_rules import as_fact, materialised, updated

from ebbtide.languages.sparql_rules import parse_sparql_rules
from ebbtide.program import TRIPLE, Fact
from ebbtide.terms import parse_term

PREFIXES = """
PREFIX ex: <http://e/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
DATA = f"""{PREFIXES}
INSERT DATA {{
    ex:a ex:p ex:b . ex:b ex:p ex:c . ex:c ex:p ex:a .
    ex:a ex:v 1 . ex:b ex:v 2.5 . ex:c ex:v "x" .
    ex:d ex:q ex:a, "lit"@en, 7 .
    ex:a a ex:A . ex:b a ex:B .
    GRAPH ex:g {{ ex:x ex:p ex:a . ex:a ex:p ex:y }}
    GRAPH ex:h {{ ex:b ex:p ex:z }}
}}
"""
OPERATIONS = [
    line
    for line in Path(__file__).with_name("operations.ru").read_text().splitlines()
    if line and not line.startswith("#")
]


def background() -> list[Fact]:
    store = ox.Store()
    store.update(DATA)
    return [as_fact(quad) for quad in store]


@pytest.mark.parametrize("text", OPERATIONS)
def test_by_hand(text: str) -> None:
    rules = parse_sparql_rules(PREFIXES + text)
    expected = updated([PREFIXES + text], background())
    assert materialised(rules, background()) == expected, str(rules.program)


def test_construct_is_insert() -> None:
    text = "{ ?x ex:r ?z } WHERE { ?x ex:p ?y . ?y ex:p ?z FILTER(?x != ex:a) }"
    one, other = (
        parse_sparql_rules(f"{PREFIXES} {word} {text}") for word in ("CONSTRUCT", "INSERT")
    )
    assert one.program.rules[0].heads == other.program.rules[0].heads
    assert one.program.rules[0].body == other.program.rules[0].body


@pytest.mark.parametrize(
    "text",
    [
        "CONSTRUCT { ?x ex:r [ ex:s ?y ; ex:t ?x ] } WHERE { ?x ex:p ?y }",
        "CONSTRUCT { ?x ex:r _:n . _:n ex:s _:m . _:m ex:t ?y } WHERE { ?x ex:p ?y }",
        "CONSTRUCT { [] ex:s ?y } WHERE { ?x ex:v ?y FILTER(?y > 1) }",
        "CONSTRUCT { _:n ex:s ?y . _:n ex:t ?z } WHERE { { ?x ex:v ?y } UNION { ?z ex:q ?x } }",
        "CONSTRUCT { ?x ex:r (?y ?x) } WHERE { ?x ex:p ?y }",
        "CONSTRUCT { _:n ex:s ?w ; ex:t ?x } WHERE { ?x ex:v ?v BIND(?v + 1 AS ?w) }",
    ],
)
def test_one_blank_node_for_each_solution(text: str) -> None:
    """The conclusions are isomorphic to what oxigraph constructs."""
    store = ox.Store()
    store.update(DATA)
    expected = ox.Dataset(ox.Quad(*triple) for triple in store.query(PREFIXES + text))
    rules = parse_sparql_rules(PREFIXES + text)
    stated = {str(fact) for fact in background()}
    found = ox.Dataset()
    for fact in materialised(rules, background()) - stated:
        terms = fact.removeprefix(f"{TRIPLE}(").removesuffix(")").split(", ")
        found.add(ox.Quad(*(parse_oxigraph(term) for term in terms)))
    for dataset in (expected, found):
        dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    assert set(map(str, found)) == set(map(str, expected))


def parse_oxigraph(text: str) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    assert parse_term(text)
    (quad,) = ox.parse(f"<http://s> <http://p> {text} .", ox.RdfFormat.N_TRIPLES)
    return quad.object
