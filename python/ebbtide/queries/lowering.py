"""Which part of a query runs how: rules in views, rules and aggregates above them, or SPARQL.

From the root of the algebra down, what rules can say is kept as a relation, one fact a solution,
with `until`:

    without negation, of one graph        in the view of the graph, shared with other queries
    with negation, groups, several        above the views, for this query: `upper_plan.py`
    graphs
    all else                              SPARQL at every tick, on tables of what is kept, and on
                                          the facts of the views

If the whole query is one relation, its answers are read from it, and their changes are its. What a
narrower window sees is a filter on `until` only for what follows without negation, so that is what
views keep. Rules know each fact once and SPARQL counts: all variables of a pattern are kept in its
relation unless only the set matters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ebbtide._kernel import Kernel
from ebbtide.languages.rspql import ContinuousQuery
from ebbtide.languages.sparql_rules import UNBOUND, CannotLower, lower_pattern
from ebbtide.program import Atom, Origin
from ebbtide.queries.algebra import (
    asks_for_solutions,
    has_graphs,
    is_steady,
    triple_count,
    visible,
    with_branches,
    with_known_graphs,
    with_plain_names,
)
from ebbtide.queries.answers import TRIPLE_VARIABLES, TimedRow
from ebbtide.queries.construct import MADE, constructed
from ebbtide.queries.maintained import Column, Kept, Maintained
from ebbtide.queries.template import Template, has_blanks
from ebbtide.queries.triples import triples_asked
from ebbtide.queries.upper_plan import UpperPlan, UpperPlanner
from ebbtide.queries.writing import Writer
from ebbtide.terms import IRI
from ebbtide.time import Instant


@dataclass(frozen=True, slots=True)
class Table:
    """What SPARQL finds under a name: a relation of a graph's view, or one that is kept above."""

    name: str
    graph: IRI | None
    content: Kept


@dataclass(frozen=True, slots=True)
class Direct:
    """The whole query is one relation: its variables, and the column of each if any.

    The relation is in the view of a graph, unless there is something above the views.
    """

    graph: IRI | None
    content: Kept
    variables: tuple[str, ...]
    columns: tuple[int | None, ...]
    upper: UpperPlan | None = None

    @property
    def is_injective(self) -> bool:
        """Whether rows that differ are different answers."""
        return set(range(self.content.arity)) <= set(self.columns)

    def read(self, kernel: Kernel, place: int, after: Instant) -> list[TimedRow]:
        """The answers that a kernel's relation holds after an instant."""
        return kernel.rows(place, after, list(self.columns), UNBOUND.text)

    def read_changes(
        self, kernel: Kernel, place: int, came: bool, by: int, since: Instant, now: Instant
    ) -> list[TimedRow]:
        """The answers that a kernel's last tick changed, that are seen now and were not, or went.

        As windows see it that are narrower, so that all of it ends `by` earlier.
        """
        return kernel.row_changes(place, came, list(self.columns), UNBOUND.text, (by, since, now))


@dataclass(frozen=True, slots=True)
class Asked:
    """SPARQL, on tables and on the facts of the views."""

    text: str
    tables: tuple[Table, ...] = ()
    #: The triples that the rest asks of each graph; all of a graph that is not named here.
    triples: Mapping[IRI | None, tuple[Atom, ...]] = field(default_factory=dict)
    #: What was written for each table, for people.
    written: tuple[str, ...] = field(default=(), compare=False)
    upper: UpperPlan | None = None


def plan_query(
    query: ContinuousQuery, graphs: Sequence[IRI | None], incremental: bool = True
) -> Direct | Asked:
    """How a query runs, of whose dataset these graphs have views."""
    template = template_of(query)
    # What is made of solutions is compared with what was made of others.
    reads_views = query.emits == "RStream" or template is not None
    planner = _Planner(graphs, reads_views, query.origin)
    algebra = with_plain_names(query.algebra)
    text = query.text
    if query.form == "describe":
        return Asked(text, (), triples_asked(algebra, graphs))
    if template is not None:
        algebra = ("select", algebra[1], ("project", algebra[2], template.variables))
    if template is not None or asks_for_solutions(algebra):
        # Oxigraph takes blank nodes of patterns for a part of solutions.
        text = Writer().query(algebra)
    if not incremental:
        branched = with_branches(algebra)
        text = text if branched == algebra else Writer().query(branched)
        return Asked(text, (), triples_asked(branched, graphs))
    form, dataset, pattern, *rest = algebra
    names = [each.text for each in graphs if each is not None]
    algebra = (form, dataset, with_known_graphs(pattern, names), *rest)
    match algebra:
        case ("select", _, ("distinct" | "reduced", ("project", inner, names))):
            direct = planner.direct(inner, names, names, one_by_one=False)
        case ("select", _, ("project", inner, names)):
            direct = planner.direct(inner, visible(inner), names, one_by_one=True)
        case ("ask", _, inner):
            direct = planner.direct(inner, (), (), one_by_one=False)
        case ("construct", _, inner, made) if made:
            direct = planner.direct(constructed(inner, made), MADE, MADE, one_by_one=False)
        case _:
            direct = None
    return direct or planner.asked(text, algebra, graphs)


def template_of(query: ContinuousQuery) -> Template | None:
    """What makes triples of a query's solutions, if these have new nodes."""
    match with_plain_names(query.algebra):
        case ("construct", _, pattern, template) if has_blanks(template):
            made = tuple((s, p, o) for s, p, o in template)
            return Template(query.name, made, visible(pattern))
    return None


class _Planner:
    """Takes one query apart."""

    def __init__(self, graphs: Sequence[IRI | None], reads_views: bool, origin: Origin) -> None:
        self._graphs: Mapping[str, IRI] = {each.text: each for each in graphs if each is not None}
        self._upper = UpperPlanner(self.maintain, self._graphs, origin)
        self._origin = origin
        self._reads_views = reads_views
        self._tables: list[Table] = []
        self._written: list[str] = []
        self._has_rewritten = False

    def direct(
        self, pattern: Sequence[Any], kept: Sequence[str], names: Sequence[str], one_by_one: bool
    ) -> Direct | None:
        """The whole query as one relation, if it can be one."""
        found = self._lowered(pattern, None, kept, one_by_one)
        if found is not None and self._reads_views:
            return _direct(*found, names, None)
        try:
            above = (
                self._upper.keep(pattern, None, kept, one_by_one)
                if found is None
                else self._upper.source(*found)
            )
        except CannotLower:
            return None
        return _direct(None, above, names, self._upper.plan([above.relation]))

    def asked(self, text: str, algebra: Sequence[Any], graphs: Sequence[IRI | None]) -> Asked:
        """SPARQL, with tables for what is kept."""
        form, dataset, pattern, *template = algebra
        rewritten = (form, dataset, self._below_modifiers(pattern), *template)
        triples = triples_asked(rewritten, graphs)
        if not (self._tables or self._has_rewritten):
            return Asked(text, (), triples)
        above = [
            each.content.relation
            for each in self._tables
            if not isinstance(each.content, Maintained)
        ]
        return Asked(
            Writer().query(rewritten),
            tuple(self._tables),
            triples,
            tuple(self._written),
            self._upper.plan(above),
        )

    # ---- patterns to relations of views ------------------------------------------------------

    def maintain(
        self, pattern: Sequence[Any], graph: IRI | None
    ) -> tuple[IRI | None, Maintained] | None:
        """The relation of a view that has the solutions of a pattern one by one, if there is."""
        return self._lowered(pattern, graph, visible(pattern), one_by_one=True)

    def _lowered(
        self, pattern: Sequence[Any], graph: IRI | None, names: Sequence[str], one_by_one: bool
    ) -> tuple[IRI | None, Maintained] | None:
        match pattern:
            case ("graph", inner, str(name)) if name in self._graphs:
                return self._lowered(inner, self._graphs[name], names, one_by_one)
        if has_graphs(pattern) or not is_steady(pattern):
            return None
        columns = tuple(name[1:] for name in names)
        said = repr((pattern, columns, one_by_one))
        relation = f"answer:{hashlib.sha256(said.encode()).hexdigest()[:16]}"
        try:
            lowered = lower_pattern(
                tuple(pattern),
                relation,
                columns,
                name=relation,
                origin=self._origin,
                witnesses=one_by_one,
            )
        except CannotLower:
            return None
        heads = [rule.heads[0] for rule in lowered.rules if rule.heads[0].relation == relation]
        if any(rule.negations for rule in lowered.rules) or not heads:
            return None
        if one_by_one and not lowered.counts:
            return None
        places = tuple(
            Column(name, place, any(head.arguments[place] == UNBOUND for head in heads))
            for place, name in enumerate(columns)
        )
        return graph, Maintained(relation, places, lowered.arity, lowered.rules)

    # ---- algebra with tables -----------------------------------------------------------------

    def _below_modifiers(self, pattern: Sequence[Any]) -> Any:
        """The pattern of a query with tables below what says which solutions are shown, and how."""
        match pattern:
            case ("slice" | "distinct" | "reduced" as word, inner, *rest):
                return word, self._below_modifiers(inner), *rest
            case ("project", ("order_by", inner, keys), names):
                return "project", ("order_by", self._rewritten(inner, None), keys), names
            case ("project", inner, names):
                return "project", self._rewritten(inner, None), names
        return self._rewritten(pattern, None)

    def _rewritten(self, pattern: Sequence[Any], graph: IRI | None) -> Any:
        """The pattern with tables for what is kept, as high up as it can be."""
        if triple_count(pattern) > 1 and (kept := self._kept(pattern, graph)) is not None:
            return self._table(*kept, pattern)
        match pattern:
            case ("join" | "union" as word, *parts):
                return word, *(self._rewritten(part, graph) for part in parts)
            case ("left_join", left, right, condition):
                return (
                    "left_join",
                    self._rewritten(left, graph),
                    self._rewritten(right, graph),
                    condition,
                )
            case ("minus", left, right):
                return "minus", self._rewritten(left, graph), self._rewritten(right, graph)
            case ("graph", inner, str(name)) if name in self._graphs:
                return "graph", self._rewritten(inner, self._graphs[name]), name
            case ("path", _, ("|", *_), _):
                self._has_rewritten = True
                return with_branches(pattern)
            case ("bgp" | "path" | "values" | "graph" | "service", *_):
                return tuple(pattern)
            case (word, inner, *rest):
                return word, self._rewritten(inner, graph), *rest
        return tuple(pattern)

    def _kept(self, pattern: Sequence[Any], graph: IRI | None) -> tuple[IRI | None, Kept] | None:
        """The relation that has the solutions of a pattern one by one, as a table."""
        found: tuple[IRI | None, Kept] | None = self.maintain(pattern, graph)
        if found is None:
            try:
                found = None, self._upper.keep(pattern, graph, visible(pattern), one_by_one=True)
            except CannotLower:
                return None
        return found if found is not None and found[1].is_table else None

    def _table(self, graph: IRI | None, content: Kept, written: Sequence[Any]) -> tuple[Any, ...]:
        self._written.append(Writer().group(written))
        table = Table(f"<urn:ebbtide:table:{len(self._tables)}>", graph, content)
        self._tables.append(table)
        return "table", table.name, *content.node[2:]


def _direct(
    graph: IRI | None, content: Kept, names: Sequence[str], upper: UpperPlan | None
) -> Direct:
    variables = TRIPLE_VARIABLES if names == MADE else tuple(name[1:] for name in names)
    found = (content.column(name) for name in names)
    columns = tuple(None if each is None else each.place for each in found)
    return Direct(graph, content, variables, columns, upper)
