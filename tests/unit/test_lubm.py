"""LUBM data: of the published profile, and of the shape of the published LUBM(1)."""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from ebbtide.terms.term import RDF
from ebbtide.testing.workloads.lubm import UB, departments, ontology

TYPE = f"<{RDF}type>"
SHARED = Path(os.environ.get("EBBTIDE_DATA", Path(__file__).parents[3] / "shared/data")) / "lubm"

Rows = list[tuple[str, str, str]]


def local(name: str) -> str:
    return name.removesuffix(">").removeprefix(f"<{UB}").removeprefix(f"<{RDF}")


@cache
def kind(name: str) -> str:
    """Of a thing of a department: its class, by its name."""
    return re.sub(r"\d+>$", "", name.rpartition("/")[2])


class Shape:
    """What some rows hold, counted."""

    def __init__(self, rows: Rows) -> None:
        self.predicates = Counter(local(p) for _, p, _ in rows)
        self.classes = Counter(local(o) for _, p, o in rows if p == TYPE)
        # For each predicate but the type, how many values each subject has, by class of both.
        self.degrees: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        for s, p, o in rows:
            if p != TYPE:
                self.degrees[kind(s), local(p), kind(o)][s] += 1
        self.faculty = self.predicates["worksFor"]


def published() -> Rows:
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is not here")
    with gzip.open(SHARED / "lubm1.nt.gz", "rt") as file:
        rows = [tuple(line.removesuffix(" .\n").split(" ", 2)) for line in file]
    return [(s, p, o) for s, p, o in rows if "example.org/lubm" not in s]


@pytest.fixture(scope="module")
def some() -> list[Rows]:
    return [department.rows for department in islice(departments(40, seed=5), 60)]


@pytest.fixture(scope="module")
def shapes(some: list[Rows]) -> list[Shape]:
    return [Shape(rows) for rows in some]


def test_the_same_seed_gives_the_same_departments():
    first = [department.rows for department in departments(seed=3)]
    assert first == [department.rows for department in departments(seed=3)]
    assert first != [department.rows for department in departments(seed=4)]


def test_a_department_depends_on_its_place_only():
    """So that a few universities are the beginning of many."""
    few = {(d.university, d.number): d.rows for d in departments(2, seed=1)}
    many = {(d.university, d.number): d.rows for d in departments(3, seed=1)}
    assert all(many[place] == rows for place, rows in few.items())


def test_no_row_comes_twice_within_a_department(some: list[Rows]):
    for rows in some:
        assert len(set(rows)) == len(rows)


def test_departments_of_a_university():
    counts = Counter(department.university for department in departments(8, seed=2)).values()
    assert len(set(counts)) > 1
    assert 15 <= min(counts) <= max(counts) <= 25


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("FullProfessor", 7, 10),
        ("AssociateProfessor", 10, 14),
        ("AssistantProfessor", 8, 11),
        ("Lecturer", 5, 7),
        ("ResearchGroup", 10, 20),
    ],
)
def test_counts_a_department(shapes: list[Shape], name: str, least: int, most: int):
    counts = [shape.classes[name] for shape in shapes]
    assert (min(counts), max(counts)) == (least, most)


def test_ratios_of_a_department(shapes: list[Shape]):
    for shape in shapes:
        classes, graduates = shape.classes, shape.classes["GraduateStudent"]
        assert 8 <= classes["UndergraduateStudent"] / shape.faculty <= 14
        assert 3 <= graduates / shape.faculty <= 4
        assert graduates // 5 <= classes["TeachingAssistant"] <= graduates // 4
        assert graduates // 4 <= classes["ResearchAssistant"] <= graduates // 3
        advised = len(shape.degrees["UndergraduateStudent", "advisor", "FullProfessor"])
        assert 0 < advised < classes["UndergraduateStudent"] / 5


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "least", "most"),
    [
        ("FullProfessor", "teacherOf", "Course", 1, 2),
        ("Lecturer", "teacherOf", "GraduateCourse", 1, 2),
        ("UndergraduateStudent", "takesCourse", "Course", 2, 4),
        ("GraduateStudent", "takesCourse", "GraduateCourse", 1, 3),
        ("GraduateStudent", "teachingAssistantOf", "Course", 1, 1),
    ],
)
def test_relations_each(shapes: list[Shape], subject, predicate, object_, least, most):
    counts = {
        count for shape in shapes for count in shape.degrees[subject, predicate, object_].values()
    }
    assert counts == set(range(least, most + 1))


@pytest.mark.parametrize(
    ("author", "least", "most"),
    [
        ("FullProfessor", 15, 20),
        ("AssociateProfessor", 10, 18),
        ("AssistantProfessor", 5, 10),
        ("Lecturer", 1, 5),
        ("GraduateStudent", 1, 5),
    ],
)
def test_publications_each(some: list[Rows], author: str, least: int, most: int):
    written = Counter(o for rows in some for _, p, o in rows if local(p) == "publicationAuthor")
    counts = [count for name, count in written.items() if kind(name) == author]
    assert (min(counts), max(counts)) == (least, most)


def test_who_may_be_what(some: list[Rows]):
    for rows in some:
        types = {(s, local(o)) for s, p, o in rows if p == TYPE}
        teaching = {s for s, name in types if name == "TeachingAssistant"}
        research = {s for s, name in types if name == "ResearchAssistant"}
        assert not teaching & research
        assert {kind(name) for name in teaching | research} == {"GraduateStudent"}
        assisted = [o for _, p, o in rows if local(p) == "teachingAssistantOf"]
        taught = [o for _, p, o in rows if local(p) == "teacherOf"]
        assert len(set(assisted)) == len(assisted)
        assert len(set(taught)) == len(taught)
        assert [kind(s) for s, p, _ in rows if local(p) == "headOf"] == ["FullProfessor"]
        advisors = {kind(o) for _, p, o in rows if local(p) == "advisor"}
        assert advisors == {"FullProfessor", "AssociateProfessor", "AssistantProfessor"}


def test_a_department_speaks_of_no_other(some: list[Rows]):
    for rows in some:
        named = (
            re.search(r"Department\d+\.University\d+\.edu", term) for row in rows for term in row
        )
        assert len({found[0] for found in named if found}) == 1


def test_the_shape_of_the_published_data():
    """Per department, every class and predicate within a few parts in a hundred; no other ones."""
    rows = published()
    ours = [department.rows for department in departments(5)]
    theirs = Shape(rows)
    shape = Shape([row for department in ours for row in set(department)])
    assert shape.predicates.keys() == theirs.predicates.keys()
    assert shape.classes.keys() == theirs.classes.keys()
    for counted, found in ((theirs.predicates, shape.predicates), (theirs.classes, shape.classes)):
        for name, count in counted.items():
            # The published file has said once what every department says of its universities.
            if name not in ("University", "type"):
                mean = found[name] / len(ours)
                assert mean == pytest.approx(count / theirs.classes["Department"], rel=0.08), name
    related = {key for key in theirs.degrees if "." not in "".join(key) and '"' not in key[2]}
    assert related == {
        key for key in shape.degrees if "." not in "".join(key) and '"' not in key[2]
    }
    assert len(related) > 20


def test_a_university_is_said_once_by_each_department_that_needs_it():
    rows = [row for department in departments() for row in department.rows]
    described = [s for s, p, o in rows if p == TYPE and local(o) == "University"]
    degrees = {o for _, p, o in rows if local(p).endswith("DegreeFrom")}
    assert set(described) == degrees | {"<http://www.University0.edu>"}


def test_the_ontology_is_the_published_one():
    rdflib = pytest.importorskip("rdflib")
    from rdflib.compare import isomorphic

    if not SHARED.exists():
        pytest.skip(f"{SHARED} is not here")
    theirs = rdflib.Graph().parse(SHARED / "univ-bench.nt")
    header = next(theirs.subjects(rdflib.RDF.type, rdflib.OWL.Ontology))
    theirs.remove((header, None, None))
    for annotation in (rdflib.RDFS.label, rdflib.RDFS.comment):
        theirs.remove((None, annotation, None))
    text = "".join(f"{s} {p} {o} .\n" for s, p, o in ontology())
    assert isomorphic(rdflib.Graph().parse(data=text, format="nt"), theirs)
