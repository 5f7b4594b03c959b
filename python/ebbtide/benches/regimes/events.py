"""The workload of INSTANS: LUBM with each department as a window, query by query.

Triples a second of processor time, from texts in columns to texts of answers. Their best, over 100
universities, from the file to the answers on a processor of 2015: 0.5 to 22.3 thousand.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ebbtide.benches.regimes.contenders import ContenderFailed
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.regimes.stream import Sample
from ebbtide.benches.results import Goal, Measurement, Results, Say
from ebbtide.testing.workloads.lubm.queries import QUERIES

# Thousands of triples a second: 13,405,383 triples over the times of the paper's table 8.
THEIRS: Final = {
    "q1": 22.3, "q2": 0.784, "q3": 21.8, "q4": 18.6, "q5": 2.51, "q6": 3.06, "q7": 2.73,
    "q8": 3.10, "q9": 0.505, "q10": 3.10, "q11": 4.46, "q12": 2.42, "q13": 12.0, "q14": 21.0,
}  # fmt: skip
# The end of the stream against a tenth of it.
GROWTH: Final = Goal("at most", 1.1)
EARLY: Final = 10

STREAM: Final = "ebbtide.benches.regimes.stream"


def measure_events(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Each query alone, and all of them together, each in a process of its own."""
    together = {"all": tuple(QUERIES)}
    for name, queries in ({name: (name,) for name in settings.queries} | together).items():
        say(f"events: LUBM({settings.universities}), {name}")
        samples = list(_samples(settings, queries))
        results.extend(_measurements(settings, name, samples))
        if name in together:
            results.series["events"] = [(each.triples, each.resident) for each in samples]


def _measurements(
    settings: Settings, name: str, samples: Sequence[Sample]
) -> Iterator[Measurement]:
    last = samples[-1]
    thousands = last.triples / last.seconds / 1_000
    theirs = THEIRS.get(name)
    yield Measurement(
        "events",
        {
            "query": name,
            "universities": settings.universities,
            "departments": last.departments,
            "triples": last.triples,
            "answers": last.answers,
            "resident_mb": round(last.resident / 1e6),
            "instans": "" if theirs is None else theirs,
        },
        thousands,
        "thousand triples a second",
        ratio=None if theirs is None else thousands / theirs,
        ratio_of=None if theirs is None else "ebbtide / instans",
    )
    if theirs is None:
        early = samples[max(0, len(samples) // EARLY - 1)]
        yield Measurement(
            "resident",
            {"query": name, "early_mb": round(early.resident / 1e6)},
            last.resident / 1e6,
            "MB",
            ratio=last.resident / early.resident,
            ratio_of=f"after {last.departments} / after {early.departments} departments",
            goal=GROWTH,
        )


def _samples(settings: Settings, queries: Sequence[str]) -> Iterator[Sample]:
    given = {"universities": settings.universities, "seed": settings.seed, "queries": queries}
    command = [sys.executable, "-m", STREAM, json.dumps(given)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ContenderFailed(f"the stream of {queries}: {ended.stderr.strip()[-2_000:]}")
    return (Sample(*json.loads(line)) for line in ended.stdout.splitlines())
