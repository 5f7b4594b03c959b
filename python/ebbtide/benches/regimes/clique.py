"""A clique of equal terms: what equality costs under the shipped regime, planned and as written.

Each term has a few properties of its own, so a clique of n terms with k properties each has n * n
equalities and k * n * n facts about them. The terms are equal because of a chain of statements, of
a star around one term, or because they are the values of a functional property. A regime runs

    planned      as users run it: equality step by step (docs/semantics/equality.md)
    as written   every fact is derived anew for every equal term, n * n * n times; under pD*, which
                 replaces two terms at once, n * n * n * n times, so it is shown for few terms
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.regimes.contenders import Stopwatch
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Measurement, Results, Say
from ebbtide.engines.native import NativeEngine
from ebbtide.engines.planned import PlannedEngine
from ebbtide.plan.schema import TYPE
from ebbtide.program import Fact
from ebbtide.program.lists import SAME_AS
from ebbtide.regimes import load
from ebbtide.terms import IRI

PROPERTIES: Final = 3
SHAPES: Final = ("chain", "star", "functional property")

_EXAMPLE: Final = "http://example/"
_FUNCTIONAL: Final = IRI("http://www.w3.org/2002/07/owl#FunctionalProperty")


def measure_clique(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Processor seconds for cliques of some sizes, with the facts and derivations of each."""
    few = settings.cliques_as_written
    for regime, as_written in (("owl2rl", few), ("pdstar", few[:1])):
        for planned, sizes in ((True, settings.cliques), (False, as_written)):
            how = "planned" if planned else "as written"
            for terms in sizes:
                for shape in SHAPES:
                    say(f"clique: {terms:,} terms by a {shape}, {regime}, {how}")
                    results.add(_measurement(settings, regime, planned, shape, terms))


def clique(
    shape: str, terms: int, *, planned: bool, regime: str = "owl2rl"
) -> PlannedEngine | NativeEngine:
    """An engine that was told a clique, and has not evaluated it yet."""
    program = load(regime)
    engine = PlannedEngine(program, {}) if planned else NativeEngine(program, {})
    for fact in (*_equalities(shape, terms), *_properties(terms)):
        engine.add(fact)
    return engine


def _equalities(shape: str, terms: int) -> Iterator[Fact]:
    if shape == "functional property":
        property_ = IRI(_EXAMPLE + "functional")
        yield Fact.triple(property_, TYPE, _FUNCTIONAL)
        for number in range(terms):
            yield Fact.triple(IRI(_EXAMPLE + "thing"), property_, _term(number))
    else:
        for number in range(1, terms):
            other = number - 1 if shape == "chain" else 0
            yield Fact.triple(_term(other), SAME_AS, _term(number))


def _properties(terms: int) -> Iterator[Fact]:
    for number in range(terms):
        for property_ in range(PROPERTIES):
            value = IRI(f"{_EXAMPLE}value/{number}/{property_}")
            yield Fact.triple(_term(number), IRI(f"{_EXAMPLE}property/{property_}"), value)


def _term(number: int) -> IRI:
    return IRI(f"{_EXAMPLE}term/{number}")


def _measurement(
    settings: Settings, regime: str, planned: bool, shape: str, terms: int
) -> Measurement:
    seconds = []
    for _ in range(settings.rounds):
        engine = clique(shape, terms, planned=planned, regime=regime)
        with no_collector():
            watch = Stopwatch()
            engine.evaluate(0)
            seconds.append(watch.lap())
    native = engine.native if isinstance(engine, PlannedEngine) else engine
    stats = native.stats()
    return Measurement(
        "clique",
        {
            "regime": regime,
            "rules": "planned" if planned else "as written",
            "terms": terms,
            "equal by": shape,
            "facts": stats["facts"],
            "derivations": stats["derivations"],
        },
        median(seconds),
        "s",
    )
