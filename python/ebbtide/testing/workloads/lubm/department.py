"""One department: everything the profile says it holds, as rows.

Nothing refers to another department, so a department is a window by itself. Universities that gave
somebody a degree are typed here again, once a department, as the published generator does.

    University u ◄── Department d ◄─┬─ ResearchGroup n
                                    ├─ worksFor: FullProfessor, ..., Lecturer ─► Publication
                                    │     └ teacherOf ─► Course, GraduateCourse
                                    └─ memberOf: UndergraduateStudent, GraduateStudent
"""

from __future__ import annotations

from random import Random
from typing import Final

from ebbtide.testing.workloads.lubm import profile
from ebbtide.testing.workloads.lubm.row import TYPE, Row, ub

NAME: Final = ub("name")
EMAIL: Final = ub("emailAddress")
TELEPHONE: Final = ub("telephone")
TELEPHONE_NUMBER: Final = '"xxx-xxx-xxxx"'
UNDERGRADUATE_DEGREE: Final = ub("undergraduateDegreeFrom")
DEGREES: Final = (UNDERGRADUATE_DEGREE, ub("mastersDegreeFrom"), ub("doctoralDegreeFrom"))
ADVISOR: Final = ub("advisor")
AUTHOR: Final = ub("publicationAuthor")
HEAD_OF: Final = ub("headOf")
INTEREST: Final = ub("researchInterest")
MEMBER_OF: Final = ub("memberOf")
SUB_ORGANIZATION: Final = ub("subOrganizationOf")
TAKES: Final = ub("takesCourse")
TEACHER_OF: Final = ub("teacherOf")
TEACHING_ASSISTANT_OF: Final = ub("teachingAssistantOf")
UNIVERSITY: Final = ub("University")
WORKS_FOR: Final = ub("worksFor")


def department_rows(university: int, department: int, random: Random) -> list[Row]:
    """Everything of one department.

    >>> department_rows(3, 0, Random(0))[1][2]
    '"Department0"'
    """
    return _Department(university, department, random).rows


def _university(number: int) -> str:
    return f"<http://www.University{number}.edu>"


class _Department:
    """The rows so far, and what later ones refer to."""

    def __init__(self, university: int, number: int, random: Random) -> None:
        self._random = random
        self._domain = f"Department{number}.University{university}.edu"
        self._this = f"<http://www.{self._domain}>"
        self._courses: list[str] = []
        self._graduate_courses: list[str] = []
        self._professors: list[str] = []
        self._publications: list[str] = []
        self._graduates: list[str] = []
        self._universities: dict[str, None] = {}
        self.rows: list[Row] = [
            (self._this, TYPE, ub("Department")),
            (self._this, NAME, f'"Department{number}"'),
            (self._this, SUB_ORGANIZATION, _university(university)),
        ]
        if number == 0:
            self._describe(university)
        faculty = sum(self._rank(rank) for rank in profile.FACULTY)
        self._research_groups()
        self._undergraduates(profile.UNDERGRADUATES.times(faculty).draw(random))
        self._graduate_students(profile.GRADUATES.times(faculty).draw(random))
        self._assistants()
        self.rows += [(name, TYPE, UNIVERSITY) for name in self._universities]

    def _describe(self, university: int) -> None:
        """The university itself: the first department says it."""
        name = _university(university)
        self._universities[name] = None
        self.rows.append((name, NAME, f'"University{university}"'))

    # ---- faculty -----------------------------------------------------------------------------

    def _rank(self, rank: profile.Rank) -> int:
        """The members of one rank; how many there are."""
        members = [
            self._person(rank.name, number) for number in range(rank.members.draw(self._random))
        ]
        for member in members:
            self.rows.append((member, WORKS_FOR, self._this))
            self.rows += [(member, degree, self._some_university()) for degree in DEGREES]
            if rank.is_professor:
                interest = int(self._random.random() * profile.RESEARCH_INTERESTS)
                self.rows.append((member, INTEREST, f'"Research{interest}"'))
            self._teach(member, "Course", self._courses, profile.COURSES)
            self._teach(member, "GraduateCourse", self._graduate_courses, profile.GRADUATE_COURSES)
            self._publish(member, rank.publications)
        if rank.is_professor:
            self._professors += members
        if rank is profile.FACULTY[0]:
            self.rows.append((self._one_of(members), HEAD_OF, self._this))
        return len(members)

    def _teach(self, teacher: str, kind: str, courses: list[str], how_many: profile.Range) -> None:
        for number in range(len(courses), len(courses) + how_many.draw(self._random)):
            course = self._thing(kind, number)
            courses.append(course)
            self.rows.append((teacher, TEACHER_OF, course))

    def _publish(self, author: str, how_many: profile.Range) -> None:
        for number in range(how_many.draw(self._random)):
            publication = f"{author[:-1]}/Publication{number}>"
            self._publications.append(publication)
            self.rows += [
                (publication, TYPE, _PUBLICATION),
                (publication, NAME, f'"Publication{number}"'),
                (publication, AUTHOR, author),
            ]

    def _research_groups(self) -> None:
        for number in range(profile.RESEARCH_GROUPS.draw(self._random)):
            group = f"{self._this[:-1]}/ResearchGroup{number}>"
            self.rows += [
                (group, TYPE, ub("ResearchGroup")),
                (group, SUB_ORGANIZATION, self._this),
            ]

    # ---- students ----------------------------------------------------------------------------

    def _undergraduates(self, count: int) -> None:
        for number in range(count):
            student = self._student("UndergraduateStudent", number)
            self._take(student, self._courses, profile.UNDERGRADUATE_TAKES)
            if self._random.random() * profile.ADVISED_UNDERGRADUATES < 1:
                self.rows.append((student, ADVISOR, self._one_of(self._professors)))

    def _graduate_students(self, count: int) -> None:
        for number in range(count):
            student = self._student("GraduateStudent", number)
            self._graduates.append(student)
            self._take(student, self._graduate_courses, profile.GRADUATE_TAKES)
            self.rows += [
                (student, UNDERGRADUATE_DEGREE, self._some_university()),
                (student, ADVISOR, self._one_of(self._professors)),
            ]
            written = self._some_of(
                self._publications, profile.GRADUATE_PUBLICATIONS.draw(self._random)
            )
            self.rows += [(publication, AUTHOR, student) for publication in written]

    def _student(self, kind: str, number: int) -> str:
        student = self._person(kind, number)
        self.rows.append((student, MEMBER_OF, self._this))
        return student

    def _take(self, student: str, courses: list[str], how_many: profile.Range) -> None:
        taken = self._some_of(courses, how_many.draw(self._random))
        self.rows += [(student, TAKES, course) for course in taken]

    def _assistants(self) -> None:
        """Nobody assists in both teaching and research."""
        graduates = len(self._graduates)
        teaching = profile.TEACHING_ASSISTANTS.shares_of(graduates).draw(self._random)
        research = profile.RESEARCH_ASSISTANTS.shares_of(graduates).draw(self._random)
        chosen = self._some_of(self._graduates, teaching + research)
        for student, course in zip(chosen, self._some_of(self._courses, teaching), strict=False):
            self.rows += [
                (student, TYPE, ub("TeachingAssistant")),
                (student, TEACHING_ASSISTANT_OF, course),
            ]
        self.rows += [(student, TYPE, ub("ResearchAssistant")) for student in chosen[teaching:]]

    # ---- inside ------------------------------------------------------------------------------

    def _thing(self, kind: str, number: int) -> str:
        thing = f"{self._this[:-1]}/{kind}{number}>"
        self.rows += [(thing, TYPE, ub(kind)), (thing, NAME, f'"{kind}{number}"')]
        return thing

    def _person(self, kind: str, number: int) -> str:
        person = self._thing(kind, number)
        self.rows += [
            (person, EMAIL, f'"{kind}{number}@{self._domain}"'),
            (person, TELEPHONE, TELEPHONE_NUMBER),
        ]
        return person

    def _some_university(self) -> str:
        name = _university(int(self._random.random() * profile.UNIVERSITIES))
        self._universities[name] = None
        return name

    def _one_of(self, things: list[str]) -> str:
        return things[int(self._random.random() * len(things))]

    def _some_of(self, things: list[str], count: int) -> list[str]:
        return self._random.sample(things, count)


_PUBLICATION: Final = ub("Publication")
