"""A graph pattern to rules: its solutions as facts of a relation.

    { ?room :has ?s . ?s :reads ?v FILTER(?v > 30) }   answer(room, v)

        answer(?room, ?v) :- triple(?room, :has, ?s), triple(?s, :reads, ?v), ge(...).

This is what makes a part of a query incremental: whoever has the algebra of a WHERE names the
relation and its columns, adds the rules to the program, and reads the solutions, with `until`, from
the relation. A variable that a solution leaves unbound is `UNBOUND` there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.languages.sparql_rules.branch import UNBOUND, Branch, atoms
from ebbtide.languages.sparql_rules.helpers import Helpers
from ebbtide.languages.sparql_rules.path import without_needless_nodes
from ebbtide.languages.sparql_rules.pattern import CannotLower, Graphs, Lowering, Pattern, Place
from ebbtide.program import IN_PYTHON, Argument, Atom, Origin, Rule, Variable
from ebbtide.terms import Literal

__all__ = ["UNBOUND", "CannotLower", "Lowered", "lower_pattern"]


@dataclass(frozen=True, slots=True)
class Lowered:
    """The rules of a pattern, those for its relation first, then those that they need.

    `counts` says that the facts of the relation are SPARQL's solutions one by one, so that they can
    be counted and summed. If not, a solution that SPARQL has several times may be one fact, or the
    other way round, and only the set of solutions is right. Without `witnesses`, it says so only
    of patterns whose columns are all of their variables.
    """

    relation: str
    columns: tuple[str, ...]
    rules: tuple[Rule, ...]
    counts: bool

    @property
    def arity(self) -> int:
        """The columns of the relation, those of witnesses included."""
        return len(self.rules[0].heads[0].arguments) if self.rules else len(self.columns)


def lower_pattern(
    pattern: Pattern,
    relation: str,
    variables: Sequence[str],
    *,
    name: str = "answer",
    origin: Origin = IN_PYTHON,
    graphs: Graphs | None = None,
    helpers: Helpers | None = None,
    witnesses: bool = False,
) -> Lowered:
    """The rules that conclude `relation(variables)` for every solution of a pattern.

    `pattern` is algebra as `_kernel.sparql_query` gives it, and may have nodes `("table", relation,
    arity, [(variable, column, may be UNBOUND), ...])` for solutions that a relation holds already.
    `variables` are names without `?`, which the pattern need not bind. `name` and `origin` are
    those of the rules: `name` for one rule, or `name.1`, `name.2`, ... `graphs` says which relation
    holds the triples (s, p, o) of a graph, by the graph's IRI in angle brackets, or None for the
    default graph; all others are in `quad`, and the default graph is `triple`. `helpers` made once
    and given to several calls gives what the patterns have in common the same rules, so that
    `dict.fromkeys` leaves them once. `witnesses` adds columns for what the solution otherwise
    forgets (the number of the rule, other variables), so that solutions which SPARQL counts apart
    stay apart.

    A pattern that rules cannot say raises `CannotLower`: `.pattern` is the innermost part to blame,
    `.reason` a sentence, and `.words` the keywords that it may be written with.

    >>> from ebbtide._kernel import sparql_query
    >>> _, _, pattern = sparql_query("SELECT ?x { ?x <e:p> ?y OPTIONAL { ?y <e:q> ?z } }")
    >>> lowered = lower_pattern(pattern[1], "answer", ["x", "z"])
    >>> print(*lowered.rules, sep="\\n")
    answer(?x, ?z) :- triple(?x, <e:p>, ?y), triple(?y, <e:q>, ?z).
    answer(?x, <urn:ebbtide:unbound>) :- triple(?x, <e:p>, ?y), not triple(?y, <e:q>, ?any:1).
    >>> lowered.counts
    False
    >>> _, _, pattern = sparql_query("SELECT ?x { ?x <e:p> ?y { SELECT ?y {} LIMIT 1 } }")
    >>> try:
    ...     lower_pattern(pattern[1], "answer", ["x"])
    ... except CannotLower as error:
    ...     print(error.pattern[0], "-", error.reason)
    slice - LIMIT cuts an order of rows, and the facts of a window have none
    """
    helpers = helpers or Helpers()
    helpers.serve(name, origin)
    lowering = Lowering(helpers, graphs, witnesses)
    branches = lowering.branches(pattern, Place())
    heads = [[one.binding.get(column, UNBOUND) for column in variables] for one in branches]
    counts = lowering.counts and _is_told_apart(branches, heads)
    if witnesses:
        _add_witnesses(branches, heads)
        counts = lowering.counts
    rules = []
    for number, (branch, head) in enumerate(zip(branches, heads, strict=True), 1):
        own = name if len(branches) == 1 else f"{name}.{number}"
        body = without_needless_nodes(branch.body)
        rules.append(Rule(own, (Atom(relation, tuple(head), origin),), body, origin))
    return Lowered(relation, tuple(variables), (*rules, *helpers.needed_by(rules)), counts)


def _is_told_apart(branches: Sequence[Branch], heads: Sequence[Sequence[Argument]]) -> bool:
    return len(branches) < 2 and all(
        _matched(branch) <= set(head) for branch, head in zip(branches, heads, strict=True)
    )


def _matched(branch: Branch) -> set[Variable]:
    """The variables whose values make the solution; what is computed follows from them."""
    return {one for atom in atoms(branch.parts) for one in atom.variables()}


def _add_witnesses(branches: Sequence[Branch], heads: list[list[Argument]]) -> None:
    forgotten = []
    for branch, head in zip(branches, heads, strict=True):
        lost = _matched(branch).difference(head)
        forgotten.append([one for one in branch.variables() if one in lost])
    width = max(map(len, forgotten), default=0)
    for number, (head, more) in enumerate(zip(heads, forgotten, strict=True), 1):
        head += [*more, *[UNBOUND] * (width - len(more))]
        if len(branches) > 1:
            head.append(Literal(str(number)))
