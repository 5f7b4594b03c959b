"""The published profile of LUBM: how many of what a department has, and how they are related.

A `Range` is inclusive; every number is drawn uniformly from its own. What a department holds in
relation to its faculty or its graduate students is drawn from the range of the products, as in
*8 to 14 undergraduates for each member of the faculty*.
"""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple


class Range(NamedTuple):
    """An inclusive range of counts.

    >>> Range(8, 14).times(10), Range(4, 5).shares_of(100)
    (Range(least=80, most=140), Range(least=20, most=25))
    """

    least: int
    most: int

    def times(self, count: int) -> Range:
        """So many for each of `count`."""
        return Range(self.least * count, self.most * count)

    def shares_of(self, count: int) -> Range:
        """One in so many of `count`."""
        return Range(count // self.most, count // self.least)

    def draw(self, random: Random) -> int:
        """One of the range."""
        return self.least + int(random.random() * (self.most - self.least + 1))


class Rank(NamedTuple):
    """A rank of the faculty: its members, what each publishes, who advises."""

    name: str
    members: Range
    publications: Range
    is_professor: bool = True


DEPARTMENTS: Final = Range(15, 25)

FACULTY: Final = (
    Rank("FullProfessor", Range(7, 10), Range(15, 20)),
    Rank("AssociateProfessor", Range(10, 14), Range(10, 18)),
    Rank("AssistantProfessor", Range(8, 11), Range(5, 10)),
    Rank("Lecturer", Range(5, 7), Range(0, 5), is_professor=False),
)

# Courses that each member of the faculty teaches, of either kind; nobody shares a course.
COURSES: Final = Range(1, 2)
GRADUATE_COURSES: Final = Range(1, 2)

RESEARCH_GROUPS: Final = Range(10, 20)

# For each member of the faculty.
UNDERGRADUATES: Final = Range(8, 14)
GRADUATES: Final = Range(3, 4)

# One in so many graduates assists in a course of its own, one in so many of the others in research.
TEACHING_ASSISTANTS: Final = Range(4, 5)
RESEARCH_ASSISTANTS: Final = Range(3, 4)

# One in so many undergraduates has an advisor; every graduate has one.
ADVISED_UNDERGRADUATES: Final = 5

# For each student.
UNDERGRADUATE_TAKES: Final = Range(2, 4)
GRADUATE_TAKES: Final = Range(1, 3)
GRADUATE_PUBLICATIONS: Final = Range(0, 5)

# Degrees are from one of so many universities, described or not; interests are one of so many.
UNIVERSITIES: Final = 1_000
RESEARCH_INTERESTS: Final = 30
