"""Which part of a query runs how, for people."""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.queries.lowering import Direct
from ebbtide.queries.sight import Sight
from ebbtide.queries.task import Task


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
    shared = f", shared with {others} other queries" if others else ""
    return f"{name}: a view of {streams}{kept}{shared}, {len(view.program.rules)} rules"


def _parts(task: Task) -> Iterator[str]:
    plan = task.plan
    if isinstance(plan, Direct):
        yield "incremental, the whole query: its answers are a relation"
        yield from (f"  {rule}" for rule in plan.pattern.rules)
        return
    for part in plan.parts:
        yield f"incremental, {part}"
    where = "tables of these" if plan.tables else "the facts of the views"
    yield f"at every tick, SPARQL on {where}:"
    yield f"  {' '.join(plan.text.split())}"
