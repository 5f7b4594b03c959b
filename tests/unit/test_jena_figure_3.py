"""The RDFS rules of the paper's figure 3, in Jena's syntax: what is read, and what follows."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import MakeEngine

from ebbtide.languages.jena import load_rules
from ebbtide.languages.jena.terms import WELL_KNOWN
from ebbtide.program import Fact
from ebbtide.terms import IRI
from ebbtide.time import Sliding

HERE = Path(__file__).parent.parent / "cases" / "jena"
EX = "http://example/"


def short(text: str) -> str:
    for prefix, iri in {**WELL_KNOWN, "": EX}.items():
        text = text.replace(f"<{iri}", f"<{prefix}:")
    return text


def test_what_is_read() -> None:
    program = load_rules(HERE / "figure-3.rules")
    read = "".join(f"{rule.name}: {short(str(rule))}\n" for rule in program.rules)
    assert read == (HERE / "figure-3.golden").read_text()
    assert program.strata == (0,) * 11


def fact(subject: str, predicate: str, object_: str) -> Fact:
    def term(name: str) -> IRI:
        prefix, found, local = name.partition(":")
        return IRI(WELL_KNOWN[prefix] + local if found else EX + name)

    return Fact.triple(term(subject), term(predicate), term(object_))


def test_what_follows(engine: MakeEngine) -> None:
    made = engine(load_rules(HERE / "figure-3.rules"), {"default": Sliding(10)})
    made.add(fact("teaches", "rdfs:subPropertyOf", "knows"))
    made.add(fact("knows", "rdfs:range", "Person"))
    made.add(fact("Person", "rdf:type", "rdfs:Class"))
    made.add(fact("Person", "rdfs:subClassOf", "Agent"))
    made.push(fact("ann", "teaches", "bob"), 3)
    made.advance(2)
    before = made.facts()
    made.advance(3)
    new = {held: until for held, until in made.facts().items() if held not in before}
    follows = (
        fact("ann", "teaches", "bob"),
        fact("ann", "knows", "bob"),
        fact("bob", "rdf:type", "Person"),
        fact("bob", "rdf:type", "Agent"),
        fact("ann", "rdf:type", "rdfs:Resource"),
        fact("bob", "rdf:type", "rdfs:Resource"),
        fact("teaches", "rdf:type", "rdf:Property"),
        fact("knows", "rdf:type", "rdf:Property"),
        fact("teaches", "rdfs:subPropertyOf", "teaches"),
        fact("knows", "rdfs:subPropertyOf", "knows"),
    )
    assert new == dict.fromkeys(follows, 13)
    made.advance(13)
    assert made.facts() == before
