"""docs/conformance.md, from the cases and the skip lists.

Nothing is run: a test of each suite makes sure that every case passes, but for those that the skip
list names, and that each of these fails. So what is not skipped is what passes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tests.conformance import lubm, ontologies, owl2_rl, rdf_mt, sparql_entailment
from tests.conformance.case import Case
from tests.conformance.data import ROOT

PAGE: Final = ROOT / "docs" / "conformance.md"

_INTRODUCTION: Final = """\
<!-- Written by `make conformance`; a test makes sure that it is current. -->
# Conformance

`make conformance` runs the suites below, case by case, and writes this page. The suites are read
from `../shared/data` or from the folder named by `EBBTIDE_DATA`; without them the tests skip.

Every case runs the native engine with rules from [the regimes](regimes.md), as they are. A case
that cannot pass is named in `tests/conformance/skips/`, with the reason on the line above, and must
fail: no reason outlives its cause. How far each regime gets on every suite is in
[regime by regime](conformance-by-regime.md).

The suites close a graph once. That each regime under sliding windows holds at every tick what the
reference engine holds, `until` included, is a property: `tests/properties/test_regimes_agree.py`.
That no rule of a regime is idle is in `tests/regimes`, rule by rule.
"""

_METHOD: Final = """\
## How cases are decided

- *Entailment*: the premise is materialised, and the conclusion is looked for in the closure: its
  blank nodes are variables, and literals of recognised datatypes are compared by their values.
- *Balancing*: the class expressions of a conclusion are put to the reasoner with the premise, since
  OWL's RDF-Based Semantics promises no expression that nobody wrote. Positive cases do without,
  unless it is said; refuted ones are balanced too.
- *Refutation*: rules seldom conclude that things differ. What such a conclusion denies is stated
  along with the premise, and some rule must conclude `false`.
- *Inconsistency*: some rule concludes `false`. *Consistency*: no rule does. No case finds a
  consistent premise inconsistent; the data of the SPARQL suite are held to that, too.
- *Queries* run on the closure with pyoxigraph. Invented blank nodes and triples that RDF cannot
  write (a literal as subject) are no answers. Under OWL, the class expressions in a query are put
  to the reasoner along with the data, since there they are no variables but part of the question;
  an answer that binds a class to an anonymous expression is none.
"""

_ABOUT: Final[Mapping[str, str]] = {
    sparql_entailment.SUITE: """\
Each case is a test under one of its regimes: RDF, RDFS and D with the regimes of these names, OWL
with `owl2rl`. *OWL 2 RL* are the tests whose profiles include RL; *OWL* are those whose profiles do
not, so that the rules need not suffice, and *custom* adds rules to the test where they do not. The
aim was 63 of the 66 tests that are complete, as the INSTANS authors count; all 66 pass, {custom} of
them with rules of their own.
""",
    lubm.SUITE: """\
The queries answer the same without the rule scm-svf1, so that they alone do not show a complete
closure; *completeness* is the 547 employees that only that rule finds.
""",
    ontologies.SUITE: """\
The ontologies on which reasoners for small devices were measured; the peer is owlrl. Triples in RDF
are compared, without axioms. All are equal but these, where owlrl departs from the standards:

- OWL 2 RL: it declares rdf:HTML, rdf:langString, xsd:date and xsd:time, which the profile does not
  have, and says which datatypes in use are disjoint.
- RDFS: it knows the RDF of 2004, so it is told that xsd:string and rdf:langString are datatypes.
- RDFS: it takes "1"^^xsd:integer and "true"^^xsd:boolean for one value, as Python does.
- RDFS: it leaves out of rdfs:Resource what only its own conclusions mention (rdfs4a).
""",
}

_SUITES: Final = (
    ("RDF 1.1 Semantics", rdf_mt.SUITE, rdf_mt.cases),
    ("SPARQL 1.1 entailment", sparql_entailment.SUITE, sparql_entailment.cases),
    ("OWL 2 RL", owl2_rl.SUITE, owl2_rl.cases),
    ("LUBM(1)", lubm.SUITE, lubm.cases),
    ("Small ontologies", ontologies.SUITE, ontologies.cases),
)


def page() -> str:
    """The whole page."""
    suites = {title: list(cases()) for title, _, cases in _SUITES}
    sections = (_section(title, suite, suites[title]) for title, suite, _ in _SUITES)
    return "\n".join([_INTRODUCTION, _summary(suites), _METHOD, *sections])


def _summary(suites: Mapping[str, Sequence[Case]]) -> str:
    rows = [
        f"| {title} | {len(_tests(cases) - _failing(cases))} | {len(_tests(cases))} "
        f"| {sum(case.reason is None for case in cases)} | {len(cases)} |"
        for title, cases in suites.items()
    ]
    head = [
        "| suite | tests that pass | tests | cases that pass | cases |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, ""])


def _section(title: str, suite: str, cases: Sequence[Case]) -> str:
    custom = sorted(case.name for case in cases if case.kind == "custom")
    about = _ABOUT.get(suite, "").format(custom=len(custom))
    parts = (f"## {title}\n", about, _table(cases), _custom(custom), _skipped(cases))
    return "\n".join(filter(None, parts))


def _tests(cases: Iterable[Case]) -> set[str]:
    return {case.name for case in cases}


def _failing(cases: Iterable[Case]) -> set[str]:
    return {case.name for case in cases if case.reason}


def _table(cases: Iterable[Case]) -> str:
    counts, passing = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for case in cases:
        counts[case.regime, case.kind] += 1
        passing[case.regime, case.kind] += case.reason is None
    rows = [
        f"| {regime} | {kind} | {passing[regime, kind]} | {count} |"
        for (regime, kind), count in sorted(counts.items())
    ]
    return "\n".join(["| regime | kind | pass | cases |", "|---|---|---|---|", *rows, ""])


def _custom(names: Iterable[str]) -> str:
    """The cases that need rules of their own."""
    links = [f"[{name}](../tests/conformance/custom/{name}.rules)" for name in names]
    return f"With rules of their own, added to the regime: {', '.join(links)}.\n" if links else ""


def _skipped(cases: Iterable[Case]) -> str:
    """The cases that cannot pass, each with the reason on the line above."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        if case.reason:
            by_reason[case.reason].append(f"`{case.name}` ({case.regime}, {case.kind})")
    if not by_reason:
        return ""
    lines = (f"- {why}\n  {', '.join(names)}" for why, names in by_reason.items())
    return "\n".join(["Not passing:\n", *lines, ""])
