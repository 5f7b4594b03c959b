"""Which part of a query runs how, for people."""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.queries.lowering import Asked, Direct
from ebbtide.queries.maintained import Maintained
from ebbtide.queries.sight import Sight
from ebbtide.queries.task import Task
from ebbtide.queries.upper_plan import UpperPlan


def explained(task: Task) -> str:
    """The views of a query, what is kept by rules, and what SPARQL is asked at every tick."""
    query = task.query
    return "\n".join(
        [
            f"query {query.name}: {query.form}, {query.emits}",
            *(f"  {_view(sight)}" for sight in task.sights),
            *(f"  {line}" for line in _parts(task)),
        ]
    )


def _view(sight: Sight) -> str:
    view = sight.view
    name = "the default graph" if sight.name is None else f"graph {sight.name}"
    streams = ", ".join(sorted(stream.text for stream in view.streams)) or "no stream"
    kept = f", kept for {view.widest} ms" if view.widest else ""
    others = len(view.readers) - 1
    shared = f", shared with {others} other window{'s' * (others > 1)}" if others else ""
    return f"{name}: a view of {streams}{kept}{shared}, {len(view.program.rules)} rules"


def _parts(task: Task) -> Iterator[str]:
    plan, upper = task.plan, task.upper
    above = "above the views"
    if upper is not None and upper.is_guest:
        has_rules = upper.plan.rules or upper.plan.operators
        above = "in the view, which it has to itself" if has_rules else "in a view"
    if isinstance(plan, Direct):
        where = "in a view" if upper is None else above
        if task.makes_nodes:
            yield f"incremental, the solutions: they are a relation, {where}"
            yield "at every tick, the triples with new nodes that the template makes of them"
        else:
            yield f"incremental, the whole query: its answers are a relation, {where}"
        if isinstance(plan.content, Maintained):
            yield from (f"  {rule}" for rule in plan.content.rules)
    else:
        for table, written in zip(plan.tables, plan.written, strict=True):
            where = "in the view" if isinstance(table.content, Maintained) else above
            yield f"incremental, rules {where}: {written}"
    if upper is not None:
        yield from _above(upper.plan, above)
    if isinstance(plan, Asked):
        where = "tables of these" if plan.tables else "the facts of the views"
        yield f"at every tick, SPARQL on {where}:"
        yield f"  {' '.join(plan.text.split())}"


def _above(plan: UpperPlan, where: str) -> Iterator[str]:
    for source in plan.sources:
        graph = "the default graph" if source.graph is None else f"graph {source.graph}"
        yield f"in the view of {graph}:"
        yield from (f"  {rule}" for rule in source.pattern.rules)
    if plan.rules or plan.operators:
        yield f"{where}:"
        yield from (f"  {part}" for part in (*plan.rules, *plan.operators))
