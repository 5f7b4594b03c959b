"""Patterns of WHERE to branches, node by node of the algebra.

    bgp, path          atoms                            union         the branches of each
    join               each with each                   values        constants, or a table
    filter, extend     guards (`condition.py`)          minus         a negation (`negation.py`)
    left_join          matched, or not                  graph         atoms of `quad`
    table              atoms of a relation that holds solutions already
    project            other variables get other names  distinct, reduced: rows are facts, so once

A variable ?x of the outermost group is the variable x of the rules; in a group with a scope of its
own (a subquery, the pattern of EXISTS or MINUS) it is x.1, x.2, ... until it is joined.

SPARQL counts solutions, and rules know each once. `Lowering.counts` says whether they agree: each
solution in SPARQL's sense is then one branch with one set of values for the branch's variables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final, NoReturn, TypeAlias

from ebbtide.languages.sparql_rules.branch import UNBOUND, Branch
from ebbtide.languages.sparql_rules.condition import Condition
from ebbtide.languages.sparql_rules.helpers import Helpers, named
from ebbtide.languages.sparql_rules.negation import absent
from ebbtide.languages.sparql_rules.path import path_branches
from ebbtide.languages.sparql_rules.refuse import REASONS
from ebbtide.program import QUAD, TRIPLE, Argument, Atom, Guard, Variable
from ebbtide.terms import parse_term

Pattern: TypeAlias = tuple[Any, ...]
#: The relation s, p, o that holds the triples of a graph, by its IRI's text; None: default graph.
Graphs: TypeAlias = Mapping[str | None, str]

MAX_BRANCHES: Final = 1_000

#: The word for each node of the algebra that is no rule.
_NO_RULE: Final = {"group": "GROUP", "order_by": "ORDER", "slice": "LIMIT", "service": "SERVICE"}


class CannotLower(Exception):
    """A pattern that rules cannot say: the innermost one, why, and the words that may say it."""

    def __init__(self, words: Sequence[str], reason: str) -> None:
        super().__init__(reason)
        self.words = tuple(words)
        self.reason = reason
        self.pattern: Pattern | None = None


@dataclass(frozen=True)
class Place:
    """Where in a query a pattern stands.

    `around` is what the patterns around EXISTS bind, `graph` the graph that is matched (None for
    the default graph), and `scope` what tells apart variables of the same name.
    """

    around: Mapping[str, Argument] = field(default_factory=dict)
    graph: Argument | None = None
    scope: int = 0

    def variable(self, name: str) -> Variable:
        """What stands for a variable of the text here."""
        return Variable(f"{name}.{self.scope}" if self.scope else name)


class Lowering:
    """The patterns of one operation on their way to branches.

    With `keeps_count`, helper relations are made such that solutions stay apart, where they can.
    """

    def __init__(
        self, helpers: Helpers, graphs: Graphs | None = None, keeps_count: bool = False
    ) -> None:
        self.helpers = helpers
        self.keeps_count = keeps_count
        self.graphs = {None: TRIPLE, **(graphs or {})}
        self.counts = True
        self._blanks: dict[str, Variable] = {}
        self._fresh = 0
        self._scopes = 0

    # ---- names -------------------------------------------------------------------------------

    def fresh(self, name: str) -> Variable:
        """A variable that no text can contain."""
        self._fresh += 1
        return Variable(f"{name}:{self._fresh}")

    def inside(self, place: Place, around: Mapping[str, Argument]) -> Place:
        """A place with a scope of its own."""
        self._scopes += 1
        return replace(place, around=around, scope=self._scopes)

    def argument(self, text: str, place: Place) -> Argument:
        """What stands for a term, a variable or a blank node of a pattern."""
        if text.startswith("?"):
            return place.variable(text[1:])
        if text.startswith("_:"):
            return self._blanks.setdefault(text, Variable(f"_:{len(self._blanks) + 1}"))
        return parse_term(text)

    def name(self, text: str) -> str:
        """Under what name a variable or a blank node of a pattern is bound; none for a term."""
        return text[1:] if text.startswith("?") else text if text.startswith("_:") else ""

    # ---- patterns ----------------------------------------------------------------------------

    def refuse(self, words: Sequence[str], reason: str) -> NoReturn:
        """Say that rules cannot say this, which is written with one of these words."""
        raise CannotLower(words, reason)

    def branches(self, pattern: Pattern, place: Place) -> list[Branch]:
        """The ways in which a pattern matches."""
        try:
            return self._branches(pattern, place)
        except CannotLower as error:
            error.pattern = error.pattern or pattern
            raise

    def _branches(self, pattern: Pattern, place: Place) -> list[Branch]:
        match pattern:
            case ("bgp", triples):
                return [self._triples(triples, place)]
            case ("path", subject, path, object_):
                return path_branches(self, place, subject, path, object_)
            case ("join", *patterns):
                found = [Branch()]
                for each in patterns:
                    found = self.join(found, self.branches(each, place))
                return found
            case ("union", *patterns):
                return [branch for each in patterns for branch in self.branches(each, place)]
            case ("table", relation, arity, columns):
                return self._held(relation, arity, columns, place)
            case ("values", names, rows):
                return self._table([name[1:] for name in names], rows)
            case ("graph", inner, name):
                return self._graph(inner, name, place)
            case ("project", inner, names):
                return self._subquery(inner, [name[1:] for name in names], place)
            case ("distinct" | "reduced", inner):
                self.counts = False
                return self.branches(inner, place)
        return self._conditional(pattern, place)

    def _conditional(self, pattern: Pattern, place: Place) -> list[Branch]:
        """The patterns with expressions or negations."""
        condition = Condition(self, place)
        match pattern:
            case ("filter", inner, expression):
                return self._each(inner, place, lambda one: condition.holding(one, expression))
            case ("extend", inner, variable, expression):
                name = variable[1:]
                return self._each(inner, place, lambda one: condition.bound(one, name, expression))
            case ("minus", inner, other):
                removed = self.branches(other, self.inside(place, place.around))

                def kept(branch: Branch) -> list[Branch]:
                    shared = [one for one in removed if one.binding.keys() & branch.binding.keys()]
                    return absent(self, branch, shared, place)

                return self._each(inner, place, kept)
            case ("left_join", inner, other, expression):
                optional = self.branches(other, place)
                return self._each(
                    inner, place, lambda one: condition.optional(one, optional, expression)
                )
        word = _NO_RULE[pattern[0]]
        self.refuse([word], f"{word} {REASONS[word]}")

    def _each(
        self, inner: Pattern, place: Place, change: Callable[[Branch], list[Branch]]
    ) -> list[Branch]:
        return self._limited(
            changed for branch in self.branches(inner, place) for changed in change(branch)
        )

    def join(self, left: Iterable[Branch], right: Sequence[Branch]) -> list[Branch]:
        """Each of the one with each of the other, as far as they can agree."""
        joined = (self.joined(one, other) for one in left for other in right)
        return self._limited(branch for branch in joined if branch is not None)

    def joined(self, left: Branch, right: Branch) -> Branch | None:
        """Both, by identity also where one of them computes what the other one matches."""
        for name in left.binding.keys() & right.binding.keys():
            if left.is_computed(name) and not right.is_computed(name):
                left = self.stepped(left)
            elif right.is_computed(name) and not left.is_computed(name):
                right = self.stepped(right)
        return left.joined(right)

    def stepped(self, branch: Branch) -> Branch:
        """The branch as an atom of a helper relation, in which nothing is computed."""
        if branch.borrowed:
            self.refuse(
                ["BIND", "AS"],
                "inside EXISTS, what BIND computes cannot be joined or negated if a filter there "
                "uses a variable from outside",
            )
        arguments = list(dict.fromkeys(branch.binding.values()))
        variables = [argument for argument in arguments if isinstance(argument, Variable)]
        if self.keeps_count:
            variables = branch.variables()
        else:
            self.counts = False
        relation = self.helpers.relation("step", variables, branch)
        return Branch((Atom(relation, tuple(variables), self.helpers.origin),), branch.binding)

    def _limited(self, branches: Iterable[Branch]) -> list[Branch]:
        found: list[Branch] = []
        for branch in branches:
            found.append(branch)
            if len(found) > MAX_BRANCHES:
                self.refuse(
                    ["UNION", "VALUES", "OPTIONAL", "WHERE"],
                    f"this would be more than {MAX_BRANCHES} rules",
                )
        return found

    def atom(self, subject: Argument, predicate: Argument, object_: Argument, place: Place) -> Atom:
        """A triple of the graph that is matched."""
        if (relation := self._relation(place.graph)) is not None:
            return Atom(relation, (subject, predicate, object_), self.helpers.origin)
        assert place.graph is not None
        return Atom(QUAD, (subject, predicate, object_, place.graph), self.helpers.origin)

    def _relation(self, graph: Argument | None) -> str | None:
        """The relation that holds the triples of a graph alone; none for a graph of quads."""
        if isinstance(graph, Variable):
            return None
        return self.graphs.get(None if graph is None else graph.text)

    def _triples(self, triples: Iterable[Sequence[str]], place: Place) -> Branch:
        atoms: dict[Atom, None] = {}
        binding: dict[str, Argument] = {}
        for triple in triples:
            subject, predicate, object_ = (self.argument(text, place) for text in triple)
            atoms[self.atom(subject, predicate, object_, place)] = None
            for text in triple:
                if name := self.name(text):
                    binding[name] = self.argument(text, place)
        return Branch(tuple(atoms), binding)

    def _held(
        self, relation: str, arity: int, columns: Sequence[tuple[str, int, bool]], place: Place
    ) -> list[Branch]:
        """One branch for each set of variables that rows of a relation may bind."""
        names: defaultdict[int, list[str]] = defaultdict(list)
        for name, column, _ in columns:
            names[column].append(name[1:])
        loose = list(dict.fromkeys(column for _, column, is_loose in columns if is_loose))
        found = []
        for missing in product((False, True), repeat=len(loose)):
            absent = {column for column, is_absent in zip(loose, missing, strict=True) if is_absent}
            row: list[Argument] = [self.fresh("any") for _ in range(arity)]
            binding: dict[str, Argument] = {}
            for column, own in names.items():
                row[column] = UNBOUND if column in absent else place.variable(own[0])
                binding |= {} if column in absent else dict.fromkeys(own, row[column])
            there = [row[column] for column in loose if column not in absent]
            guards = (Guard("notEqual", (argument, UNBOUND)) for argument in there)
            atom = Atom(relation, tuple(row), self.helpers.origin)
            found.append(Branch((atom, *guards), binding))
        return self._limited(found)

    def _table(self, names: Sequence[str], rows: Iterable[Sequence[str | None]]) -> list[Branch]:
        """One branch for each set of variables that rows bind: constants, or a helper relation."""
        tables: defaultdict[tuple[str, ...], dict[tuple[Argument, ...], None]] = defaultdict(dict)
        for row in rows:
            given = [(name, text) for name, text in zip(names, row, strict=True) if text]
            terms = tuple(parse_term(text) for _, text in given)
            table = tables[tuple(name for name, _ in given)]
            self.counts = self.counts and terms not in table
            table[terms] = None
        return [self._rows(bound, list(terms)) for bound, terms in tables.items()]

    def _rows(self, names: Sequence[str], rows: Sequence[tuple[Argument, ...]]) -> Branch:
        if len(rows) == 1:
            return Branch((), dict(zip(names, rows[0], strict=True)))
        relation = named("values", "\n".join(str(list(map(str, row))) for row in rows))
        if self.helpers.is_new(relation):
            self.helpers.conclude_all([Atom(relation, row) for row in rows], ())
        variables = {name: self.fresh(name) for name in names}
        atom = Atom(relation, tuple(variables.values()), self.helpers.origin)
        return Branch((atom,), dict(variables))

    def _graph(self, inner: Pattern, name: str, place: Place) -> list[Branch]:
        """Each branch with the graph's name bound; a graph of which nothing is asked must exist."""
        if not name.startswith("?"):
            return self._in_graph(inner, name, place, parse_term(name))
        found = self._in_graph(inner, name, place, self.argument(name, place))
        for text in filter(None, self.graphs):
            found += self._in_graph(inner, name, place, parse_term(text))
        return self._limited(found)

    def _in_graph(self, inner: Pattern, name: str, place: Place, graph: Argument) -> list[Branch]:
        within = replace(place, graph=graph)
        subject, predicate, object_ = (self.fresh("any") for _ in range(3))
        exists = Branch((self.atom(subject, predicate, object_, within),))
        named = Branch((), {name[1:]: graph} if name.startswith("?") else {})
        found = self.branches(inner, within)
        for index, one in enumerate(found):
            is_asked = graph in one.variables() if isinstance(graph, Variable) else bool(one.parts)
            if not is_asked:
                self.counts = False
                found[index] = one.having(*exists.parts)
        return self.join(found, [named])

    def _subquery(self, inner: Pattern, names: Sequence[str], place: Place) -> list[Branch]:
        around = {name: place.around[name] for name in names if name in place.around}
        found = self.branches(inner, self.inside(place, around))
        return [branch.showing(names) for branch in found]
