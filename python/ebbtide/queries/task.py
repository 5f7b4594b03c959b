"""A query at work: its ticks, what it sees, and what it answered last.

In: the instant of a tick. Out: `Answers`, or nothing if the report policy or the stream operator
has nothing to tell. When the ticks are is in `ticks.py`; views are asked `lag` before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from ebbtide._kernel import SparqlQuery
from ebbtide.languages.rspql import StreamWindow, TimeWindow
from ebbtide.queries.algebra import is_steady
from ebbtide.queries.answers import (
    TRIPLE_VARIABLES,
    Answers,
    Op,
    Row,
    TimedRow,
    difference,
    timed_difference,
)
from ebbtide.queries.contents import Contents, moves_by_several
from ebbtide.queries.dated import DatedView
from ebbtide.queries.grid import Grid
from ebbtide.queries.instants import Instants
from ebbtide.queries.lowering import Asked, Direct, template_of
from ebbtide.queries.maintained import Maintained
from ebbtide.queries.registered import RegisteredQuery
from ebbtide.queries.report import Report
from ebbtide.queries.sight import Sight
from ebbtide.queries.ticks import Ticks
from ebbtide.queries.upper import Upper
from ebbtide.terms import IRI
from ebbtide.time import EARLIEST, FOREVER, LATEST, Instant

_EPOCH: Final = datetime(1970, 1, 1)
_SOLUTION: Final = ((),)
_OPS: Final[Mapping[str, Op | None]] = {"RStream": None, "IStream": "+", "DStream": "-"}


class Task:
    """One registered query at work."""

    def __init__(
        self,
        number: int,
        handle: RegisteredQuery,
        report: Report,
        grids: Sequence[Grid],
        lag: int,
        closes: Mapping[StreamWindow, Grid | None],
        sights: Sequence[Sight],
        plan: Direct | Asked,
        instants: Mapping[IRI, Instants],
    ) -> None:
        self.number = number
        self.handle = handle
        self.query = handle.query
        self.report = report
        self.sights = sights
        self._sights = {sight.name: sight for sight in sights}
        #: The streams it reads.
        self.streams = frozenset(window.stream for window in self.query.streams)
        self.ticks = Ticks(grids, lag, self.streams, instants)
        #: Up to when a warning said that many ticks are due.
        self.warned_up_to: Instant = EARLIEST
        self.plan = plan
        self._template = template_of(self.query)
        tells_rows = self.query.emits != "RStream" and self._template is None
        told = plan if isinstance(plan, Direct) and tells_rows else None
        #: What it keeps above its views, if anything.
        self.upper = None
        if plan.upper is not None:
            is_straight = told is not None and told.is_injective and self.query.emits == "IStream"
            is_straight = is_straight and bool(grids) and not report.looks_at_content
            self.upper = Upper(plan.upper, sights, grids, told, is_straight)
        #: Whether it tells how its answers change, and only facts decide whether they do.
        self._tells_changes = self.query.emits != "RStream" and is_steady(self.query.algebra)
        self._asked = SparqlQuery(plan.text) if isinstance(plan, Asked) else None
        self._before: tuple[Row, ...] = ()
        #: The last tick at which its policy let it report; there may have been nothing to tell.
        self.reported: Instant | None = None
        #: Whether its answers at the last tick are known: not those that it rested at, or reported
        #: nothing at.
        self._knows_last = False
        self._moves = 0
        self._contents = Contents(report, self.query.streams, closes, instants, lag)

    def skip(self, up_to: Instant) -> None:
        """Ticks that see an instant at most are over."""
        self.ticks.skip(up_to)
        # How often windows have moved by now is nothing to tell.
        self._has_moved(up_to + self.ticks.lag)

    @property
    def makes_nodes(self) -> bool:
        """Whether its answers are triples with new nodes, made of solutions."""
        return self._template is not None

    @property
    def reach(self) -> int:
        """How long before a tick facts may have happened that the report policy asks for."""
        windows = [each.window for each in self.query.streams]
        ranges = (each.range for each in windows if isinstance(each, TimeWindow))
        return max(ranges, default=0) + self.ticks.longest_step

    # ---- silence -----------------------------------------------------------------------------

    @property
    def tells_always(self) -> bool:
        """Whether every tick has something to tell."""
        return not self._tells_changes and not self.report.looks_at_content

    def skip_silent(self, due: Instant) -> bool:
        """Leave out ticks that would tell nothing, but for the last that is due. Whether it did."""
        if self.ticks.count_up_to(due) < 2:
            return False
        quiet = self._quiet_until()
        return quiet is not None and self.ticks.jump(quiet, due)

    def _quiet_until(self) -> Instant | None:
        """Ticks that see less have nothing to tell, unless something is said; None: who knows."""
        if self.ticks.last is None:
            return None
        if self.handle.state == "paused":
            return LATEST if self.upper is None or self.upper.has_rested else None
        found = (self._contents.silent_until(), self._same_answers())
        return max((each for each in found if each is not None), default=None)

    def _same_answers(self) -> Instant | None:
        """As long as answers are the same, none come or go."""
        if not self._tells_changes or not self._knows_last:
            return None
        assert self.ticks.last is not None
        found = [LATEST if self.upper is None else self.upper.quiet_until]
        for sight in self.sights:
            seen = sight.tick(self.ticks.last, self.ticks.lag)
            # What ends for narrower windows is no change of the view.
            is_told = isinstance(self.plan, Direct) and self._template is None
            is_as_wide = sight.widest == sight.view.widest or is_told
            found.append(None if seen is None or not is_as_wide else sight.view.quiet_until(seen))
        known = [each for each in found if each is not None]
        return min(known) if len(known) == len(found) else None

    # ---- answers -----------------------------------------------------------------------------

    def evaluate(self, tick: Instant) -> Answers | None:
        """Answer at a tick, and move on to the next one."""
        self.ticks.move_on(tick)
        self._knows_last = False
        if self.handle.state == "paused":
            if self.upper is not None:
                self.upper.rest()
            self._contents.rest()
            # What happens meanwhile comes and goes, so that it does not pile up.
            for sight in self.sights:
                self._look(sight, tick)
            return None
        if not self._has_moved(tick) or not self._contents.report(
            tick, lambda window: self._moves_of(self._sights[window.name], tick)
        ):
            return None
        self._knows_last = True
        self.reported = tick
        plan, emits = self.plan, self.query.emits
        until: tuple[Instant, ...] | None = None
        if isinstance(plan, Direct) and self._template is None:
            variables: tuple[str, ...] = plan.variables
            found = self._rows(plan, tick) if emits == "RStream" else self._changes(plan, tick)
            told = tuple(row for row, _ in found)
            if emits != "DStream":
                until = tuple(end for _, end in found)
        else:
            variables, rows = self._whole(plan, tick)
            match emits:
                case "IStream":
                    told = difference(rows, self._before)
                case "DStream":
                    told = difference(self._before, rows)
                case _:
                    told = rows
            self._before = rows
        if emits != "RStream" and not told:
            return None
        return Answers(tick, self.query.name, self.query.form, variables, told, _OPS[emits], until)

    def _whole(
        self, plan: Direct | Asked, tick: Instant
    ) -> tuple[tuple[str, ...], tuple[Row, ...]]:
        """All answers."""
        if isinstance(plan, Asked):
            variables, rows = self._ask(plan, tick)
        else:
            variables, rows = plan.variables, tuple(row for row, _ in self._rows(plan, tick))
        if self._template is None:
            return variables, rows
        return TRIPLE_VARIABLES, self._template.triples(rows)

    def _has_moved(self, tick: Instant) -> bool:
        """Whether a window has, if all of them move by several facts and nothing else is a tick."""
        if not self.ticks.follows_facts or not all(map(moves_by_several, self.query.streams)):
            return True
        moves = sum(self._moves_of(sight, tick) for sight in self.sights)
        before, self._moves = self._moves, moves
        return moves != before

    def _moves_of(self, sight: Sight, tick: Instant) -> int:
        return sight.view.moves if self._look(sight, tick) else 0

    def _look(self, sight: Sight, tick: Instant) -> bool:
        """Bring a view to what is seen at a tick; False before its window closed first."""
        seen = sight.tick(tick, self.ticks.lag)
        if seen is not None:
            sight.view.advance(seen)
        return seen is not None

    def _rows(self, plan: Direct, tick: Instant) -> Sequence[TimedRow]:
        """The answers that a relation holds."""
        if self.upper is not None:
            self._look_up(tick)
            return self._ended(self.upper.rows(plan), 0)
        sight = self._sights[plan.graph]
        if not self._look(sight, tick):
            return ()
        found = plan.read(*sight.view.seen(sight.widest, plan.content.relation))
        return self._ended(found, sight.view.widest - sight.widest)

    def _changes(self, plan: Direct, tick: Instant) -> Sequence[TimedRow]:
        """The answers that a relation gained, or lost, since the last report.

        Rows that differ in what the query does not show are one answer.
        """
        assert self.upper is not None, "changes are those of what is kept above"
        self._look_up(tick)
        came = self.query.emits == "IStream"
        told = self.upper.changes(plan, came)
        if not plan.is_injective:
            told = timed_difference(told, self.upper.changes(plan, not came))
        return self._ended(told, 0)

    def _ended(self, rows: Sequence[TimedRow], surplus: int) -> Sequence[TimedRow]:
        """The rows with the first tick at which they are gone, of a view wider by the surplus."""
        later = self.ticks.lag - surplus
        if not later:
            return rows
        return [(row, until if until == FOREVER else until + later) for row, until in rows]

    def _look_up(self, tick: Instant) -> list[Sight]:
        """Bring the views, and what is kept above them, to a tick; those that show anything."""
        shown = [sight for sight in self.sights if self._look(sight, tick)]
        if self.upper is not None:
            self.upper.advance(tick - self.ticks.lag, shown)
        return shown

    def _ask(self, plan: Asked, tick: Instant) -> tuple[tuple[str, ...], tuple[Row, ...]]:
        """What SPARQL answers, on tables and on the facts of the views."""
        assert self._asked is not None, "what is not direct is asked"
        shown = {sight.name: sight for sight in self._look_up(tick)}
        graphs = [
            (None if name is None else name.text, sight.view.seen(sight.widest))
            for name, sight in shown.items()
        ]
        tables = []
        for table in plan.tables:
            relation = table.content.relation
            if not isinstance(table.content, Maintained):
                assert self.upper is not None, "what is no view's is kept above"
                tables.append((table.name, self.upper.seen(relation)))
            elif (sight := shown.get(table.graph)) is not None:
                tables.append((table.name, sight.view.seen(sight.widest, relation)))
        dated = [self._dated(sight) for sight in shown.values()]
        found = self._asked.answers(graphs, tables, _iso(tick), dated)
        if isinstance(found, bool):
            return (), _SOLUTION if found else ()
        if isinstance(found, tuple):
            variables, rows = found
            return tuple(variables), tuple(map(tuple, rows))
        return TRIPLE_VARIABLES, tuple(dict.fromkeys(tuple(triple) for triple in found))

    def _dated(self, sight: Sight) -> int | None:
        """How long the triples of a view hold after they happened, if that is asked."""
        if isinstance(sight.view, DatedView):
            return sight.view.span
        return None if sight.dated is None else sight.dated + sight.view.widest - sight.widest


def _iso(tick: Instant) -> str:
    """The lexical form of an instant as xsd:dateTime."""
    try:
        moment = _EPOCH + timedelta(milliseconds=tick)
    except OverflowError:
        moment = datetime.max if tick > 0 else datetime.min
    return f"{moment.isoformat(timespec='milliseconds')}Z"
