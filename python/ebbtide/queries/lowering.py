"""Which part of a query runs how: patterns as rules, groups as aggregates, the rest as SPARQL.

A *maintained* pattern is a relation of the view that shows its graph: one fact a solution, kept by
rules, with `until`. From the root of the algebra down, a pattern that rules can say is maintained,
and what they cannot say is looked at inside. Then

    the whole query is one pattern       its answers are read from the relation, and its deltas too
    some parts of it are                 SPARQL is asked at every tick, on tables in their place
    nothing is                           SPARQL is asked at every tick, on the facts of the views

Patterns with negation are left to SPARQL, because a narrower window is a filter on `until` only for
what follows without it; so are functions of time and chance. Rules know each fact once and SPARQL
counts, so that all variables of a pattern are kept in its relation unless only the set matters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ebbtide.languages.rspql import ContinuousQuery
from ebbtide.languages.sparql_rules import UNBOUND, CannotLower, lower_pattern
from ebbtide.program import Atom, Rule, Variable
from ebbtide.queries.algebra import (
    has_graphs,
    is_steady,
    triple_count,
    visible,
    with_plain_names,
)
from ebbtide.queries.triples import triples_asked
from ebbtide.queries.writing import Writer
from ebbtide.terms import IRI

_FUNCTIONS: Final = {"COUNT": "count", "SUM": "sum", "MIN": "min", "MAX": "max", "AVG": "avg"}


@dataclass(frozen=True, slots=True)
class Maintained:
    """A pattern that is kept as a relation. Columns beyond those of the variables are witnesses."""

    relation: str
    columns: tuple[str, ...]
    loose: frozenset[str]
    arity: int
    rules: tuple[Rule, ...]

    @property
    def is_table(self) -> bool:
        """Whether some column has a term in every row, so that SPARQL finds each row by it."""
        return len(self.loose) < len(self.columns)

    @property
    def head(self) -> Atom:
        """An atom that every fact of the relation matches."""
        return Atom(self.relation, tuple(Variable(f"c{place}") for place in range(self.arity)))


@dataclass(frozen=True, slots=True)
class Grouped:
    """A function of each group of a maintained pattern's solutions, kept by an operator."""

    function: str
    pattern: Maintained
    group: tuple[int, ...]
    value: int | None = None

    @property
    def relation(self) -> str:
        """What the relation is called, before the window is told."""
        columns = ",".join(map(str, self.group))
        return f"{self.pattern.relation}/{self.function}({self.value})by({columns})"


@dataclass(frozen=True, slots=True)
class Table:
    """What SPARQL finds under a name: a maintained pattern or a grouped one, of a graph's view."""

    name: str
    graph: IRI | None
    content: Maintained | Grouped


@dataclass(frozen=True, slots=True)
class Direct:
    """The whole query is one maintained pattern: its variables, and the column of each if any."""

    graph: IRI | None
    pattern: Maintained
    variables: tuple[str, ...]
    columns: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """SPARQL, on tables and on the facts of the views."""

    text: str
    tables: tuple[Table, ...] = ()
    #: The triples that the rest asks of each graph; all of a graph that is not named here.
    triples: Mapping[IRI | None, tuple[Atom, ...]] = field(default_factory=dict)
    #: What was written for the parts that are maintained, for people.
    parts: tuple[str, ...] = field(default=(), compare=False)


def plan_query(
    query: ContinuousQuery, graphs: Sequence[IRI | None], incremental: bool = True
) -> Direct | Asked:
    """How a query runs, of whose dataset these graphs have views."""
    planner = _Planner(graphs, incremental)
    algebra = with_plain_names(query.algebra)
    match algebra:
        case ("select", _, ("distinct" | "reduced", ("project", inner, names))):
            found = planner.set_of(inner, None, names)
            if found is not None:
                return _direct(*found, names)
        case ("select", _, ("project", inner, names)):
            found = planner.maintain(inner, None)
            if found is not None:
                return _direct(*found, names)
        case ("ask", _, inner):
            found = planner.set_of(inner, None, ())
            if found is not None:
                return _direct(*found, ())
    rewritten = planner.rewrite_query(algebra)
    triples = triples_asked(rewritten or algebra, graphs)
    if rewritten is None or not (planner.tables or planner.has_rewritten):
        return Asked(query.text, (), triples)
    return Asked(Writer().query(rewritten), tuple(planner.tables), triples, tuple(planner.parts))


def _direct(graph: IRI | None, pattern: Maintained, names: Sequence[str]) -> Direct:
    places = {name: place for place, name in enumerate(pattern.columns)}
    variables = tuple(name[1:] for name in names)
    return Direct(graph, pattern, variables, tuple(places.get(name) for name in variables))


class _Planner:
    """Takes one query apart."""

    def __init__(self, graphs: Sequence[IRI | None], incremental: bool) -> None:
        self._maintains = incremental
        self._graphs: Mapping[str, IRI] = {each.text: each for each in graphs if each is not None}
        self.tables: list[Table] = []
        self.parts: list[str] = []
        self.has_rewritten = False

    # ---- patterns to relations ---------------------------------------------------------------

    def maintain(
        self, pattern: Sequence[Any], graph: IRI | None
    ) -> tuple[IRI | None, Maintained] | None:
        """The relation that has the solutions of a pattern one by one, if rules can say it."""
        return self._lowered(pattern, graph, visible(pattern), one_by_one=True)

    def set_of(
        self, pattern: Sequence[Any], graph: IRI | None, names: Sequence[str]
    ) -> tuple[IRI | None, Maintained] | None:
        """The relation that has each solution once, for some variables alone."""
        return self._lowered(pattern, graph, names, one_by_one=False)

    def _lowered(
        self, pattern: Sequence[Any], graph: IRI | None, names: Sequence[str], one_by_one: bool
    ) -> tuple[IRI | None, Maintained] | None:
        match pattern:
            case ("graph", inner, str(name)) if name in self._graphs:
                return self._lowered(inner, self._graphs[name], names, one_by_one)
        if not self._maintains or has_graphs(pattern) or not is_steady(pattern):
            return None
        columns = tuple(name[1:] for name in names)
        said = repr((pattern, columns, one_by_one))
        relation = f"answer:{hashlib.sha256(said.encode()).hexdigest()[:16]}"
        try:
            lowered = lower_pattern(
                tuple(pattern), relation, columns, name=relation, witnesses=one_by_one
            )
        except CannotLower:
            return None
        heads = [rule.heads[0] for rule in lowered.rules if rule.heads[0].relation == relation]
        if any(rule.negations for rule in lowered.rules) or not heads:
            return None
        if one_by_one and not lowered.counts:
            return None
        loose = frozenset(
            column
            for place, column in enumerate(columns)
            if any(head.arguments[place] == UNBOUND for head in heads)
        )
        return graph, Maintained(relation, columns, loose, lowered.arity, lowered.rules)

    # ---- algebra with tables -----------------------------------------------------------------

    def rewrite_query(self, algebra: Sequence[Any]) -> tuple[Any, ...] | None:
        """The algebra with tables for what is maintained; None if it cannot be written again."""
        match algebra:
            case ("select" | "ask" as form, dataset, pattern):
                return form, dataset, self.rewrite(pattern, None)
            case ("construct", dataset, pattern, template):
                names = {text for triple in template for text in triple}
                if not any(text.startswith("_:") for text in names):
                    wanted = sorted(name for name in names if name.startswith("?"))
                    found = self.set_of(pattern, None, wanted)
                    if found is not None and found[1].is_table:
                        return "construct", dataset, self._table(*found, pattern), template
                return "construct", dataset, self.rewrite(pattern, None), template
        return None

    def rewrite(self, pattern: Sequence[Any], graph: IRI | None) -> tuple[Any, ...]:
        """The pattern with tables for what rules can say, as high up as they can."""
        if triple_count(pattern) > 1:
            found = self.maintain(pattern, graph)
            if found is not None and found[1].is_table:
                return self._table(*found, pattern)
        match pattern:
            case ("join" | "union" as word, *parts):
                return word, *(self.rewrite(part, graph) for part in parts)
            case ("left_join", left, right, condition):
                return "left_join", self.rewrite(left, graph), self.rewrite(right, graph), condition
            case ("minus", left, right):
                return "minus", self.rewrite(left, graph), self.rewrite(right, graph)
            case ("graph", inner, str(name)) if name in self._graphs:
                return "graph", self.rewrite(inner, self._graphs[name]), name
            case ("group", inner, variables, aggregates):
                grouped = self._grouped(inner, variables, aggregates, graph)
                if grouped is not None:
                    return grouped
                return "group", self.rewrite(inner, graph), variables, aggregates
            case ("path", subject, ("|", *paths), object_):
                # Between two bound ends oxigraph finds one path where SPARQL counts one a branch.
                self.has_rewritten = True
                return "union", *(_path(subject, path, object_) for path in paths)
            case ("bgp" | "path" | "values" | "graph" | "service", *_):
                return tuple(pattern)
            case (word, inner, *rest):
                return word, self.rewrite(inner, graph), *rest
        return tuple(pattern)

    def _named(self, graph: IRI | None, content: Maintained | Grouped) -> str:
        for table in self.tables:
            if table.graph == graph and table.content == content:
                return table.name
        name = f"<urn:ebbtide:table:{len(self.tables)}>"
        self.tables.append(Table(name, graph, content))
        return name

    def _table(
        self, graph: IRI | None, pattern: Maintained, written: Sequence[Any]
    ) -> tuple[Any, ...]:
        self.parts.append(f"rules: {Writer().group(written)}")
        columns = [
            (f"?{column}", place, column in pattern.loose)
            for place, column in enumerate(pattern.columns)
        ]
        return "table", self._named(graph, pattern), columns

    # ---- groups ------------------------------------------------------------------------------

    def _grouped(
        self,
        inner: Sequence[Any],
        variables: Sequence[str],
        aggregates: Sequence[tuple[str, Sequence[Any]]],
        graph: IRI | None,
    ) -> tuple[Any, ...] | None:
        """Tables of what operators keep for each group; None if one of them cannot."""
        found = self.maintain(inner, graph)
        if found is None:
            return None
        graph, pattern = found
        places = {
            f"?{name}": place
            for place, name in enumerate(pattern.columns)
            if name not in pattern.loose
        }
        if any(name not in places for name in variables):
            return None
        size_of_group = Grouped("count", pattern, tuple(places[name] for name in variables))
        values = [
            (name, self._aggregate(how, inner, variables, size_of_group, places, graph))
            for name, how in aggregates
        ]

        def table(grouped: Grouped, name: str) -> tuple[Any, ...]:
            keys = [(each, column, False) for column, each in enumerate(variables)]
            return "table", self._named(graph, grouped), [*keys, (name, len(variables), False)]

        if any(grouped is None for _, grouped in values):
            return None
        written = Writer().group(("group", inner, variables, aggregates))
        self.parts.append(f"rules and aggregates: {written}")
        size = "?size_of_group"
        node = table(size_of_group, size)
        if not variables:
            # Without GROUP BY there is one group, also of nothing.
            node = ("left_join", ("bgp", []), node, None)
        for name, grouped in values:
            assert grouped is not None
            if grouped == size_of_group:
                counted: Any = size if variables else ("COALESCE", size, _ZERO)
                node = ("extend", node, name, counted)
            elif variables or grouped.function in ("min", "max"):
                node = ("left_join", node, table(grouped, name), None)
            else:
                own = f"{name}_of_some"
                node = ("left_join", node, table(grouped, own), None)
                node = ("extend", node, name, ("IF", ("BOUND", size), own, _ZERO))
        return node

    def _aggregate(
        self,
        how: Sequence[Any],
        inner: Sequence[Any],
        variables: Sequence[str],
        size_of_group: Grouped,
        places: Mapping[str, int],
        graph: IRI | None,
    ) -> Grouped | None:
        """What an operator keeps for an aggregate; None if there is no such operator."""
        name, distinct, expression, _ = how
        function = _FUNCTIONS.get(name)
        if function == "count" and not distinct and (expression is None or expression in places):
            return size_of_group
        if function is None or not isinstance(expression, str) or expression not in places:
            return None
        if distinct and function in ("count", "sum", "avg"):
            found = self.set_of(inner, graph, (*variables, expression))
            if found is None or found[1].loose:
                return None
            value = None if function == "count" else len(variables)
            return Grouped(function, found[1], tuple(range(len(variables))), value)
        return Grouped(function, size_of_group.pattern, size_of_group.group, places[expression])


def _path(subject: str, path: Any, object_: str) -> tuple[Any, ...]:
    if isinstance(path, str):
        return "bgp", [(subject, path, object_)]
    return "path", subject, path, object_


_ZERO: Final = '"0"^^<http://www.w3.org/2001/XMLSchema#integer>'
