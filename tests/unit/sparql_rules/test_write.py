"""Regimes as SPARQL: read back, they conclude what the regime does."""

from __future__ import annotations

import pytest

from ebbtide import Reasoner
from ebbtide.languages.jena import parse_rules
from ebbtide.languages.sparql_rules import parse_sparql_rules, write_sparql_rules
from ebbtide.program import Program
from ebbtide.regimes import find
from ebbtide.terms import Literal

DATA = b"""
@prefix : <http://e/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Dog rdfs:subClassOf :Pet . :Pet rdfs:subClassOf :Animal . :barksAt rdfs:domain :Dog ;
    rdfs:range :Thing ; rdfs:subPropertyOf :knows . :knows rdfs:subPropertyOf :sees .
:rex :barksAt :tom ; :age 5 . :tom a :Pet . :C a rdfs:Class . :D a rdfs:Datatype .
:near a owl:SymmetricProperty, owl:TransitiveProperty . :rex :near :tom . :a :near :rex .
:has owl:inverseOf :of . :rex :of :ann . :key a owl:InverseFunctionalProperty .
:x :key :k . :y :key :k . :p owl:equivalentProperty :q . :x :p :y .
"""


def closure(program: Program) -> set[str]:
    """What follows from the data, as far as RDF can say it."""
    reasoner = Reasoner(program, specialise=False)
    reasoner.parse(DATA, "ttl")
    reasoner.settle()
    return {str(fact) for fact in reasoner if not isinstance(fact.terms[0], Literal)}


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("rhodf", set()),
        ("rdfs", {"GrdfD1"}),
        ("rdfs-full", {"GrdfD1"}),
        ("rdfs-imars", set()),
        ("rdfs-sparkwave", set()),
        ("p", set()),
    ],
)
def test_a_regime_as_sparql(name: str, left_out: set[str]) -> None:
    regime = find(name)
    written = write_sparql_rules(regime.program)
    # What is left out gives types to literals, as subjects, which SPARQL cannot.
    assert set(written.left_out) == left_out
    rules = parse_sparql_rules(written.text)
    assert closure(rules.joined()) == closure(regime.program)


def test_every_kind_of_rule() -> None:
    rules = parse_rules("""
        @prefix ex: <http://e/>.
        [one: (?x ex:p ?y), isLiteral(?y), not (?x ex:q ?any) -> (?x ex:r ?y), (?x a ex:R)]
        [two: (?x ex:p ?y), notSameTerm(?x, ?y) -> (?x ex:s "a b"@en)]
        [three: (?x a ex:A), (?x a ex:B) -> false]
        [four: -> (ex:a ex:p 5)]
        [five: (?x ex:p ?y), sum(?y, 1, ?z) -> (?x ex:t ?z)]
        [six: (?x ex:p _:b) -> (?x ex:u ?x)]
    """)
    written = write_sparql_rules(rules)
    assert written.left_out == {
        "five": "SPARQL has no exact counterpart of sum",
        "six": "SPARQL cannot name the blank node _:b",
    }
    again = parse_sparql_rules(written.text)
    assert [rule.name for rule in again.joined().rules] == ["four", "one", "two", "three"]
    assert [str(rule) for rule in rules.rules[:1]] == [
        str(again.program.rules[0]).replace("?any:1", "?any")
    ]
