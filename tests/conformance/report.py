"""docs/conformance.md, from the cases and the skip lists.

Nothing is run: a test of each suite makes sure that every case passes, but for those that the skip
list names, and that each of these fails. So what is not skipped is what passes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from tests.conformance import lubm, owl2_rl, rdf_mt, sparql_entailment
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
fail: no reason outlives its cause.

How a suite's cases are decided:

- *Entailment*: the premise is materialised, and the conclusion is looked for in the closure: its
  blank nodes are variables, and literals of recognised datatypes are compared by their values.
- *Inconsistency*: some rule concludes `false`. *Consistency*: no rule does.
- *Queries* run on the closure with pyoxigraph. Invented blank nodes and triples that RDF cannot
  write (a literal as subject) are no answers. Under OWL, the class expressions in a query are put
  to the reasoner along with the data, since there they are no variables but part of the question;
  an answer that binds a class to an anonymous expression is none.
- *Refutation*: rules seldom conclude that things differ. What such a conclusion denies is stated
  along with the premise, and some rule must conclude `false`.
"""

_SUITES: Final = (
    ("RDF 1.1 Semantics", rdf_mt.SUITE, rdf_mt.cases),
    ("SPARQL 1.1 entailment", sparql_entailment.SUITE, sparql_entailment.cases),
    ("OWL 2 RL", owl2_rl.SUITE, owl2_rl.cases),
    ("LUBM(1)", lubm.SUITE, lubm.cases),
)


def page() -> str:
    """The whole page."""
    return "\n".join([_INTRODUCTION, *_tables()])


def _tables() -> Iterator[str]:
    for title, _, cases in _SUITES:
        found = list(cases())
        tests = {case.name for case in found}
        failing = {case.name for case in found if case.reason}
        yield f"## {title}\n\n{len(tests) - len(failing)} of {len(tests)} tests pass.\n"
        yield _table(found)
        yield from _custom(found)
        yield from _skipped(found)


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


def _custom(cases: Iterable[Case]) -> Iterator[str]:
    """The cases that need rules of their own."""
    if names := sorted(case.name for case in cases if case.kind == "custom"):
        links = ", ".join(f"[{name}](../tests/conformance/custom/{name}.rules)" for name in names)
        yield f"With rules of their own, added to the regime: {links}.\n"


def _skipped(cases: Iterable[Case]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        if case.reason:
            by_reason[case.reason].append(f"{case.name} ({case.regime}, {case.kind})")
    if by_reason:
        yield "Not passing:\n"
        yield "\n".join(f"- {', '.join(names)}: {why}" for why, names in by_reason.items()) + "\n"
