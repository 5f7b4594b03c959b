"""A clique of equal terms: what equality costs, by the rules of the table and step by step.

Each term has a few properties of its own, so a clique of n terms with k properties each has n * n
equalities and k * n * n facts about them. The equalities are stated as a chain, or as a star around
one term. Two programs conclude the same facts:

    owl2rl         the regime: every fact is derived anew for every equal term, n * n * n times
    step by step   the rules of docs/semantics/equality.md, for a source that tells stated
                   equalities apart: every fact is derived once for each neighbour
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.imars.settings import Say
from ebbtide.benches.regimes.contenders import Stopwatch
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Measurement, Results
from ebbtide.engines.native import NativeEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.program import Fact, Program
from ebbtide.regimes import load
from ebbtide.terms import IRI

PROPERTIES: Final = 3
SHAPES: Final = ("chain", "star")

SAME_AS: Final = IRI("http://www.w3.org/2002/07/owl#sameAs")
SAID: Final = "_said"
STEP_BY_STEP: Final = """
@relation _said/2 .
[stated:   _said(?x ?y) -> (?x owl:sameAs ?y)]
[equated:  _said(?x ?y) notEqual(?x ?y) -> _equated(?x ?y) _equated(?y ?x)]
[eq-sym:   _equated(?x ?y) -> (?x owl:sameAs ?y)]
[eq-trans: (?x owl:sameAs ?y) _equated(?y ?z) -> (?x owl:sameAs ?z)]
[eq-rep-s: _equated(?s ?t) (?s ?p ?o) notEqual(?p owl:sameAs) -> (?t ?p ?o)]
[eq-rep-p: _equated(?p ?q) (?s ?p ?o) -> (?s ?q ?o)]
[eq-rep-o: _equated(?o ?t) (?s ?p ?o) notEqual(?p owl:sameAs) -> (?s ?p ?t)]
"""


def measure_clique(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Processor seconds for cliques of some sizes, with the facts and derivations of each."""
    programs = (
        ("owl2rl", load("owl2rl"), settings.cliques_by_table),
        ("step by step", parse_rules(STEP_BY_STEP), settings.cliques_by_steps),
    )
    for name, program, sizes in programs:
        for terms in sizes:
            for shape in SHAPES:
                say(f"clique: {terms:,} terms as a {shape}, {name}")
                results.extend([_measurement(settings, name, program, shape, terms)])


def clique(program: Program, shape: str, terms: int) -> NativeEngine:
    """An engine that was told a clique, and has not evaluated it yet."""
    engine = NativeEngine(program, {})
    for one, other in _pairs(shape, terms):
        if SAID in program.relations:
            engine.add(Fact(SAID, (one, other)))
        else:
            engine.add(Fact.triple(one, SAME_AS, other))
    for number in range(terms):
        for property_ in range(PROPERTIES):
            value = IRI(f"http://example/value/{number}/{property_}")
            engine.add(
                Fact.triple(_term(number), IRI(f"http://example/property/{property_}"), value)
            )
    return engine


def _pairs(shape: str, terms: int) -> Iterator[tuple[IRI, IRI]]:
    for number in range(1, terms):
        yield _term(number - 1 if shape == "chain" else 0), _term(number)


def _term(number: int) -> IRI:
    return IRI(f"http://example/term/{number}")


def _measurement(
    settings: Settings, name: str, program: Program, shape: str, terms: int
) -> Measurement:
    seconds = []
    for _ in range(settings.rounds):
        engine = clique(program, shape, terms)
        with no_collector():
            watch = Stopwatch()
            engine.evaluate(0)
            seconds.append(watch.lap())
    stats = engine.stats()
    return Measurement(
        "clique",
        {
            "rules": name,
            "terms": terms,
            "stated as": shape,
            "facts": stats["facts"],
            "derivations": stats["derivations"],
        },
        median(seconds),
        "s",
    )
