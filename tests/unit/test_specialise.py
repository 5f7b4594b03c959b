"""What rules become for a known schema."""

from __future__ import annotations

from ebbtide.engines.planned import close
from ebbtide.languages.jena import parse_rules
from ebbtide.plan.make import make_plan
from ebbtide.program import Fact, Program

PREFIXES = {
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs:",
    "http://www.w3.org/2002/07/owl#": "owl:",
    "http://e/": "",
}
SUB = "[sub: (?c rdfs:subClassOf ?d) (?x a ?c) -> (?x a ?d)]"
TRANSITIVE = """
    [scm-sco: (?c rdfs:subClassOf ?d) (?d rdfs:subClassOf ?e) -> (?c rdfs:subClassOf ?e)]"""
INTERSECTION = """
    [first: (?c owl:intersectionOf ?l) list(?l 0 ?d) (?x a ?d) -> _in(?x ?l 0)]
    [next:  _in(?x ?l ?i) listNext(?i ?j) list(?l ?j ?d) (?x a ?d) -> _in(?x ?l ?j)]
    [int:   (?c owl:intersectionOf ?l) _in(?x ?l ?i) listNext(?i ?n) listLength(?l ?n)
            -> (?x a ?c)]"""


def short(text: str) -> str:
    for long, prefix in PREFIXES.items():
        text = text.replace(long, prefix)
    return text.replace("<", "").replace(">", "").replace(", not schema:retracted()", "")


def schema(text: str) -> list[Fact]:
    """`A subClassOf B; p domain A` as facts."""
    facts = []
    for statement in text.split(";"):
        subject, predicate, object_ = statement.split()
        facts.append(Fact.triple(iri(subject), iri(predicate), iri(object_)))
    return facts


def iri(name: str) -> str:
    for long, prefix in PREFIXES.items():
        if prefix and name.startswith(prefix):
            return f"<{name.replace(prefix, long, 1)}>"
    return f"<http://e/{name}>"


def forms(rules: str | Program, known: str) -> list[str]:
    """What the rules become for data, without what is there for novel schema."""
    written = parse_rules(rules) if isinstance(rules, str) else rules
    plan = make_plan(written, schema(known), close)
    return sorted(
        short(f"{rule.name}: {rule}")
        for rule in plan.program.rules
        if any(part.atom.relation == "schema:retracted" for part in rule.negations)
    )


def test_a_rule_has_a_form_for_each_match_of_its_schema() -> None:
    known = "A rdfs:subClassOf B; C rdfs:subClassOf D"
    assert forms(SUB, known) == [
        "sub: triple(?x, rdf:type, B) :- triple(?x, rdf:type, A).",
        "sub: triple(?x, rdf:type, D) :- triple(?x, rdf:type, C).",
    ]


def test_forms_are_for_what_follows_from_the_schema_too() -> None:
    rules = SUB + "[eqc: (?c owl:equivalentClass ?d) -> (?c rdfs:subClassOf ?d)]"
    assert forms(rules, "A owl:equivalentClass B") == [
        "sub: triple(?x, rdf:type, B) :- triple(?x, rdf:type, A)."
    ]


def test_a_form_that_says_nothing_is_left_out() -> None:
    assert forms(SUB, "A rdfs:subClassOf A; A rdfs:subClassOf B") == [
        "sub: triple(?x, rdf:type, B) :- triple(?x, rdf:type, A)."
    ]


def test_a_form_that_follows_from_others_is_left_out() -> None:
    known = "A rdfs:subClassOf B; B rdfs:subClassOf C; C rdfs:subClassOf D"
    assert forms(SUB + TRANSITIVE, known) == [
        "sub: triple(?x, rdf:type, B) :- triple(?x, rdf:type, A).",
        "sub: triple(?x, rdf:type, C) :- triple(?x, rdf:type, B).",
        "sub: triple(?x, rdf:type, D) :- triple(?x, rdf:type, C).",
    ]


def test_tests_of_the_schema_are_made_beforehand() -> None:
    rules = "[sub: (?c rdfs:subClassOf ?d) notEqual(?c ?d) (?x a ?c) notLiteral(?x) -> (?x a ?d)]"
    assert forms(rules, "A rdfs:subClassOf A; A rdfs:subClassOf B") == [
        "sub: triple(?x, rdf:type, B) :- triple(?x, rdf:type, A), notLiteral(?x)."
    ]


def test_an_intersection_becomes_one_join() -> None:
    known = """C owl:intersectionOf K; K rdf:first A; K rdf:rest L; L rdf:first B; L rdf:rest M;
               M rdf:first D; M rdf:rest rdf:nil"""
    assert forms(INTERSECTION, known) == [
        "int: triple(?x, rdf:type, C) :- triple(?x, rdf:type, D), triple(?x, rdf:type, B), "
        "triple(?x, rdf:type, A)."
    ]


def test_a_property_chain_becomes_one_join() -> None:
    rules = """
        [first: (?p owl:propertyChainAxiom ?l) list(?l 0 ?q) (?x ?q ?y) -> _chain(?l 0 ?x ?y)]
        [next: _chain(?l ?i ?x ?y) listNext(?i ?j) list(?l ?j ?q) (?y ?q ?z) -> _chain(?l ?j ?x ?z)]
        [chain: (?p owl:propertyChainAxiom ?l) _chain(?l ?i ?x ?y) listNext(?i ?n) listLength(?l ?n)
                -> (?x ?p ?y)]"""
    known = """uncle owl:propertyChainAxiom K; K rdf:first parent; K rdf:rest L;
               L rdf:first brother; L rdf:rest rdf:nil"""
    assert forms(rules, known) == [
        "chain: triple(?x, uncle, ?y) :- triple(?y2, brother, ?y), triple(?x, parent, ?y2)."
    ]


def test_helpers_that_are_told_otherwise_stay() -> None:
    rules = INTERSECTION + "[other: (?l <http://e/has> ?x) -> _in(?x ?l 0)]"
    known = "C owl:intersectionOf K; K rdf:first A; K rdf:rest rdf:nil"
    zero = '"0"^^http://www.w3.org/2001/XMLSchema#integer'
    assert forms(rules, known) == [
        f"first: _in(?x, K, {zero}) :- triple(?x, rdf:type, A).",
        f"int: triple(?x, rdf:type, C) :- _in(?x, K, {zero}).",
    ]


def test_helpers_in_a_circle_stay() -> None:
    rules = """
        [start: (?p a owl:TransitiveProperty) (?x ?p ?y) -> _reach(?p ?x ?y)]
        [step: (?p a owl:TransitiveProperty) _reach(?p ?x ?y) (?y ?p ?z) -> _reach(?p ?x ?z)]
        [end: (?p a owl:TransitiveProperty) _reach(?p ?x ?y) -> (?x ?p ?y)]"""
    assert forms(rules, "in rdf:type owl:TransitiveProperty") == [
        "end: triple(?x, in, ?y) :- _reach(in, ?x, ?y).",
        "start: _reach(in, ?x, ?y) :- triple(?x, in, ?y).",
        "step: _reach(in, ?x, ?z) :- _reach(in, ?x, ?y), triple(?y, in, ?z).",
    ]


def test_what_is_inconsistent_by_the_schema() -> None:
    rules = "[dw: (?c owl:disjointWith ?d) (?x a ?c) (?x a ?d) -> false]"
    assert forms(rules, "A owl:disjointWith B") == [
        "dw: inconsistency:dw(A, B, ?x) :- triple(?x, rdf:type, A), triple(?x, rdf:type, B)."
    ]


def test_negations_stay() -> None:
    rules = "[r: (?p rdfs:domain ?c) (?x ?p ?y) not (?x a ?c) -> (?x <http://e/lacks> ?c)]"
    assert forms(rules, "p rdfs:domain A") == [
        "r: triple(?x, lacks, A) :- triple(?x, p, ?y), not triple(?x, rdf:type, A)."
    ]


def test_rules_without_schema_stay_as_they_are() -> None:
    written = parse_rules("[r: (?x <http://e/p> ?y) -> (?y <http://e/q> ?x)]")
    assert make_plan(written, schema("A rdfs:subClassOf B"), close).program is written


def test_a_predicate_with_very_many_facts_is_no_schema() -> None:
    many = ";".join(f"C{i} rdfs:subClassOf D" for i in range(1_001))
    written = parse_rules(SUB)
    assert make_plan(written, schema(many), close).program is written
    assert len(forms(SUB, many.partition(";")[2])) == 1_000


def test_a_schema_from_which_too_much_follows_is_not_worked_out() -> None:
    chain = ";".join(f"C{i} rdfs:subClassOf C{i + 1}" for i in range(600))
    written = parse_rules(SUB + TRANSITIVE)
    assert make_plan(written, schema(chain), close).program is written
