"""The same answers from every placement: many random programs over two streams, a run for each.

Every case has its terms and predicates for itself, so many of them are one program; and the number
of the case is a key that can rightly be declared for all of them, provable or not.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline
from ebbtide.reasoner import Reasoner
from ebbtide.time import Sliding, Tumbling

from .stream import in_order, rows_of
from .test_recovery import lines

pytestmark = pytest.mark.spark

CASES = 60
#: Every rule is a join that Spark plans anew in every round.
DATAFRAME_CASES = 10
BATCHES = 3
STREAMS = {"first": Sliding(3_000), "second": Tumbling(5_000)}
KEY = "regexp_extract(s, 'http://(c[0-9]+)/', 1)"

PIPELINE = """
[time]
step = "2 s"
lateness = "3 s"
[streams.first]
from = "files"
path = "first"
window = "3 s"
files_a_batch = 1
[streams.second]
from = "files"
path = "second"
window = { tumbling = "5 s" }
files_a_batch = 1
[background]
files = ["background.nt"]
[rules]
use = ["cases.rules"]
[outputs.answers]
to = "jsonl"
path = "out"
changes = ["+", "-", "~"]
[run]
ends = "when read"
"""


@dataclass(frozen=True)
class Case:
    """Some rules, with what is stated for ever and what is stated at some instants on a stream."""

    rules: str
    background: list[str]
    facts: list[tuple[int, str, str]]

    @property
    def is_proved(self) -> bool:
        return Reasoner(self.rules).sharding().is_proved


def random_case(number: int) -> Case:
    chance = random.Random(number)

    def name(kind: str, count: int) -> str:
        return f"<http://c{number}/{kind}{chance.randrange(count)}>"

    def argument(variables: str) -> str:
        return f"?{chance.choice(variables)}" if chance.random() < 0.9 else name("x", 4)

    def rule(place: int) -> str:
        body = [
            (argument("xyz"), name("p", 3), argument("xyz"))
            for _ in range(chance.choice((1, 1, 2, 2, 3)))
        ]
        bound = sorted({each for s, _, o in body for each in (s, o)})
        head = (chance.choice(bound), name("p", 3), chance.choice(bound))
        atoms = ", ".join(f"({' '.join(atom)})" for atom in body)
        return f"[r{number}_{place}: {atoms} -> ({' '.join(head)})]"

    def fact() -> str:
        return f"{name('x', 4)} {name('p', 3)} {name('x', 4)} ."

    rules = "\n".join(rule(place) for place in range(chance.randint(1, 3)))
    facts = [
        (chance.randrange(8_000), chance.choice(list(STREAMS)), fact())
        for _ in range(chance.randint(3, 9))
    ]
    return Case(rules, [fact() for _ in range(chance.randrange(3))], facts)


def write_cases(folder: Path, cases: Iterable[Case]) -> None:
    """One pipeline of many cases; facts are out of order by up to the lateness."""
    cases = list(cases)
    (folder / "cases.rules").write_text("\n".join(case.rules for case in cases))
    background = [line + "\n" for case in cases for line in case.background]
    (folder / "background.nt").write_text("".join(background))
    chance = random.Random(len(cases))
    facts = [each for case in cases for each in case.facts]
    facts.sort(key=lambda each: each[0] + chance.randrange(3_000))
    for number in range(BATCHES):
        some = facts[number * len(facts) // BATCHES : (number + 1) * len(facts) // BATCHES]
        for stream in STREAMS:
            file = folder / f"{stream}/{number}.tnt"
            file.parent.mkdir(exist_ok=True)
            mine = ((at, fact) for at, of, fact in some if of == stream)
            file.write_text("".join(f"{at}\t{fact}\n" for at, fact in mine))
            os.utime(file, (60 * number, 60 * number))


def oracle(cases: Iterable[Case]) -> list[dict[str, Any]]:
    """What the reference engine says, fact by fact."""
    cases = list(cases)
    reasoner = Reasoner(
        "\n".join(case.rules for case in cases),
        streams=STREAMS,
        step=2_000,
        lateness=3_000,
        engine="reference",
    )
    for text in (line for case in cases for line in case.background):
        reasoner.add(tuple(text.split()[:3]))
    told = []
    for at, stream, text in sorted(each for case in cases for each in case.facts):
        reasoner.push(tuple(text.split()[:3]), at, stream)
        told += reasoner.advance()
    return rows_of([*told, *reasoner.finish()])


@pytest.mark.parametrize(
    "run",
    [
        'placement = "driver"',
        'placement = "sharded"\nshards = 3',
        f'placement = "sharded"\nshards = 3\nkey = "{KEY}"',
        'placement = "dataframe"',
    ],
    ids=["driver", "sharded", "declared", "dataframe"],
)
def test_random_programs_and_streams(spark: SparkSession, tmp_path: Path, run: str) -> None:
    is_slow, needs_proof = "dataframe" in run, "sharded" in run and "key" not in run
    cases = [random_case(number) for number in range(DATAFRAME_CASES if is_slow else CASES)]
    if needs_proof:
        cases = [case for case in cases if case.is_proved]
    assert len(cases) >= 10
    write_cases(tmp_path, cases)
    (tmp_path / "pipeline.toml").write_text(PIPELINE + run + "\n")
    run_pipeline(load_pipeline(tmp_path / "pipeline.toml"), Console(file=StringIO()), spark=spark)
    assert in_order(lines(tmp_path / "out")) == oracle(cases)


def test_cases_are_not_trivial() -> None:
    """Many conclude something; some can be proved, and some not."""
    cases = [random_case(number) for number in range(CASES)]
    proved = sum(case.is_proved for case in cases)
    assert 10 <= proved <= CASES - 10
    stated = {text for case in cases for _, _, text in case.facts}
    stated |= {text for case in cases for text in case.background}
    concluded = {
        f"{row['s']} {row['p']} {row['o']} ": row["s"].split("/")[2]
        for row in oracle(cases)
        if f"{row['s']} {row['p']} {row['o']} ." not in stated
    }
    assert len(set(concluded.values())) > CASES / 3
