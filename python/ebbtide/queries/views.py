"""The views of an engine: which there are, who looks at them, and the static graphs that they show.

A query looks at one view a graph of its dataset. A view is there as long as somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ebbtide.languages.rspql import ContinuousQuery, StreamWindow
from ebbtide.program import Fact, Program, ProgramError
from ebbtide.queries.dated import DatedView
from ebbtide.queries.grid import Grid
from ebbtide.queries.lowering import Asked, Direct
from ebbtide.queries.pane import ViewKey
from ebbtide.queries.printing import Printing
from ebbtide.queries.reader import wants
from ebbtide.queries.sight import Sight, Wanted, dated_range, lag_of, sight_key
from ebbtide.queries.static import StaticGraph
from ebbtide.queries.triples import triples_asked
from ebbtide.queries.view import View
from ebbtide.terms import IRI
from ebbtide.time import Instant


class Views:
    """The views that queries look at, over static graphs by name."""

    def __init__(
        self,
        graphs: dict[IRI | None, StaticGraph],
        has_background: bool,
        lazy: bool,
        printing: Printing,
    ) -> None:
        self._graphs = graphs
        self._has_background = has_background
        self._lazy = lazy
        self._printing = printing
        self._views: dict[ViewKey, View] = {}
        #: The retractions that facts may still come before.
        self._retractions: list[tuple[Instant, Fact]] = []

    def __iter__(self) -> Iterator[View]:
        return iter(self._views.values())

    def __len__(self) -> int:
        return len(self._views)

    def check_graphs(self, query: ContinuousQuery) -> None:
        """Refuse a query of static graphs that were not given."""
        for name in query.named_graphs:
            if name not in self._graphs:
                raise ProgramError(f"the static graph {name} was not given", query.place(name))
        for name in query.graphs:
            if name not in self._graphs:
                if not self._has_background:
                    raise ProgramError(
                        f"the static graph {name} was not given, nor any background",
                        query.place(name),
                    )
                # The background stands for it.
                self._graphs[name] = StaticGraph()

    def is_default_empty(self, query: ContinuousQuery) -> bool:
        """Whether a query asks the default graph for triples, and nothing is in it so far."""
        has_windows = any(each.name is None for each in query.streams)
        if has_windows or query.graphs or self._has_background:
            return False
        return bool(triples_asked(query.algebra, [None]).get(None))

    # ---- who looks ---------------------------------------------------------------------------

    def sights(
        self,
        query: ContinuousQuery,
        program: Program,
        plan: Direct | Asked,
        wanted: Sequence[Wanted],
        grids: Sequence[Grid],
        closes: Mapping[StreamWindow, Grid | None],
    ) -> list[Sight]:
        """What a query sees of the graphs that it wants: views that are there, or new ones."""
        lag = lag_of(query)
        known = dict(self._views)
        sights = []
        for each in wanted:
            key, widest, first = sight_key(each, program, grids, lag, closes)
            dated = None
            if query.timestamps and each.windows:
                dated = dated_range(each, key)
                if dated is None:
                    key = replace(key, is_dated=True, range=widest)
            view = known.get(key)
            if view is None:
                view = known[key] = self._opened(key, program)
            reader = wants(plan, each.name, widest, grids, lag)
            if query.timestamps and each.windows:
                # A timestamp may be asked for of any triple, whatever the patterns look at.
                reader.triples = None
            sights.append(Sight(each.name, view, reader, first, dated))
        return sights

    def _opened(self, key: ViewKey, program: Program) -> View:
        if key.is_dated:
            return DatedView(key, program, self._graphs)
        return View(key, program, self._graphs, self._lazy)

    def join(self, sights: Sequence[Sight]) -> None:
        """A query looks at these from now on."""
        for sight in sights:
            sight.view.join(sight.reader)
        for sight in sights:
            if sight.view.key not in self._views:
                self._printing.follow(sight.view)
            if self._views.setdefault(sight.view.key, sight.view).is_fresh:
                for at, fact in self._retractions:
                    sight.view.retract(fact, at)

    def leave(self, sights: Sequence[Sight]) -> None:
        """A query looks at these no longer."""
        for sight in sights:
            sight.view.leave(sight.reader)
            if not sight.view.readers:
                self._views.pop(sight.view.key, None)
                self._printing.leave(sight.view)

    # ---- what is said of all of them ---------------------------------------------------------

    def add(self, fact: Fact, after: Instant | None) -> None:
        """A background fact is stated, after the ticks that have seen an instant."""
        self._graphs[None].add([fact], after)
        for view in self:
            if None in view.key.statics:
                view.add(fact)

    def retract(self, fact: Fact, at: Instant, complete: Instant) -> None:
        """Every statement of a fact up to an instant is taken back; what is complete is known."""
        for graph in self._graphs.values():
            graph.retract(fact, at)
        for view in self:
            view.retract(fact, at)
        awaited = (each for each in self._retractions if each[0] > complete)
        self._retractions = [(at, fact), *awaited]
