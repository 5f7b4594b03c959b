"""Every regime under sliding windows: the native engine answers as the reference does, each tick.

It does so with the rules as they are written, and with the plan that is made of them, which is what
a reasoner runs.

The streams speak the regime's own vocabulary: a fact is an atom of some rule, with a few terms for
its variables, so that schema and instances, and the cells of lists, arrive and expire alike. Half
of them are from the premise of one rule, so that rules that ask for much conclude something too.
"""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.regimes.premise import examples

from ebbtide.engines.native import NativeEngine
from ebbtide.engines.planned import PlannedEngine
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.program import TRIPLE, Atom, Fact, Program, Variable
from ebbtide.program.reserved import LIST, is_event
from ebbtide.regimes import load, regimes
from ebbtide.terms import IRI, Literal, Term
from ebbtide.terms.term import RDF, XSD
from ebbtide.testing import Add, Tick, play, rows, show_rows
from ebbtide.testing.generate import STREAMS, streams
from ebbtide.testing.notation import EXAMPLE
from ebbtide.time import Sliding

# The reference takes up to a second for a tick of OWL 2 RL.
FEW_EXAMPLES = settings(max_examples=settings.default.max_examples // 5)

#: Regimes that are made to be used with another one.
TOGETHER = ("owl2rl,owl2rl-unsat", "rdf,datatypes,rdf-unsat", "p,swclos2,swclos2-unsat")

THINGS: tuple[Term, ...] = tuple(IRI(EXAMPLE + name) for name in "ABCD")
LITERALS: tuple[Term, ...] = (
    Literal("1", XSD + "integer"),
    Literal("01", XSD + "integer"),
    Literal("a"),
    Literal("a", XSD + "token"),
)
ANY = Atom(TRIPLE, tuple(map(Variable, "spo")))
LISTS = tuple(
    Atom(TRIPLE, arguments)
    for arguments in (
        (Variable("l"), IRI(RDF + "first"), Variable("x")),
        (Variable("l"), IRI(RDF + "rest"), Variable("m")),
        (Variable("l"), IRI(RDF + "rest"), IRI(RDF + "nil")),
    )
)


def facts(program: Program) -> st.SearchStrategy[Fact]:
    """Facts that rules of the program ask for."""
    asked = {atom for rule in program.written for atom in rule.positives}
    patterns = [ANY, *sorted((atom for atom in asked if atom.relation == TRIPLE), key=str)]
    if any(atom.relation == LIST for atom in asked):
        patterns += LISTS * 4
    return st.sampled_from(patterns).flatmap(_grounded)


@st.composite
def _grounded(draw: st.DrawFn, atom: Atom) -> Fact:
    """The atom as a fact; the object may be a literal."""
    terms: dict[Variable, Term] = {}
    for place, variable in enumerate(atom.arguments):
        if isinstance(variable, Variable):
            pool = (*THINGS * 3, *LITERALS) if place == 2 else THINGS
            terms.setdefault(variable, draw(st.sampled_from(pool)))
    return Fact(TRIPLE, tuple(terms[a] if isinstance(a, Variable) else a for a in atom.arguments))


@st.composite
def facts_for_a_rule(draw: st.DrawFn, program: Program) -> st.SearchStrategy[Fact]:
    """Facts of the program, and as many of those that set off one of its rules."""
    rule = draw(st.sampled_from(program.written))
    # Not the first ones alone: they differ in the terms that guards ask about.
    premises = [example.premise for example in islice(examples(program, rule), 3)]
    premise = draw(st.sampled_from(premises)) if premises else ()
    return st.one_of(facts(program), st.sampled_from(premise)) if premise else facts(program)


@pytest.mark.parametrize("names", [*(regime.name for regime in regimes()), *TOGETHER])
@FEW_EXAMPLES
@given(st.data())
def test_a_regime_agrees_with_the_reference_at_every_tick(names: str, data: st.DataObject) -> None:
    program = load(names)
    # A plan is made for the background that comes before the first tick.
    said = data.draw(facts_for_a_rule(program))
    background = data.draw(st.lists(said, max_size=4))
    story = [*map(Add, background), *data.draw(streams(said))]
    ranges = data.draw(st.tuples(st.integers(1, 8), st.integers(1, 8)))
    windows = {stream: Sliding(range) for stream, range in zip(STREAMS, ranges, strict=True)}
    note("  ".join(map(str, story)))
    oracle = ReferenceEngine(program, windows)
    written, planned = NativeEngine(program, windows), PlannedEngine(program, windows)
    told = {name for name in program.relations if name in program.visible or is_event(name)}
    for happening in story:
        expected = rows(play(oracle, [happening]))
        answered = rows(play(written, [happening]))
        play(planned, [happening])
        if isinstance(happening, Tick):
            assert show_rows(answered) == show_rows(expected), happening
            assert written.facts() == oracle.facts(), happening
            assert planned.facts(told) == oracle.facts(told), happening
