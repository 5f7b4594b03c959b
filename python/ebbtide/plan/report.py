"""A plan as text: what became of each written rule, why, and the forms it has.

cax-sco   kept      2 forms
    triple(?x, a, Person) :- triple(?x, a, Student).
    triple(?x, a, Student) :- triple(?x, a, Master).
prp-trp   asleep    nothing known matches its schema
eq-rep-s  dropped   concludes nothing that is needed
"""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.plan.plan import Fate, Plan


def report(plan: Plan) -> str:
    """The verdicts of a plan, a line a rule, and the forms of the rule below it."""
    return "\n".join(_lines(plan))


def _lines(plan: Plan) -> Iterator[str]:
    width = max((len(verdict.rule.name) for verdict in plan.verdicts), default=0)
    for verdict in plan.verdicts:
        yield f"{verdict.rule.name:{width}}  {verdict.fate:8}  {verdict.why}"
        yield from (f"    {form}" for form in verdict.forms or ())
    kept = sum(verdict.fate is Fate.KEPT for verdict in plan.verdicts)
    forms = sum(len(verdict.forms or ()) for verdict in plan.verdicts)
    yield f"{kept} of {len(plan.verdicts)} rules kept, {forms} forms"
