"""LUBM: universities of the published profile, department by department, each at its instant.

    department 0        department 1        department 2       every `every` milliseconds
    University 0        University 0        University 0
    at start            at start + every    ...

Each department is drawn from a generator of its own, so that it depends on the seed and its place
and on nothing else, and no more than one is held at a time: any size can be made on any machine.
The background is Univ-Bench, the ontology.

The data have the shape of the published generator's, not its bytes: `profile` has the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from ebbtide.program import TRIPLE, Fact
from ebbtide.terms import parse_term
from ebbtide.testing.workloads.lubm.department import department_rows
from ebbtide.testing.workloads.lubm.ontology import ontology
from ebbtide.testing.workloads.lubm.profile import DEPARTMENTS
from ebbtide.testing.workloads.lubm.row import UB, Row
from ebbtide.testing.workloads.workload import TimedFacts, Workload, at_least
from ebbtide.time import Instant

__all__ = ["UB", "Department", "Row", "departments", "lubm", "ontology"]


class Department(NamedTuple):
    """The rows of one department of one university."""

    university: int
    number: int
    rows: list[Row]


def departments(universities: int = 1, seed: int = 0) -> Iterator[Department]:
    """Every department of so many universities, in order.

    >>> first = next(departments(seed=7))
    >>> first.rows == next(departments(universities=100, seed=7)).rows
    True
    >>> first.rows[0][0]
    '<http://www.Department0.University0.edu>'
    """
    for university in range(universities):
        count = DEPARTMENTS.draw(Random(f"{seed}/{university}"))
        for number in range(count):
            random = Random(f"{seed}/{university}/{number}")
            yield Department(university, number, department_rows(university, number, random))


def lubm(
    *, universities: int = 1, every: int = 1_000, start: Instant = 0, seed: int = 0
) -> Workload:
    """The ontology as background, and a department every `every` milliseconds from `start` on.

    >>> fact, at = next(lubm(start=5).stream())
    >>> str(fact.terms[0]), at
    ('<http://www.Department0.University0.edu>', 5)
    """
    at_least("universities", universities, 0)
    at_least("every", every, 1)

    def stream() -> TimedFacts:
        for place, department in enumerate(departments(universities, seed)):
            for fact in _facts(department.rows):
                yield fact, start + place * every

    return Workload(lambda: _facts(ontology()), stream)


def _facts(rows: Iterable[Row]) -> Iterator[Fact]:
    return (Fact(TRIPLE, tuple(map(parse_term, row))) for row in rows)
