"""Strata: the order in which rules are evaluated, so that `not` asks about finished conclusions.

In: the rules. Out: the stratum of each rule, dense from 0, each as low as it can be. Strata belong
to rules and not to relations, because in RDF every fact is in the relation `triple`: rule A depends
on rule B when a head of B unifies with an atom in the body of A.

Invariant: A depends on B implies stratum(A) >= stratum(B), and through `not` stratum(A) >
stratum(B). Rules for which no such numbers exist have a cycle through `not`; the error prints it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import Final, TypeAlias

from ebbtide.program.atom import Argument, Atom, Negation, Variable
from ebbtide.program.origin import ProgramError
from ebbtide.program.rule import Rule

RuleIndex: TypeAlias = int
Edges: TypeAlias = Sequence[set[RuleIndex]]
_Key: TypeAlias = tuple[str, Argument | None, Argument | None]

#: Where heads are filed whatever they have at a place; no text can contain this name.
_ANY: Final = Variable("*")


def stratify(rules: Sequence[Rule]) -> tuple[int, ...]:
    """The stratum of each rule."""
    strata = [0] * len(rules)
    places = _above_a_negation(rules)
    upper = [rules[place] for place in places]
    heads = _HeadIndex(upper)
    through_atom = [heads.concluding(rule.positives) for rule in upper]
    through_not = [heads.concluding(part.atom for part in rule.negations) for rule in upper]
    levels = [int(negates) for negates in _negating_below(rules, places)]
    for component in _components([a | b for a, b in zip(through_atom, through_not, strict=True)]):
        members = set(component)
        for index in component:
            if blocking := through_not[index] & members:
                raise _cycle_error(upper, index, min(blocking), members, through_atom, through_not)
        level = max(
            (
                *(levels[index] for index in component),
                *(levels[other] for index in component for other in through_atom[index] - members),
                *(levels[other] + 1 for index in component for other in through_not[index]),
            )
        )
        for index in component:
            levels[index] = level
            strata[places[index]] = level
    return tuple(strata)


def _above_a_negation(rules: Sequence[Rule]) -> list[RuleIndex]:
    """The rules that negate what others may conclude, or depend on such rules; no others matter.

    Only the names of relations are looked at: most programs negate little, and are done here.
    """
    concluded = {head.relation for rule in rules for head in rule.heads}
    readers: defaultdict[str, list[RuleIndex]] = defaultdict(list)
    found: dict[RuleIndex, None] = {}
    for index, rule in enumerate(rules):
        for part in rule.body:
            if isinstance(part, Negation):
                readers[part.atom.relation].append(index)
                if part.atom.relation in concluded:
                    found[index] = None
            elif isinstance(part, Atom):
                readers[part.relation].append(index)
    waiting = list(found)
    while waiting:
        for head in rules[waiting.pop()].heads:
            for index in readers.pop(head.relation, ()):
                if index not in found:
                    found[index] = None
                    waiting.append(index)
    return sorted(found)


def _negating_below(rules: Sequence[Rule], places: Sequence[RuleIndex]) -> Iterator[bool]:
    """For each rule at the places, whether it negates what a rule elsewhere concludes."""
    heads: defaultdict[str, list[Atom]] = defaultdict(list)
    above = set(places)
    for index, rule in enumerate(rules):
        if index not in above:
            for head in rule.heads:
                heads[head.relation].append(head)
    for rule in (rules[place] for place in places):
        atoms = (part.atom for part in rule.negations)
        yield any(unifies(atom, head) for atom in atoms for head in heads[atom.relation])


def unifies(left: Atom, right: Atom) -> bool:
    """Whether some fact matches both atoms; their variables are apart even if named alike.

    >>> x, y = Variable("x"), Variable("y")
    >>> unifies(Atom("p", (x, x)), Atom("p", (x, y)))
    True
    """
    if left.relation != right.relation or len(left.arguments) != len(right.arguments):
        return False
    for ours, theirs in zip(left.arguments, right.arguments, strict=True):
        if not (isinstance(ours, Variable) or isinstance(theirs, Variable) or ours == theirs):
            return False
    return not (_repeats(left) or _repeats(right)) or _unifies(left, right)


def _repeats(atom: Atom) -> bool:
    variables = [argument for argument in atom.arguments if isinstance(argument, Variable)]
    return len(set(variables)) < len(variables)


def _unifies(left: Atom, right: Atom) -> bool:
    root: dict[object, object] = {}

    def find(node: object) -> object:
        while (above := root.get(node, node)) != node:
            node = above
        return node

    for ours, theirs in zip(left.arguments, right.arguments, strict=True):
        a = find(("left", ours) if isinstance(ours, Variable) else ours)
        b = find(("right", theirs) if isinstance(theirs, Variable) else theirs)
        if a == b:
            continue
        if isinstance(a, tuple):
            root[a] = b
        elif isinstance(b, tuple):
            root[b] = a
        else:
            return False
    return True


class _HeadIndex:
    """The rules by what they conclude: relation, then the constants at its two most telling places.

    Atoms that differ only in the names of variables share one entry, so the work grows with the
    number of different patterns, not of rules.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules_of: dict[Atom, set[RuleIndex]] = defaultdict(set)
        for index, rule in enumerate(rules):
            for head in rule.heads:
                self._rules_of[_pattern(head)].add(index)
        by_relation: dict[str, list[Atom]] = defaultdict(list)
        for pattern in self._rules_of:
            by_relation[pattern.relation].append(pattern)
        self._places = {name: _telling_places(heads) for name, heads in by_relation.items()}
        self._heads_at: dict[_Key, list[Atom]] = defaultdict(list)
        for name, heads in by_relation.items():
            for head in heads:
                first, second = (_constant(head, place) for place in self._places[name])
                for key in product((first, _ANY), (second, _ANY)):
                    self._heads_at[name, *key].append(head)
        self._known: dict[Atom, set[RuleIndex]] = {}

    def concluding(self, atoms: Iterable[Atom]) -> set[RuleIndex]:
        """The rules with a head that unifies with one of the atoms."""
        return set().union(*(self._concluding(_pattern(atom)) for atom in atoms))

    def _concluding(self, pattern: Atom) -> set[RuleIndex]:
        if pattern not in self._known:
            self._known[pattern] = set().union(
                *(self._rules_of[head] for head in self._near(pattern) if unifies(head, pattern))
            )
        return self._known[pattern]

    def _near(self, pattern: Atom) -> Iterator[Atom]:
        name = pattern.relation
        if name not in self._places:
            return
        # A constant meets itself or a variable; a variable meets anything.
        first, second = (
            (_ANY,) if constant is None else (constant, None)
            for constant in (_constant(pattern, place) for place in self._places[name])
        )
        for key in product(first, second):
            yield from self._heads_at.get((name, *key), ())


def _pattern(atom: Atom) -> Atom:
    """The atom with its variables named by order of appearance."""
    names: dict[Variable, Variable] = {}
    return Atom(
        atom.relation,
        tuple(
            names.setdefault(argument, Variable(str(len(names))))
            if isinstance(argument, Variable)
            else argument
            for argument in atom.arguments
        ),
    )


def _constant(atom: Atom, place: int) -> Argument | None:
    if place >= len(atom.arguments) or isinstance(atom.arguments[place], Variable):
        return None
    return atom.arguments[place]


def _telling_places(heads: Sequence[Atom]) -> tuple[int, int]:
    """The two places where heads differ most by their constants: in RDF, predicate and object."""
    width = max(2, *(len(head.arguments) for head in heads))
    counts = [len({_constant(head, place) for head in heads}) for place in range(width)]
    first, second, *_ = sorted(range(width), key=lambda place: -counts[place])
    return first, second


def _components(edges: Edges) -> Iterator[list[RuleIndex]]:
    """Strongly connected components, each after those it depends on (Tarjan, without recursion)."""
    order: dict[RuleIndex, int] = {}
    low: dict[RuleIndex, int] = {}
    open_path: list[RuleIndex] = []
    is_open: set[RuleIndex] = set()
    for start in range(len(edges)):
        if start in order:
            continue
        visits = [(start, iter(sorted(edges[start])))]
        while visits:
            node, others = visits[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                open_path.append(node)
                is_open.add(node)
            unseen = None
            for other in others:
                if other not in order:
                    unseen = other
                    break
                if other in is_open:
                    low[node] = min(low[node], order[other])
            if unseen is not None:
                visits.append((unseen, iter(sorted(edges[unseen]))))
                continue
            visits.pop()
            if visits:
                parent = visits[-1][0]
                low[parent] = min(low[parent], low[node])
            if low[node] == order[node]:
                component = [open_path.pop()]
                while component[-1] != node:
                    component.append(open_path.pop())
                is_open.difference_update(component)
                yield sorted(component)


def _cycle_error(
    rules: Sequence[Rule],
    first: RuleIndex,
    negated: RuleIndex,
    members: set[RuleIndex],
    through_atom: Edges,
    through_not: Edges,
) -> ProgramError:
    """The error for the cycle that starts with the step `first` -not-> `negated`."""
    cycle = [first, *_shortest_path(negated, first, members, through_atom, through_not)]
    lines = []
    for step, (index, other) in enumerate(pairwise(cycle)):
        by_not = step == 0 or other not in through_atom[index]
        lines.append(
            f"  {_place(rules[index])} depends{' through `not`' if by_not else ''} on "
            f"{_place(rules[other])}, by {_link(rules[index], rules[other], by_not)}"
        )
    return ProgramError(
        "the rules have no strata, because this cycle goes through `not`:\n" + ";\n".join(lines),
        rules[first].origin,
    )


def _shortest_path(
    start: RuleIndex,
    goal: RuleIndex,
    members: set[RuleIndex],
    through_atom: Edges,
    through_not: Edges,
) -> list[RuleIndex]:
    """From `start` to `goal` inside a component, both ends included."""
    came_from: dict[RuleIndex, RuleIndex] = {start: start}
    queue = deque([start])
    while goal not in came_from:
        node = queue.popleft()
        for other in sorted((through_atom[node] | through_not[node]) & members):
            if other not in came_from:
                came_from[other] = node
                queue.append(other)
    path = [goal]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _place(rule: Rule) -> str:
    return f"{rule.name} ({rule.origin.source}:{rule.origin.line})"


def _link(rule: Rule, other: Rule, by_not: bool) -> str:
    """The part of the rule's body that the other rule concludes."""
    parts = rule.negations if by_not else rule.positives
    return next(
        str(part)
        for part in parts
        for head in other.heads
        if unifies(part if isinstance(part, Atom) else part.atom, head)
    )
