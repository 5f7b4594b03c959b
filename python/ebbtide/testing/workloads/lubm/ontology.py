"""Univ-Bench, the ontology of LUBM, as tables of what it says of its classes and properties.

Labels, comments and the header are left out; `tests/unit/test_lubm.py` holds it to the published
file otherwise. Restrictions and lists are blank nodes named after their class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ebbtide.terms.term import RDF
from ebbtide.testing.workloads.lubm.row import TYPE, Row, ub

RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
NIL: Final = f"<{RDF}nil>"


class Some(NamedTuple):
    """The class of those with a `property` whose value is a `filler`."""

    property: str
    filler: str


class Property(NamedTuple):
    """A property, and what is said of it."""

    name: str
    domain: str = ""
    range: str = ""
    broader: str = ""
    inverse: str = ""
    kind: str = "ObjectProperty"


ROOTS: Final = ("Organization", "Person", "Publication", "Schedule", "Work")

NARROWER: Final = {
    "AdministrativeStaff": ("ClericalStaff", "SystemsStaff"),
    "Article": ("ConferencePaper", "JournalArticle", "TechnicalReport"),
    "Course": ("GraduateCourse",),
    "Employee": ("AdministrativeStaff", "Faculty"),
    "Faculty": ("Lecturer", "PostDoc", "Professor"),
    "Organization": (
        "College", "Department", "Institute", "Program", "ResearchGroup", "University",
    ),
    "Person": ("GraduateStudent", "ResearchAssistant"),
    "Professor": (
        "AssistantProfessor", "AssociateProfessor", "Chair", "Dean", "FullProfessor",
        "VisitingProfessor",
    ),
    "Publication": (
        "Article", "Book", "Manual", "Software", "Specification", "UnofficialPublication",
    ),
    "Student": ("UndergraduateStudent",),
    "Work": ("Course", "Research"),
}  # fmt: skip

# A class that is an intersection; a member of it is in all the parts, and the other way round.
INTERSECTIONS: Final[dict[str, tuple[str | Some, ...]]] = {
    "Chair": ("Person", Some("headOf", "Department")),
    "Dean": (Some("headOf", "College"),),
    "Director": ("Person", Some("headOf", "Program")),
    "Employee": ("Person", Some("worksFor", "Organization")),
    "Student": ("Person", Some("takesCourse", "Course")),
    "TeachingAssistant": ("Person", Some("teachingAssistantOf", "Course")),
}

# A class whose members have such a property.
NECESSARY: Final = {
    "GraduateStudent": Some("takesCourse", "GraduateCourse"),
    "ResearchAssistant": Some("worksFor", "ResearchGroup"),
}

DATA: Final = "DatatypeProperty"

PROPERTIES: Final = (
    Property("advisor", "Person", "Professor"),
    Property("affiliateOf", "Organization", "Person"),
    Property("affiliatedOrganizationOf", "Organization", "Organization"),
    Property("age", "Person", kind=DATA),
    Property("degreeFrom", "Person", "University", inverse="hasAlumnus"),
    Property("doctoralDegreeFrom", "Person", "University", broader="degreeFrom"),
    Property("emailAddress", "Person", kind=DATA),
    Property("hasAlumnus", "University", "Person", inverse="degreeFrom"),
    Property("headOf", broader="worksFor"),
    Property("listedCourse", "Schedule", "Course"),
    Property("mastersDegreeFrom", "Person", "University", broader="degreeFrom"),
    Property("member", "Organization", "Person"),
    Property("memberOf", inverse="member"),
    Property("name", kind=DATA),
    Property("officeNumber", kind=DATA),
    Property("orgPublication", "Organization", "Publication"),
    Property("publicationAuthor", "Publication", "Person"),
    Property("publicationDate", "Publication"),
    Property("publicationResearch", "Publication", "Research"),
    Property("researchInterest", kind=DATA),
    Property("researchProject", "ResearchGroup", "Research"),
    Property("softwareDocumentation", "Software", "Publication"),
    Property("softwareVersion", "Software"),
    Property("subOrganizationOf", "Organization", "Organization", kind="TransitiveProperty"),
    Property("takesCourse"),
    Property("teacherOf", "Faculty", "Course"),
    Property("teachingAssistantOf", "TeachingAssistant", "Course"),
    Property("telephone", "Person", kind=DATA),
    Property("tenured", "Professor"),
    Property("title", "Person", kind=DATA),
    Property("undergraduateDegreeFrom", "Person", "University", broader="degreeFrom"),
    Property("worksFor", broader="memberOf"),
)


def ontology() -> Iterator[Row]:
    """Every triple of the ontology.

    >>> sum(1 for row in ontology())
    214
    """
    narrower = [name for names in NARROWER.values() for name in names]
    for name in dict.fromkeys([*ROOTS, *INTERSECTIONS, *narrower]):
        yield ub(name), TYPE, _owl("Class")
    for broader, names in NARROWER.items():
        for name in names:
            yield ub(name), _rdfs("subClassOf"), ub(broader)
    for name, parts in INTERSECTIONS.items():
        yield from _intersection(name, parts)
    for name, some in NECESSARY.items():
        restriction = f"_:{name}Some"
        yield ub(name), _rdfs("subClassOf"), restriction
        yield from _restriction(restriction, some)
    for each in PROPERTIES:
        yield from _property(each)


def _intersection(name: str, parts: tuple[str | Some, ...]) -> Iterator[Row]:
    nodes = [f"_:{name}{number}" for number in range(len(parts))]
    yield ub(name), _owl("intersectionOf"), nodes[0]
    for node, part, rest in zip(nodes, parts, [*nodes[1:], NIL], strict=True):
        item = f"_:{name}Some" if isinstance(part, Some) else ub(part)
        yield node, f"<{RDF}first>", item
        yield node, f"<{RDF}rest>", rest
        if isinstance(part, Some):
            yield from _restriction(item, part)


def _restriction(node: str, some: Some) -> Iterator[Row]:
    yield node, TYPE, _owl("Restriction")
    yield node, _owl("onProperty"), ub(some.property)
    yield node, _owl("someValuesFrom"), ub(some.filler)


def _property(each: Property) -> Iterator[Row]:
    yield ub(each.name), TYPE, _owl(each.kind)
    for predicate, said in (
        (_rdfs("domain"), each.domain),
        (_rdfs("range"), each.range),
        (_rdfs("subPropertyOf"), each.broader),
        (_owl("inverseOf"), each.inverse),
    ):
        if said:
            yield ub(each.name), predicate, ub(said)


def _rdfs(local: str) -> str:
    return f"<{RDFS}{local}>"


def _owl(local: str) -> str:
    return f"<{OWL}{local}>"
