"""The 14 queries of LUBM, each as a rule that concludes a relation of its answers.

`q6(x)` holds while x is an answer of query 6. A program of the wanted queries joined with that of
a regime keeps the answers true over any window.
"""

from __future__ import annotations

from typing import Final

from ebbtide.testing.workloads.lubm.row import UB

# The patterns of each query, and the variables it answers with.
_UNIVERSITY: Final = "<http://www.University0.edu>"
_DEPARTMENT: Final = "<http://www.Department0.University0.edu>"


def _of_department(local: str) -> str:
    return f"<http://www.Department0.University0.edu/{local}>"


QUERIES: Final = {
    "q1": (
        f"(?x a ub:GraduateStudent) (?x ub:takesCourse {_of_department('GraduateCourse0')})",
        "?x",
    ),
    "q2": (
        "(?x a ub:GraduateStudent) (?y a ub:University) (?z a ub:Department) "
        "(?x ub:memberOf ?z) (?z ub:subOrganizationOf ?y) (?x ub:undergraduateDegreeFrom ?y)",
        "?x, ?y, ?z",
    ),
    "q3": (
        f"(?x a ub:Publication) (?x ub:publicationAuthor {_of_department('AssistantProfessor0')})",
        "?x",
    ),
    "q4": (
        f"(?x a ub:Professor) (?x ub:worksFor {_DEPARTMENT}) "
        "(?x ub:name ?y1) (?x ub:emailAddress ?y2) (?x ub:telephone ?y3)",
        "?x, ?y1, ?y2, ?y3",
    ),
    "q5": (f"(?x a ub:Person) (?x ub:memberOf {_DEPARTMENT})", "?x"),
    "q6": ("(?x a ub:Student)", "?x"),
    "q7": (
        "(?x a ub:Student) (?y a ub:Course) (?x ub:takesCourse ?y) "
        f"({_of_department('AssociateProfessor0')} ub:teacherOf ?y)",
        "?x, ?y",
    ),
    "q8": (
        "(?x a ub:Student) (?y a ub:Department) (?x ub:memberOf ?y) "
        f"(?y ub:subOrganizationOf {_UNIVERSITY}) (?x ub:emailAddress ?z)",
        "?x, ?y, ?z",
    ),
    "q9": (
        "(?x a ub:Student) (?y a ub:Faculty) (?z a ub:Course) "
        "(?x ub:advisor ?y) (?y ub:teacherOf ?z) (?x ub:takesCourse ?z)",
        "?x, ?y, ?z",
    ),
    "q10": (
        f"(?x a ub:Student) (?x ub:takesCourse {_of_department('GraduateCourse0')})",
        "?x",
    ),
    "q11": (f"(?x a ub:ResearchGroup) (?x ub:subOrganizationOf {_UNIVERSITY})", "?x"),
    "q12": (
        "(?x a ub:Chair) (?y a ub:Department) (?x ub:worksFor ?y) "
        f"(?y ub:subOrganizationOf {_UNIVERSITY})",
        "?x, ?y",
    ),
    "q13": (f"(?x a ub:Person) ({_UNIVERSITY} ub:hasAlumnus ?x)", "?x"),
    "q14": ("(?x a ub:UndergraduateStudent)", "?x"),
}


def query_rules(*names: str) -> str:
    """The rules of the queries of these names, or of all, in the Jena syntax.

    >>> print(query_rules("q6", "q14"))
    @prefix ub: <http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#> .
    [q6: (?x a ub:Student) -> q6(?x)]
    [q14: (?x a ub:UndergraduateStudent) -> q14(?x)]
    """
    rules = [f"@prefix ub: <{UB}> ."]
    for name in names or QUERIES:
        patterns, variables = QUERIES[name]
        rules.append(f"[{name}: {patterns} -> {name}({variables})]")
    return "\n".join(rules)
