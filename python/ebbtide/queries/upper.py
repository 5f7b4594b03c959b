"""What a query keeps above its views: in a kernel of its own, or as the guest of a view.

    view ──changes──► mirror ──► source ──► rules and aggregates ──► kept relation     in its own
    view: pattern ──► rules and aggregates ──► kept relation                           as a guest

A mirror says in the query's kernel what a view's relation holds, through the query's own windows:
`until` is earlier by as much as the view is wider. It follows the view tick by tick, or takes over
the whole when it begins, or begins anew.

A query that has a view to itself needs no mirrors: the view runs its rules too, until somebody else
comes to look at the view. If it only tells which facts come to a relation of the view, it may stay
as long as all who look do so at the same ticks: what comes to narrower windows comes to the view,
or is renewed there, at that tick. What has changed since the last report is told by comparing,
once, after it has moved out or has rested.

Invariant: after `advance`, the kept relations are those of what the views' relations hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ebbtide._kernel import Kernel
from ebbtide.engines.native import NativeEngine
from ebbtide.program import Atom, Negation, Program
from ebbtide.program.rule import BodyPart
from ebbtide.queries.answers import TimedRow, timed_difference
from ebbtide.queries.grid import Grid
from ebbtide.queries.lowering import Direct
from ebbtide.queries.reader import Reader
from ebbtide.queries.sight import Sight
from ebbtide.queries.upper_plan import Source, UpperPlan
from ebbtide.queries.view import View
from ebbtide.time import EARLIEST, FOREVER, LATEST, Instant


class Mirror:
    """A relation above that holds what one of a view does, for windows of a widest range."""

    def __init__(self, engine: NativeEngine, source: Source, sight: Sight) -> None:
        self._engine = engine
        self._source = source
        self.sight = sight
        self.is_following = False

    def follow(self) -> None:
        """Take over all that the view holds, and then, after each of its ticks, what changed."""
        if not self.is_following:
            self.is_following = True
            self.sight.view.mirrors.append(self)
            self.take(self.sight.view, whole=True)

    def stop(self) -> None:
        """Follow no longer."""
        if self.is_following:
            self.is_following = False
            self.sight.view.mirrors.remove(self)

    def take(self, view: View, whole: bool) -> None:
        """The view is at a tick: say what it changed, or all that holds."""
        by = view.widest - self.sight.widest
        native, pattern = view.native, self._source.pattern
        self._engine.mirror(self._source.relation, native, pattern.relation, by, whole=whole)


class Upper:
    """The relations that a query keeps above its views.

    `told` is the answers' relation if its changes are told; straight, if these are what comes, at
    every tick, and every row is an answer.
    """

    def __init__(
        self,
        plan: UpperPlan,
        sights: Sequence[Sight],
        grids: Sequence[Grid],
        told: Direct | None,
        is_straight: bool,
    ) -> None:
        self._plan = plan
        #: What its relations are called in the view, where that is another name.
        self._names = {each.relation: each.pattern.relation for each in plan.sources}
        self._sights = {sight.name: sight for sight in sights}
        self._step = min((grid.step for grid in grids), default=1)
        self._lag = max(sight.reader.ticks[1] for sight in sights)
        self._told = told
        #: The tick before the last one, if what ends between two ticks is not noticed.
        self._since: Instant = EARLIEST
        #: The kernel of its own, if it has one.
        self.engine: NativeEngine | None = None
        self._mirrors: list[Mirror] = []
        self._tick: Instant | None = None
        #: What was told last, if ticks have passed since, or the kernel is another one.
        self._before: list[TimedRow] | None = None
        #: The same, at the tick that tells what has changed since.
        self._compared: list[TimedRow] | None = None
        self._is_straight = is_straight and not plan.rules and not plan.operators
        self._grids = grids
        #: The graph whose view it is a guest of.
        self._host = self._found_host()
        if self._host is None:
            self._open()
        else:
            self._host.view.guests.append(self)
            # Nothing was told yet.
            self._before = []

    def _open(self) -> None:
        """Begin with a kernel of its own."""
        plan = self._plan
        program = Program(plan.rules, plan.relations, operators=plan.operators)
        self.engine = NativeEngine(program, {}, step=self._step)
        self._mirrors = [
            Mirror(self.engine, source, self._sights[source.graph]) for source in plan.sources
        ]

    @property
    def plan(self) -> UpperPlan:
        """The plan as it is run."""
        return self._plan if self._host is None else self.in_view

    @property
    def in_view(self) -> UpperPlan:
        """The plan as a view runs it."""
        return _in_view(self._plan, self._names)

    @property
    def is_guest(self) -> bool:
        """Whether a view runs its rules."""
        return self._host is not None

    def can_stay_with(self, reader: Reader) -> bool:
        """Whether it does not mind that somebody else looks at the view."""
        return (
            self._is_straight and self._host is not None and reader.ticks == self._host.reader.ticks
        )

    def _found_host(self) -> Sight | None:
        """The graph whose view it can be a guest of: one that is looked at, at every tick."""
        graphs = {source.graph for source in self._plan.sources}
        if len(graphs) != 1:
            return None
        sight = self._sights[graphs.pop()]
        first = sight.first
        if first is not None and any(
            grid.first is None or grid.first < first for grid in self._grids
        ):
            return None
        others = sight.view.readers
        if others and not (
            self._is_straight and all(each.ticks == sight.reader.ticks for each in others)
        ):
            return None
        return sight if sight.view.can_host(self._plan) else None

    def move_out(self) -> None:
        """The view will be shared: go on in a kernel of its own."""
        self.rest()
        self._host, self._since = None, EARLIEST
        self._open()

    def advance(self, tick: Instant, shown: Sequence[Sight]) -> None:
        """Bring what is kept to a tick, at which the views of these graphs are."""
        for mirror in self._mirrors:
            if mirror.sight in shown:
                mirror.follow()
        if self.engine is not None:
            self.engine.evaluate(tick)
        if self._is_straight and self.is_guest:
            points = (grid.at_or_before(tick + self._lag - 1) for grid in self._grids)
            known = [at - self._lag for at in points if at is not None]
            self._since = max(known, default=EARLIEST)
        self._tick = tick
        self._compared, self._before = self._before, None

    def rest(self) -> None:
        """Look at the views no longer, until the next tick."""
        for mirror in self._mirrors:
            mirror.stop()
        if self._host is not None and self._told is not None and self._before is None:
            self._before = self._told_last(self._told)

    def end(self) -> None:
        """Look at the views no more."""
        for mirror in self._mirrors:
            mirror.stop()
        if self._host is not None:
            self._host.view.guests.remove(self)

    def _told_last(self, plan: Direct) -> list[TimedRow]:
        """The answers at its last tick. The view may be at the next one, for somebody else."""
        if self._tick is None:
            return []
        kernel, place, now = self.seen(plan.content.relation)
        by, tick = self._surplus, self._tick
        if now == tick + by:
            return self.rows(plan)
        came, went = (
            plan.read_changes(kernel, place, came, by, tick, tick) for came in (True, False)
        )
        return [*timed_difference(plan.read(kernel, place, tick + by), came), *went]

    @property
    def has_rested(self) -> bool:
        """Whether it knows what was told last, whatever the views do."""
        return self._host is None or self._told is None or self._before is not None

    @property
    def quiet_until(self) -> Instant | None:
        """Before this it stays as it is, as long as its views do; None: who knows."""
        if self._before is not None or not all(mirror.is_following for mirror in self._mirrors):
            return None
        return LATEST if self.engine is None else self.engine.quiet_until()

    def seen(self, relation: str) -> tuple[Kernel, int, Instant]:
        """A relation as it is at the last tick."""
        assert self._tick is not None, "what is kept is looked at after a tick"
        if self._host is not None:
            return self._host.view.seen(self._host.widest, self._names.get(relation, relation))
        assert self.engine is not None, "what is no guest has a kernel"
        return self.engine.seen(relation, self._tick)

    @property
    def _surplus(self) -> int:
        """How much wider than its own windows those are of what it reads from."""
        return 0 if self._host is None else self._host.view.widest - self._host.widest

    def rows(self, plan: Direct) -> list[TimedRow]:
        """The answers that hold at the last tick, with `until`."""
        found = plan.read(*self.seen(plan.content.relation))
        by = self._surplus
        return [(row, end if end == FOREVER else end - by) for row, end in found] if by else found

    def changes(self, plan: Direct, came: bool) -> list[TimedRow]:
        """The answers that came, or went, since the tick before, with `until`."""
        if self._compared is None:
            kernel, place, _ = self.seen(plan.content.relation)
            assert self._tick is not None, "changes are told after a tick"
            return plan.read_changes(kernel, place, came, self._surplus, self._since, self._tick)
        now = self.rows(plan)
        pair = (now, self._compared) if came else (self._compared, now)
        return timed_difference(*pair)


def _in_view(plan: UpperPlan, names: Mapping[str, str]) -> UpperPlan:
    """The plan on the view's relations instead of mirrors."""

    def named(atom: Atom) -> Atom:
        return replace(atom, relation=names.get(atom.relation, atom.relation))

    def part(each: BodyPart) -> BodyPart:
        match each:
            case Atom():
                return named(each)
            case Negation(atom):
                return Negation(named(atom))
        return each

    return UpperPlan(
        plan.sources,
        tuple(replace(rule, body=tuple(map(part, rule.body))) for rule in plan.rules),
        tuple(replace(each, input=names.get(each.input, each.input)) for each in plan.operators),
        {name: arity for name, arity in plan.relations.items() if name not in names},
    )
