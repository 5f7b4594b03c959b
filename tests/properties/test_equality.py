"""Following what is said step by step concludes what Table 4 of OWL 2 RL does, until included.

The rules are those of docs/semantics/equality.md. The oracle is the reference engine with the rules
as the table has them. Statements, rules that conclude owl:sameAs, and rules whose variable
predicate may turn out to be owl:sameAs all say that terms are the same; even owl:sameAs itself may
be said to be the same as another property.
"""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import event, given
from hypothesis import strategies as st
from tests.conftest import MakeEngine
from tests.properties.test_engines_agree import across_engines, tell

from ebbtide.engines.reference import ReferenceEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.program import TRIPLE, Fact
from ebbtide.program.lists import SAME_AS
from ebbtide.terms import IRI, Term
from ebbtide.testing import Add, Happening, Push, Retract, Tick, play
from ebbtide.testing.generate import streams, windows
from ebbtide.testing.notation import EXAMPLE
from ebbtide.time import Window

PAGE = Path(__file__).parents[2] / "docs/semantics/equality.md"
STEP_BY_STEP = "\n".join(re.findall(r"```rules\n(.*?)```", PAGE.read_text(), re.DOTALL))
TABLE_4 = """
    [eq-sym:   (?x owl:sameAs ?y) -> (?y owl:sameAs ?x)]
    [eq-trans: (?x owl:sameAs ?y) (?y owl:sameAs ?z) -> (?x owl:sameAs ?z)]
    [eq-rep-s: (?s owl:sameAs ?t) (?s ?p ?o) -> (?t ?p ?o)]
    [eq-rep-p: (?p owl:sameAs ?q) (?s ?p ?o) -> (?s ?q ?o)]
    [eq-rep-o: (?o owl:sameAs ?t) (?s ?p ?o) -> (?s ?p ?t)]
"""
OTHERS = """
    @prefix ex: <http://example/>
    [functional: (?p a ex:Functional) (?x ?p ?y) (?x ?p ?z) -> (?y owl:sameAs ?z)]
    [sub:        (?p ex:sub ?q) (?x ?p ?y) -> (?x ?q ?y)]
    [inverse:    (?p ex:inverse ?q) (?x ?p ?y) -> (?y ?q ?x)]
    [transitive: (?p a ex:Transitive) (?x ?p ?y) (?y ?p ?z) -> (?x ?p ?z)]
    [value:      (?x a ex:Like) (?x ex:on ?p) (?x ex:value ?y) -> (?x ?p ?y)]
    [read:       (?x owl:sameAs ?y) (?y a ?c) -> (?x ex:twin ?c)]
"""
TWINS = """
    [functional.equated: (?p a ex:Functional) (?x ?p ?y) (?x ?p ?z) notEqual(?y ?z)
        -> _equated(?y ?z) _equated(?z ?y)]
    [sub.equated:        (?p ex:sub owl:sameAs) (?x ?p ?y) notEqual(?x ?y)
        notEqual(?p owl:sameAs) -> _equated(?x ?y) _equated(?y ?x)]
    [inverse.equated:    (?p ex:inverse owl:sameAs) (?x ?p ?y) notEqual(?x ?y)
        notEqual(?p owl:sameAs) -> _equated(?x ?y) _equated(?y ?x)]
    [value.equated:      (?x a ex:Like) (?x ex:on owl:sameAs) (?x ex:value ?y) notEqual(?x ?y)
        -> _equated(?x ?y) _equated(?y ?x)]
"""
BY_TABLE = parse_rules(TABLE_4 + OTHERS)
BY_STEPS = parse_rules(STEP_BY_STEP + OTHERS + TWINS)


def ex(name: str) -> IRI:
    return IRI(EXAMPLE + name)


THINGS: tuple[Term, ...] = tuple(map(ex, "ABCD"))
PROPERTIES: tuple[Term, ...] = (ex("p"), SAME_AS)
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def triples(
    subjects: tuple[Term, ...], predicates: tuple[Term, ...], objects: tuple[Term, ...]
) -> st.SearchStrategy[Fact]:
    parts = map(st.sampled_from, (subjects, predicates, objects))
    return st.tuples(*parts).map(lambda terms: Fact(TRIPLE, terms))


FACTS = st.one_of(
    triples(THINGS, (SAME_AS,), THINGS),
    triples(THINGS, (SAME_AS,), THINGS),
    triples(THINGS, (SAME_AS, ex("p"), ex("q")), THINGS),
    triples(THINGS[:1], (TYPE, ex("on"), ex("value")), (ex("Like"), SAME_AS, *THINGS)),
    triples(PROPERTIES, (ex("sub"), ex("inverse"), SAME_AS), PROPERTIES),
    triples(PROPERTIES, (TYPE,), (ex("Functional"), ex("Transitive"))),
)


def told_apart(happening: Happening) -> Happening:
    """The same, with statements of equality in their own relation."""
    if isinstance(happening, Tick) or happening.fact.terms[1] != SAME_AS:
        return happening
    subject, _, object_ = happening.fact.terms
    said = Fact("_said", (subject, object_))
    match happening:
        case Add():
            return Add(said)
        case Push(_, at, stream):
            return Push(said, at, stream)
        case Retract(_, at):
            return Retract(said, at)


# Count windows by groups of columns would group the two relations differently.
@across_engines
@given(windows(only_time=True), streams(FACTS))
def test_step_by_step_is_the_table(
    engine: MakeEngine, looking: dict[str, Window], story: list[Happening]
) -> None:
    tell(BY_STEPS, looking, story)
    by_steps, by_table = engine(BY_STEPS, looking), ReferenceEngine(BY_TABLE, looking)
    for happening in story:
        play(by_steps, [told_apart(happening)])
        play(by_table, [happening])
        if isinstance(happening, Tick):
            expected = by_table.facts()
            assert by_steps.facts([TRIPLE]) == expected
            equalities = sum(fact.terms[1] == SAME_AS for fact in expected)
            event(f"{min(equalities, 16) // 4 * 4} or more equalities")


@across_engines
@given(windows(), streams(FACTS))
def test_the_table_under_expiry_equals_the_naive_specification(
    other_engine: MakeEngine, looking: dict[str, Window], story: list[Happening]
) -> None:
    tell(BY_TABLE, looking, story)
    engine, oracle = other_engine(BY_TABLE, looking), ReferenceEngine(BY_TABLE, looking)
    for happening in story:
        play(engine, [happening])
        play(oracle, [happening])
        if isinstance(happening, Tick):
            assert engine.facts() == oracle.facts()
