"""Relevance: what is wanted decides which rules run, and nothing about the wanted answers."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ebbtide import Reasoner
from ebbtide.engines.native import NativeEngine
from ebbtide.engines.planned import PlannedEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.plan.plan import Fate
from ebbtide.testing.workloads.lubm import UB, ontology
from ebbtide.testing.workloads.lubm.queries import QUERIES

A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SUB = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
DOMAIN = "<http://www.w3.org/2000/01/rdf-schema#domain>"
ANN, KNOWS, BOB, PERSON, DEAN = (
    f"<e:{name}>" for name in ("ann", "knows", "bob", "Person", "Dean")
)


def engine_of(reasoner: Reasoner) -> PlannedEngine:
    assert isinstance(reasoner.engine, PlannedEngine)
    return reasoner.engine


def kept(reasoner: Reasoner) -> set[str]:
    engine = engine_of(reasoner)
    assert len(engine.native) == 0
    return {each.rule.name for each in engine.plan.verdicts if each.fate is Fate.KEPT}


def test_only_rules_that_contribute_run() -> None:
    reasoner = Reasoner("owl2rl", wanted=[(None, A, PERSON)])
    reasoner.add_all([(DEAN, SUB, PERSON), (KNOWS, DOMAIN, PERSON)])
    # Literals that are equal may make any two things the same.
    assert {name for name in kept(reasoner) if not name.startswith("dt-eq")} == {
        "cax-sco",
        "prp-dom",
    }
    reasoner.add((ANN, A, DEAN))
    reasoner.settle()
    assert (ANN, A, PERSON) in reasoner


def test_schema_wakes_the_rules_that_sleep() -> None:
    reasoner = Reasoner("owl2rl", wanted=[(None, A, PERSON)])
    reasoner.add((DEAN, SUB, PERSON))
    reasoner.advance(to=0)
    reasoner.push((KNOWS, DOMAIN, DEAN), at=500)
    reasoner.push((ANN, KNOWS, BOB), at=500)
    reasoner.finish()
    assert (ANN, A, PERSON) in reasoner


def test_nothing_is_wanted_of_other_relations() -> None:
    rules = "[far: (?x <e:near> ?y) -> (?y <e:near> ?x)] [age: (?x <e:age> ?n) -> (?x a <e:Old>)]"
    reasoner = Reasoner(rules, wanted=[(None, "<e:near>", None)])
    reasoner.add_all([(ANN, "<e:near>", BOB), (ANN, "<e:age>", 7)])
    reasoner.settle()
    assert (BOB, "<e:near>", ANN) in reasoner
    assert (ANN, A, "<e:Old>") not in reasoner


def chain(length: int) -> Iterable[tuple[str, str, str]]:
    yield ANN, A, "<e:C0>"
    yield from ((f"<e:C{n}>", SUB, f"<e:C{n + 1}>") for n in range(length))


def test_a_chain_of_subclasses_costs_its_length() -> None:
    derivations = []
    for length in (400, 800):
        reasoner = Reasoner("owl2rl", wanted=[(None, A, None)])
        reasoner.add_all(chain(length))
        reasoner.settle()
        assert (ANN, A, f"<e:C{length}>") in reasoner
        native: NativeEngine = engine_of(reasoner).native
        derivations.append(native.stats()["derivations"])
    assert derivations[1] < 2.2 * derivations[0]


LUBM_ALL = {
    *("cax-sco", "prp-dom", "prp-rng", "prp-trp", "prp-spo1", "prp-inv1", "prp-inv2"),
    *("cls-int1", "cls-svf1"),
}
LUBM_FEW = {
    "q1": {"cax-sco"},
    "q2": LUBM_ALL - {"prp-dom", "cls-int1", "cls-svf1"},
    "q3": {"cax-sco", "prp-dom", "prp-rng"},
    "q11": {"cax-sco", "prp-dom", "prp-trp"},
    "q14": {"cax-sco"},
}


@pytest.mark.parametrize("queries", [*([name] for name in QUERIES), list(QUERIES)], ids=",".join)
def test_the_rules_that_lubm_needs_are_found(queries: list[str]) -> None:
    """The table of docs/plan.md."""
    patterns = " ".join(QUERIES[name][0] for name in queries)
    (rule,) = parse_rules(f"@prefix ub: <{UB}> . [{patterns} -> (<x:a> <x:b> <x:c>)]").rules
    reasoner = Reasoner("owl2rl", wanted=rule.positives)
    reasoner.add_all(ontology())
    found = {name for name in kept(reasoner) if not name.startswith("dt-eq")}
    assert found == LUBM_FEW.get(",".join(queries), LUBM_ALL)
