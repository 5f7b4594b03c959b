"""What a query keeps above its views: one kernel, fed by the views' relations.

    view ──changes──► mirror ──► source ──► rules and aggregates ──► kept relation

A mirror says in this kernel what a view's relation holds, through the query's own windows: `until`
is earlier by as much as the view is wider. It follows the view tick by tick, or takes over the
whole when it begins, or begins anew.

Invariant: after `advance`, sources hold what the views' relations do at that tick.
"""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide._kernel import Kernel
from ebbtide.engines.native import NativeEngine
from ebbtide.program import Program
from ebbtide.queries.sight import Sight
from ebbtide.queries.upper_plan import Source, UpperPlan
from ebbtide.queries.view import View
from ebbtide.time import Instant


class Mirror:
    """A relation above that holds what one of a view does, for windows of a widest range."""

    def __init__(self, engine: NativeEngine, source: Source, sight: Sight) -> None:
        self._engine = engine
        self._source = source
        self._sight = sight
        self.is_following = False

    def follow(self) -> None:
        """Take over all that the view holds, and then, after each of its ticks, what changed."""
        if not self.is_following:
            self.is_following = True
            self._sight.view.mirrors.append(self)
            self.take(self._sight.view, whole=True)

    def stop(self) -> None:
        """Follow no longer."""
        if self.is_following:
            self.is_following = False
            self._sight.view.mirrors.remove(self)

    def take(self, view: View, whole: bool) -> None:
        """The view is at a tick: say what it changed, or all that holds."""
        by = view.widest - self._sight.widest
        native, pattern = view.native, self._source.pattern
        self._engine.mirror(self._source.relation, native, pattern.relation, by, whole=whole)

    @property
    def sight(self) -> Sight:
        """The graph that it follows."""
        return self._sight


class Upper:
    """The relations that a query keeps above its views."""

    def __init__(self, plan: UpperPlan, sights: Sequence[Sight], step: int) -> None:
        program = Program(plan.rules, plan.relations, operators=plan.operators)
        self.engine = NativeEngine(program, {}, step=step or 1)
        by_name = {sight.name: sight for sight in sights}
        self._mirrors = [
            Mirror(self.engine, source, by_name[source.graph]) for source in plan.sources
        ]
        self._tick: Instant | None = None

    def advance(self, tick: Instant, shown: Sequence[Sight]) -> None:
        """Bring what is kept to a tick, at which the views of these graphs are."""
        for mirror in self._mirrors:
            if mirror.sight in shown:
                mirror.follow()
        self.engine.evaluate(tick)
        self._tick = tick

    def rest(self) -> None:
        """Follow the views no longer, until the next tick."""
        for mirror in self._mirrors:
            mirror.stop()

    def seen(self, relation: str) -> tuple[Kernel, int, Instant]:
        """A relation as it is at the last tick."""
        assert self._tick is not None, "what is kept is looked at after a tick"
        return self.engine.seen(relation, self._tick)

    def changes(self, relation: str, came: bool) -> list[tuple[list[str], Instant]]:
        """What the last tick brought, or took, with `until`."""
        return self.engine.row_changes(relation, came)
