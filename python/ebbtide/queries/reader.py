"""Who looks at a view: what readers want of it, who follows its changes, who is its guest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ebbtide.program import Atom
from ebbtide.queries.grid import Grid
from ebbtide.queries.lowering import Asked, Direct
from ebbtide.queries.maintained import Maintained
from ebbtide.queries.upper_plan import UpperPlan
from ebbtide.terms import IRI

if TYPE_CHECKING:
    from ebbtide.queries.view import View


@dataclass(slots=True, eq=False)
class Reader:
    """What a query wants of a view: through windows of a widest range, at ticks `step` apart."""

    widest: int
    step: int
    #: The grids of the ticks, and how long before them the view is asked.
    ticks: tuple[tuple[Grid, ...], int]
    patterns: tuple[Maintained, ...] = ()
    #: The triples that it looks at besides; None for all.
    triples: tuple[Atom, ...] | None = None


def wants(
    plan: Direct | Asked, graph: IRI | None, widest: int, grids: Sequence[Grid], lag: int
) -> Reader:
    """What a query that runs by a plan wants of the view that shows a graph."""
    step, ticks = min((grid.step for grid in grids), default=0), (tuple(grids), lag)
    read: list[Maintained] = []
    if plan.upper is not None:
        read += [source.pattern for source in plan.upper.sources if source.graph == graph]
    if isinstance(plan, Direct):
        if plan.graph == graph and isinstance(plan.content, Maintained):
            read.append(plan.content)
        return Reader(widest, step, ticks, tuple(read), ())
    contents = (table.content for table in plan.tables if table.graph == graph)
    read += [each for each in contents if isinstance(each, Maintained)]
    return Reader(widest, step, ticks, tuple(read), plan.triples.get(graph))


class Follower(Protocol):
    """Who is told what each tick of a view changed."""

    def take(self, view: View, whole: bool) -> None:
        """The view is at a tick: what it changed counts, or all that holds."""
        ...


class Guest(Protocol):
    """What a query keeps in a view, or reads from it as it changes."""

    @property
    def in_view(self) -> UpperPlan:
        """What the view is to run on its own relations."""
        ...

    def can_stay_with(self, reader: Reader) -> bool:
        """Whether it does not mind that somebody else looks at the view."""
        ...

    def rest(self) -> None:
        """The view will be another one: note what was told last."""
        ...

    def move_out(self) -> None:
        """Somebody else comes: take along what is needed, and keep it elsewhere."""
        ...
