"""A chain of subclasses with one instance, under OWL 2 RL, where types are wanted.

The instance has as many types as the chain is long. What the chain entails about classes alone is
quadratic, and redundant for types (docs/plan.md), so the cost should be linear: the seconds a class
are compared with those of the shortest chain.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from statistics import median
from typing import Final

import pyarrow as pa
import pyarrow.compute

from ebbtide.benches.regimes.contenders import Stopwatch
from ebbtide.benches.regimes.materialise import table_of, told
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say
from ebbtide.plan.schema import RDFS, TYPE
from ebbtide.program import TRIPLE, Atom, Variable
from ebbtide.regimes import load

# Seconds a class, against the shortest chain; caches are not the algorithm's.
LINEAR: Final = Goal("at most", 3)
WANTED: Final = [Atom(TRIPLE, (Variable("x"), TYPE, Variable("c")))]


def measure_chain(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Processor seconds for chains of some lengths."""
    shortest: float | None = None
    for length in settings.chains:
        seconds = []
        for number in range(settings.rounds):
            say(f"chain: {length:,} subclasses, round {number + 1} of {settings.rounds}")
            seconds.append(_seconds(length))
        a_class = median(seconds) / length
        shortest = shortest or a_class
        results.add(
            Measurement(
                "chain",
                {"subclasses": length, "rounds": settings.rounds},
                median(seconds),
                "s",
                ratio=a_class / shortest,
                ratio_of="seconds a class / those of the shortest chain",
                goal=LINEAR,
            )
        )


def chain(length: int) -> pa.Table:
    """The chain, and an instance of its first class."""
    classes = [f"<http://example/C{number}>" for number in range(length + 1)]
    below = f"<{RDFS}subClassOf>"
    links = ((one, below, other) for one, other in itertools.pairwise(classes))
    return table_of([("<http://example/thing>", TYPE.text, classes[0]), *links])


def _seconds(length: int) -> float:
    program, table = load("owl2rl"), chain(length)
    watch = Stopwatch()
    engine = told(program, table, WANTED)
    engine.evaluate(0)
    seconds = watch.lap()
    facts = pa.table(engine.native.facts_arrow(TRIPLE))
    if (
        f"<http://example/C{length}>"
        not in facts.filter(pa.compute.equal(facts["c1"], TYPE.text))["c2"].to_pylist()
    ):
        raise AssertionError(f"the thing is not of the last of {length} classes")
    return seconds
