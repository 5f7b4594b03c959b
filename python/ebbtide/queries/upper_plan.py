"""What a query keeps above its views: negation, groups, and joins of several graphs, as rules.

In: algebra. Patterns that rules say without negation are kept by the views, one a graph, for the
widest range of all queries. Here they are *sources*, seen through the query's own windows, and what
stands on them becomes a program of its own:

    source, source, ... ──► rules ──► kept relation ──► aggregates ──► rules ──► kept relation

Out: `Kept` relations, each with one fact a solution (or each solution once, where only the set
matters), and the `UpperPlan` that keeps them. What rules and aggregates cannot say is refused with
`CannotLower`. In a kept relation, UNBOUND stands for what a solution does not bind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from ebbtide.languages.sparql_rules import UNBOUND, CannotLower, lower_pattern
from ebbtide.languages.sparql_rules.helpers import Helpers
from ebbtide.program import Aggregate, Argument, Atom, Negation, Operator, Origin, Rule, Variable
from ebbtide.queries.algebra import visible
from ebbtide.queries.maintained import Column, Kept, Maintained
from ebbtide.terms import IRI, to_term

Node: TypeAlias = tuple[Any, ...]
_FUNCTIONS: Final = {"COUNT": "count", "SUM": "sum", "MIN": "first", "MAX": "last", "AVG": "avg"}
_ZERO: Final = to_term(0)
#: What the functions yield of nothing at all, where they yield anything.
_OF_NOTHING: Final = dict.fromkeys(("count", "sum", "avg"), _ZERO)
#: A table with more columns that may be UNBOUND would make too many rules.
_MOST_LOOSE: Final = 3


class Source(NamedTuple):
    """A pattern that the view of a graph keeps, and the relation that mirrors it."""

    relation: str
    graph: IRI | None
    pattern: Maintained


@dataclass(frozen=True, slots=True)
class UpperPlan:
    """The program above the views: what it reads of them, and what it makes of that."""

    sources: tuple[Source, ...] = ()
    rules: tuple[Rule, ...] = ()
    operators: tuple[Operator, ...] = ()
    #: The arities of the relations that it mirrors or concludes.
    relations: Mapping[str, int] = field(default_factory=dict)


#: The relation of a view that has the solutions of a pattern one by one, if rules can say it.
Maintain: TypeAlias = Callable[[Sequence[Any], IRI | None], tuple[IRI | None, Maintained] | None]


class UpperPlanner:
    """Makes the program above the views of one query."""

    def __init__(self, maintain: Maintain, graphs: Mapping[str, IRI], origin: Origin) -> None:
        self._maintain = maintain
        self._origin = origin
        self._graphs = graphs
        self._helpers = Helpers()
        self._sources: dict[str, Source] = {}
        self._rules: dict[Rule, None] = {}
        self._operators: dict[str, Aggregate] = {}
        self._arities: dict[str, int] = {}

    def plan(self, wanted: Iterable[str]) -> UpperPlan | None:
        """The program for some relations; None if nothing is wanted."""
        waiting = list(dict.fromkeys(wanted))
        found: dict[str, None] = {}
        while waiting:
            relation = waiting.pop()
            if relation in found:
                continue
            found[relation] = None
            if (operator := self._operators.get(relation)) is not None:
                waiting.append(operator.input)
            for rule in self._rules:
                if rule.heads[0].relation == relation:
                    waiting += [atom.relation for atom in rule.positives]
                    waiting += [negation.atom.relation for negation in rule.negations]
        if not found:
            return None
        return UpperPlan(
            tuple(source for source in self._sources.values() if source.relation in found),
            tuple(rule for rule in self._rules if rule.heads[0].relation in found),
            tuple(self._operators[name] for name in self._operators if name in found),
            {name: arity for name, arity in self._arities.items() if name in found},
        )

    # ---- relations ---------------------------------------------------------------------------

    def source(self, graph: IRI | None, pattern: Maintained) -> Kept:
        """The relation that mirrors a pattern of a view."""
        relation = f"{pattern.relation} of {graph or 'the default graph'}"
        self._sources.setdefault(relation, Source(relation, graph, pattern))
        self._arities[relation] = pattern.arity
        return Kept(relation, pattern.columns, pattern.arity)

    def keep(
        self, pattern: Sequence[Any], graph: IRI | None, names: Sequence[str], one_by_one: bool
    ) -> Kept:
        """The relation that has the solutions of a pattern; each once, unless one by one."""
        node = self._over_tables(pattern, graph)
        kept = _table(node)
        if kept is not None and (one_by_one or _is_whole(kept, names)):
            return kept
        columns = [name[1:] for name in names]
        relation = _named("kept", node, columns, one_by_one)
        lowered = lower_pattern(
            node,
            relation,
            columns,
            name=relation,
            origin=self._origin,
            helpers=self._helpers,
            witnesses=one_by_one,
        )
        if one_by_one and not lowered.counts:
            raise CannotLower([], "solutions cannot be counted")
        self._rules.update(dict.fromkeys(lowered.rules))
        self._arities[relation] = lowered.arity
        heads = [rule.heads[0] for rule in lowered.rules if rule.heads[0].relation == relation]
        places = tuple(
            Column(name, place, any(head.arguments[place] == UNBOUND for head in heads))
            for place, name in enumerate(columns)
        )
        return Kept(relation, places, lowered.arity)

    # ---- algebra over tables -----------------------------------------------------------------

    def _over_tables(
        self, pattern: Sequence[Any], graph: IRI | None, is_apart: bool = True
    ) -> Node:
        """The pattern with tables for all that views keep.

        A pattern that is not apart, such as that of EXISTS, knows variables from outside: then only
        triples are views' matter.
        """

        def over(part: Sequence[Any]) -> Node:
            return self._over_tables(part, graph, is_apart)

        if pattern == ("bgp", []) or pattern[0] == "values":
            return tuple(pattern)
        if pattern[0] in ("bgp", "path") or is_apart:
            found = self._maintain(pattern, graph)
            if found is not None:
                kept = self.source(*found)
                if sum(column.is_loose for column in kept.columns) <= _MOST_LOOSE:
                    return kept.node
        match pattern:
            case ("graph", inner, str(name)) if name in self._graphs:
                return self._over_tables(inner, self._graphs[name], is_apart)
            case ("join" | "union" as word, *parts):
                return word, *map(over, parts)
            case ("minus", left, right):
                return "minus", over(left), over(right)
            case ("left_join", left, right, condition):
                asked = None if condition is None else self._expression(condition, graph)
                return "left_join", over(left), over(right), asked
            case ("filter", inner, condition):
                return "filter", over(inner), self._expression(condition, graph)
            case ("extend", inner, variable, value):
                return _extended(over(inner), variable, self._expression(value, graph))
            case ("project", inner, names):
                return "project", over(inner), names
            case ("distinct" | "reduced", inner):
                if not is_apart:
                    return over(inner)
                return self.keep(inner, graph, visible(inner), one_by_one=False).node
            case ("group", inner, variables, aggregates) if is_apart:
                return self._grouped(inner, variables, aggregates, graph)
        raise CannotLower([], f"{pattern[0]} is asked at every tick")

    def _expression(self, expression: Any, graph: IRI | None) -> Any:
        match expression:
            case ("EXISTS", pattern):
                return "EXISTS", self._over_tables(pattern, graph, is_apart=False)
            case (name, *parts):
                return name, *(self._expression(part, graph) for part in parts)
        return expression

    # ---- groups ------------------------------------------------------------------------------

    def _grouped(
        self,
        inner: Sequence[Any],
        variables: Sequence[str],
        aggregates: Sequence[tuple[str, Sequence[Any]]],
        graph: IRI | None,
    ) -> Node:
        """A table with the value of every aggregate for each group."""
        shown = visible(inner)
        asked = []
        for name, (function, is_distinct, expression, _) in aggregates:
            if expression is not None and not is_variable(expression):
                inner = ("extend", inner, f"{name}_of", expression)
                expression = f"{name}_of"
            asked.append((name, function, is_distinct, expression))
        rows = self.keep(inner, graph, visible(inner), one_by_one=True)
        if any(rows.column(name) is None for name in variables):
            raise CannotLower([], "a group by what the pattern does not bind")
        size = self._aggregate("count", rows, variables)
        # Of each function of a group: its relation, and what it is of no group at all.
        values: dict[str, Argument | None] = {size: _OF_NOTHING["count"]}
        columns: list[Column] = [
            Column(name[1:], place, _is_loose(rows, name)) for place, name in enumerate(variables)
        ]
        for name, function, is_distinct, expression in asked:
            relation = self._value(
                function, is_distinct, expression, inner, shown, variables, rows, graph
            )
            kind = _FUNCTIONS[function]
            values.setdefault(relation, _OF_NOTHING.get(kind))
            place = len(variables) + list(values).index(relation)
            # The size of a group is always known; all else may have no value.
            columns.append(Column(name[1:], place, relation != size and kind != "count"))
        relation = self._together(len(variables), values)
        return Kept(relation, tuple(columns), len(variables) + len(values)).node

    def _value(
        self,
        function: str,
        is_distinct: bool,
        expression: str | None,
        inner: Sequence[Any],
        shown: Sequence[str],
        variables: Sequence[str],
        rows: Kept,
        graph: IRI | None,
    ) -> str:
        """The relation that has the value of an aggregate for each group."""
        kind = _FUNCTIONS.get(function)
        if kind is None or (expression is not None and rows.column(expression) is None):
            raise CannotLower([], f"{function} is asked at every tick")
        if kind == "count" and expression is not None and _is_loose(rows, expression):
            inner = ("filter", inner, ("BOUND", expression))
            rows = self.keep(inner, graph, visible(inner), one_by_one=True)
        if is_distinct and kind not in ("first", "last"):
            names = shown if expression is None else (*variables, expression)
            rows = self.keep(inner, graph, tuple(dict.fromkeys((*variables, *names))), False)
        of = None if kind == "count" else expression
        return self._aggregate(kind, rows, variables, of)

    def _aggregate(
        self, function: str, rows: Kept, variables: Sequence[str], of: str | None = None
    ) -> str:
        group = tuple(rows.place(name) for name in variables)
        value = None if of is None else rows.place(of)
        relation = _named(function, rows.relation, group, value)
        self._operators.setdefault(
            relation, Aggregate(function, rows.relation, relation, group, value)
        )
        return relation

    def _together(self, width: int, values: Mapping[str, Argument | None]) -> str:
        """The relation that has all values of each group, UNBOUND where there is none.

        Without GROUP BY there is one group, also of nothing.
        """
        (first, *others) = values
        relation, keys = first, tuple(Variable(f"k{place}") for place in range(width))
        row: tuple[Variable, ...] = (*keys, Variable("v0"))
        for number, other in enumerate(others, 1):
            wider = _named("group", relation, other)
            value = Variable(f"v{number}")
            there, here = Atom(relation, row), Atom(other, (*keys, value))
            missing = Negation(Atom(other, (*keys, Variable("any"))))
            nothing = _ZERO if self._operators[other].function == "count" else UNBOUND
            self._conclude(Atom(wider, (*row, value)), there, here)
            self._conclude(Atom(wider, (*row, nothing)), there, missing)
            relation, row = wider, (*row, value)
        if width:
            return relation
        whole = _named("group", relation, "or nothing")
        nothing_at_all = tuple(UNBOUND if each is None else each for each in values.values())
        self._conclude(Atom(whole, row), Atom(relation, row))
        self._conclude(Atom(whole, nothing_at_all), Negation(Atom(first, (Variable("any"),))))
        return whole

    def _conclude(self, head: Atom, *body: Atom | Negation) -> None:
        number = sum(rule.heads[0].relation == head.relation for rule in self._rules) + 1
        self._rules[Rule(f"{head.relation}.{number}", (head,), body)] = None


def _named(kind: str, *meaning: Any) -> str:
    return f"{kind}:{hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]}"


def _table(node: Node) -> Kept | None:
    """The relation that a node is a table of, if it is one."""
    match node:
        case ("table", relation, arity, columns):
            places = tuple(Column(name[1:], place, loose) for name, place, loose in columns)
            return Kept(relation, places, arity)
    return None


def _is_whole(kept: Kept, names: Sequence[str]) -> bool:
    """Whether these variables are all columns, so that each of their values is there once."""
    found = [kept.column(name) for name in names]
    return {each.place for each in found if each is not None} == set(range(kept.arity))


def _extended(node: Node, variable: str, value: Any) -> Node:
    """What BIND makes of a node: of a table, one with another name for a column."""
    kept = _table(node)
    if kept is not None and is_variable(value) and (column := kept.column(value)) is not None:
        more = Column(variable[1:], column.place, column.is_loose)
        return Kept(kept.relation, (*kept.columns, more), kept.arity).node
    return "extend", node, variable, value


def is_variable(expression: Any) -> bool:
    """Whether it is just a variable."""
    return isinstance(expression, str) and expression.startswith("?")


def _is_loose(kept: Kept, name: str) -> bool:
    column = kept.column(name)
    return column is None or column.is_loose
