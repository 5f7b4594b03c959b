"""What each rule costs on some departments of LUBM: the same materialisation without it.

A rule's cost is the difference that leaving it out makes: lookups, derivations and processor time.
Rules share the beginnings of their joins, and what one derives feeds others, so the differences do
not add up to the whole.
"""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.regimes.contenders import Stopwatch
from ebbtide.benches.regimes.materialise import materialise, table_of
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.results import Measurement, Results, Say
from ebbtide.program import Program
from ebbtide.regimes import load
from ebbtide.testing.workloads.lubm import departments, ontology

# The rules that cost the most are shown; the others cost next to nothing.
SHOWN: Final = 15


class Cost(NamedTuple):
    """Of one materialisation."""

    lookups: int
    derivations: int
    facts: int
    seconds: float


def measure_rules(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """The rules whose absence saves the most lookups."""
    chosen = islice(departments(settings.departments, settings.seed), settings.departments)
    table = table_of(chain(ontology(), *(department.rows for department in chosen)))
    program = load("owl2rl")

    def cost(program: Program) -> Cost:
        seconds = []
        for _ in range(settings.rounds):
            with no_collector():
                watch = Stopwatch()
                engine = materialise(program, table)
                seconds.append(watch.lap())
        stats = engine.native.stats()
        return Cost(stats["lookups"], stats["derivations"], len(engine), median(seconds))

    say(f"rules: all {len(program.rules)}")
    whole = cost(program)
    without = {}
    for number, rule in enumerate(program.rules):
        say(f"rules: without {rule.name}, {number + 1} of {len(program.rules)}")
        others = [each for each in program.rules if each is not rule]
        without[rule.name] = cost(Program(others, program.relations))
    costly = sorted(without, key=lambda name: without[name].lookups)[:SHOWN]
    results.add(_measurement("all of them", whole, Cost(0, 0, 0, 0.0)))
    results.extend(_measurement(name, whole, without[name]) for name in costly)


def _measurement(name: str, whole: Cost, without: Cost) -> Measurement:
    return Measurement(
        "rules",
        {
            "rule": name,
            "lookups": whole.lookups - without.lookups,
            "derivations": whole.derivations - without.derivations,
            "facts": whole.facts - without.facts,
        },
        1_000 * (whole.seconds - without.seconds),
        "ms",
    )
