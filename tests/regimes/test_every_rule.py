"""Every rule of every regime has a test of its own, which fails when the rule is removed.

The premise is made from the rule's body and the conclusion is its heads (`premise.py`). With the
regime the conclusion holds; without the rule some of it does not. Where other rules of the regime
conclude the same from every premise, the rule is `REDUNDANT` and does this without them; that they
are enough is tested too.

`rules.txt` names the rules, so that the test of one that is gone from its file is still there.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import islice
from pathlib import Path
from typing import Final

import pytest
from tests.regimes.premise import Example, examples

from ebbtide.engines.native import NativeEngine
from ebbtide.engines.reference.closure import closure
from ebbtide.program import Fact, Program, Rule
from ebbtide.regimes import find, regimes
from ebbtide.time import FOREVER

# Equals are replaced by equals within owl:sameAs itself.
_P: Final = {"rdfp6": {"rdfp5a", "rdfp11"}, "rdfp7": {"rdfp5a", "rdfp11"}}

_PDSTAR: Final = {
    **_P,
    # Everything is the same as itself, so what holds of what is the same holds of itself ...
    "rdfs6": {"rdfp5a", "rdfp10"},
    "rdfs10": {"rdfp5a", "rdfp9-rdfs"},
    "rdfs10-owl": {"rdfp5a", "rdfp9"},
    # ... and what holds of itself holds of what is the same.
    "rdfp9": {"rdfs10-owl", "rdfp5a", "rdfp11"},
    "rdfp9-rdfs": {"rdfs10", "rdfp5a", "rdfp11"},
    "rdfp10": {"rdfs6", "rdfp5a", "rdfp11"},
    # What is the same as itself is a subject and an object, and a resource is a subject.
    "rdfs4a": {"rdfp5a", "rdfs4b"},
    "rdfs4b": {"rdfp5b", "rdfs4a"},
    "rdfp5b": {"rdfs4b", "rdfp5a"},
}

#: Rules that a regime has because its source does, and the rules that are enough without them.
REDUNDANT: Final[dict[str, dict[str, set[str]]]] = {
    # Members go up the hierarchy that the schema rules conclude from the same axioms.
    "owl2rl": {
        "prp-eqp1": {"scm-eqp1", "prp-spo1"},
        "prp-eqp2": {"scm-eqp1", "prp-spo1"},
        "cls-int2": {"scm-int", "cax-sco"},
        "cls-uni": {"scm-uni", "cax-sco"},
        "cax-eqc1": {"scm-eqc1", "cax-sco"},
        "cax-eqc2": {"scm-eqc1", "cax-sco"},
    },
    "p": _P,
    "pdstar": _PDSTAR,
    "pdstarsv": _PDSTAR,
    # Implicit typing is typing after a step up, and typing is implicit by the reflexive step.
    "rhodf": {
        "rhodf-4a": {"rhodf-6d-1", "rhodf-5a"},
        "rhodf-4b": {"rhodf-6d-2", "rhodf-5b"},
        "rhodf-5a": {"rhodf-2b", "rhodf-4a"},
        "rhodf-5b": {"rhodf-2b", "rhodf-4b"},
    },
    # The items of a list are objects of rdf:first.
    "swclos2": {"rule3": {"rule1b"}},
}

#: How many premises are tried for one of which the other rules do not conclude the same.
TRIED: Final = 24


#: A line for each rule of each regime, those of included regimes among them: regime and rule.
RULES: Final = [
    tuple(line.split())
    for line in Path(__file__).with_name("rules.txt").read_text(encoding="utf-8").splitlines()
]

every_rule = pytest.mark.parametrize(
    ("regime", "rule"), RULES, ids=[f"{regime}: {rule}" for regime, rule in RULES]
)


def test_the_list_names_every_rule() -> None:
    assert [(r.name, rule.name) for r in regimes() for rule in r.program.written] == RULES


@every_rule
def test_a_rule_concludes_what_no_other_does(regime: str, rule: str) -> None:
    program, removed = find(regime).program, named(regime, rule)
    apart = without(program, REDUNDANT.get(regime, {}).get(rule, set()))
    rest = without(apart, {rule})
    for example in few_examples(program, removed):
        concluded = set(example.conclusions)
        assert conclusions(native(apart, example), example) == concluded
        if conclusions(native(rest, example), example) < concluded:
            return
    pytest.fail("no premise sets it off, or the other rules conclude the same from each")


@pytest.mark.parametrize(
    ("regime", "rule"), [(regime, rule) for regime in REDUNDANT for rule in REDUNDANT[regime]]
)
def test_other_rules_conclude_the_same(regime: str, rule: str) -> None:
    program = find(regime).program
    others = [other for other in program.written if other.name in REDUNDANT[regime][rule]]
    for example in few_examples(program, named(regime, rule)):
        engine = native(Program(others), example)
        assert conclusions(engine, example) == set(example.conclusions)


@every_rule
def test_the_reference_concludes_the_same(regime: str, rule: str) -> None:
    program = find(regime).program
    example = few_examples(program, named(regime, rule))[0]
    assert native(program, example).facts() == closure(
        program, dict.fromkeys(example.premise, FOREVER)
    )


def named(regime: str, rule: str) -> Rule:
    found = [each for each in find(regime).program.written if each.name == rule]
    assert found, f"{regime} has no rule {rule}"
    return found[0]


def without(program: Program, removed: Container[str]) -> Program:
    rest = [rule for rule in program.written if rule.name not in removed]
    return Program(rest, program.relations)


def few_examples(program: Program, rule: Rule) -> list[Example]:
    return list(islice(examples(program, rule), TRIED))


def native(program: Program, example: Example) -> NativeEngine:
    engine = NativeEngine(program, {})
    for fact in example.premise:
        engine.add(fact)
    engine.advance(0)
    return engine


def conclusions(engine: NativeEngine, example: Example) -> set[Fact]:
    """Those of the example that the engine concludes."""
    return {fact for fact in example.conclusions if engine.until(fact) is not None}
