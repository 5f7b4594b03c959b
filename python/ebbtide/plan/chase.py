"""The chase: what follows from the body of a rule by some other rules, in a few steps.

The variables of the body are taken for constants that nothing is known of, its guards for facts;
if the other rules then derive its heads, they derive them whenever the rule does. Nothing here
knows of times: see docs/plan.md for why lifetimes are kept as well.

Only rules without negations take part. The search is cut off after some atoms, so an answer "no"
may be wrong, and a "yes" never is.

Atoms are rows of numbers here, because plans are made while somebody waits: a relation, then its
arguments. A constant is a number, and a variable of a rule is -1, -2, ...
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Set
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from ebbtide.plan.pattern import DIFFER, is_test
from ebbtide.program import Argument, Atom, Rule, Variable
from ebbtide.terms import IRI

#: How many atoms a chase goes on from.
MOST: Final = 256

#: Tests that say the same of two terms in either order.
_SYMMETRIC: Final = frozenset((DIFFER, "equal", "notEqual", "sameTerm", "notSameTerm", "sameValue"))
#: Tests that hold of two different IRIs.
_UNEQUAL: Final = (DIFFER, "notEqual", "notSameTerm")

#: What a guard is called as if it were an atom.
_GUARD: Final = "guard:"

#: Constants above this number stand for variables.
_FROZEN: Final = 1 << 32

Row: TypeAlias = tuple[int, ...]
_Binding: TypeAlias = dict[int, int]


class _Watch(NamedTuple):
    """A rule that an atom may set off: the atom of the body it would match, and the other ones."""

    rule: int
    atom: Row
    others: tuple[Row, ...]
    heads: tuple[Row, ...]


class _Effects(NamedTuple):
    """What an atom sets off, by the rules' ids."""

    #: What follows from it alone.
    steps: list[tuple[int, tuple[Row, ...]]]
    #: What follows from it and others: those without variables, those with some, the heads.
    joins: list[tuple[int, tuple[Row, ...], tuple[Row, ...], tuple[Row, ...]]]


class _Known:
    """The atoms that a chase has gone on from."""

    def __init__(self) -> None:
        self.rows: set[Row] = set()
        self.by_relation: defaultdict[int, list[Row]] = defaultdict(list)

    def add(self, row: Row) -> None:
        self.rows.add(row)
        self.by_relation[row[0]].append(row)


class Chase:
    """Some rules, ready to be tried on bodies.

    >>> from ebbtide.testing import program
    >>> step, leap = program('''
    ...     path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).
    ...     path(?x, ?w) :- path(?x, ?y), edge(?y, ?z), edge(?z, ?w).
    ... ''').rules
    >>> Chase([step, leap]).derives(leap, by={id(step)})
    True
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._numbers: dict[str | Argument, int] = {}
        self._iris: set[int] = set()
        self._guards: set[int] = set()
        self._unequal = {self._number(_guard(each)) for each in _UNEQUAL}
        self._watching: defaultdict[Row, list[_Watch]] = defaultdict(list)
        self._concluding: defaultdict[Row, set[int]] = defaultdict(set)
        self._concluders: dict[Row, set[int]] = {}
        self._frozen: dict[int, tuple[list[Row], set[Row]]] = {}
        #: The same atoms come up in one chase after the other.
        self._known_effects: dict[Row, _Effects] = {}
        for rule in rules:
            if not takes_part(rule):
                continue
            names: dict[Argument, int] = {}
            heads = tuple(self._row(head, names) for head in rule.heads)
            for head in heads:
                self._concluding[_key(head)].add(id(rule))
            body = tuple(self._row(atom, names) for atom in _atoms(rule))
            given = (self._row(atom, names) for atom in _given(rule)) if rule.guards else body
            self._frozen[id(rule)] = [*map(_freeze, given)], {*map(_freeze, heads)}
            # Guards are given, and nothing derives them: they set off no rule.
            for place, row in enumerate(body[: len(rule.positives)]):
                others = (*body[:place], *body[place + 1 :])
                self._watching[_key(row)].append(_Watch(id(rule), row, others, heads))

    def derives(self, rule: Rule, by: Set[int]) -> bool:
        """Whether the rules with the ids in `by` derive the heads of one of the rules."""
        given, heads = self._frozen[id(rule)]
        missing = heads.difference(given)
        if any(by.isdisjoint(self._may_conclude(row)) for row in missing):
            return False
        return missing <= self.run(given, by, goals=missing)

    def _may_conclude(self, row: Row) -> set[int]:
        """The rules that may conclude a row, seen from afar."""
        found = self._concluders.get(row)
        if found is None:
            found = set().union(*(self._concluding.get(key, ()) for key in _keys(row)))
            self._concluders[row] = found
        return found

    def frozen(self, rule: Rule) -> tuple[list[Row], set[Row]]:
        """The body and the heads of any rule, each variable a constant of its own."""
        names: dict[Argument, int] = {}
        body = [_freeze(self._row(atom, names)) for atom in _given(rule)]
        return body, {_freeze(self._row(head, names)) for head in rule.heads}

    def run(
        self,
        given: Collection[Row],
        by: Container[int],
        *,
        goals: Set[Row] = frozenset(),
        ends: Callable[[Row], bool] | None = None,
    ) -> set[Row]:
        """What is given, and what follows from it by the rules with the ids in `by`.

        Nothing is derived from an end, and nothing more once all goals, if there are any, are
        reached.
        """
        known = _Known()
        reached = set(given)
        waiting: deque[Row] = deque()
        for row in reached:
            if row[0] in self._guards:
                known.add(row)
            else:
                waiting.append(row)
        left = len(goals - reached)
        for _ in range(MOST):
            if not waiting or (goals and not left):
                break
            new = waiting.popleft()
            known.add(new)
            for row in self._following(new, by, known):
                if row not in reached:
                    reached.add(row)
                    left -= row in goals
                    if ends is None or not ends(row):
                        waiting.append(row)
        return reached

    def _following(self, new: Row, by: Container[int], known: _Known) -> list[Row]:
        effects = self._known_effects.get(new)
        if effects is None:
            effects = self._known_effects[new] = self._effects(new)
        found = [row for rule, rows in effects.steps if rule in by for row in rows]
        for rule, ground, others, heads in effects.joins:
            if rule in by and known.rows.issuperset(ground):
                for binding in self._join(others, known, {}):
                    found += _bound(heads, binding)
        return found

    def _effects(self, row: Row) -> _Effects:
        effects = _Effects([], [])
        for watch in self._watchers(row):
            found = _match(watch.atom, row, {})
            if found is None:
                continue
            others = [each for each in _bound(watch.others, found) if not self._holds(each)]
            heads = _bound(watch.heads, found)
            if others:
                ground = tuple(each for each in others if min(each) >= 0)
                rest = tuple(each for each in others if min(each) < 0)
                effects.joins.append((watch.rule, ground, rest, heads))
            else:
                effects.steps.append((watch.rule, heads))
        return effects

    def _holds(self, asked: Row) -> bool:
        """Whether it is a test of two different IRIs that holds of any such two."""
        if asked[0] not in self._unequal:
            return False
        one, other = asked[1:]
        return one != other and one in self._iris and other in self._iris

    def _join(self, body: tuple[Row, ...], known: _Known, found: _Binding) -> Iterator[_Binding]:
        if not body:
            yield found
            return
        asked, rest = body[0], body[1:]
        if self._holds(_bound((asked,), found)[0]):
            yield from self._join(rest, known, found)
            return
        for row in known.by_relation[asked[0]]:
            more = _match(asked, row, found)
            if more is not None:
                yield from self._join(rest, known, more)

    def like(self, atom: Atom) -> Callable[[Row], bool]:
        """Whether a row matches an atom."""
        pattern = self._row(atom, {})
        return lambda row: row[0] == pattern[0] and _match(pattern, row, {}) is not None

    def _watchers(self, row: Row) -> Iterator[_Watch]:
        for key in _keys(row):
            yield from self._watching.get(key, ())

    def _row(self, atom: Atom, names: dict[Argument, int]) -> Row:
        """The atom as numbers; variables without a name get the next one."""
        row = [self._number(atom.relation)]
        for argument in atom.arguments:
            if isinstance(argument, Variable):
                row.append(names.setdefault(argument, -1 - len(names)))
            else:
                row.append(self._number(argument))
        return tuple(row)

    def _number(self, thing: str | Argument) -> int:
        """The number of a relation, which is a name, or of a term."""
        number = self._numbers.get(thing)
        if number is None:
            number = self._numbers[thing] = len(self._numbers)
            if isinstance(thing, IRI):
                self._iris.add(number)
            elif isinstance(thing, str) and thing.startswith(_GUARD):
                self._guards.add(number)
        return number


def _freeze(row: Row) -> Row:
    """The row with a constant for each of its variables, the same for the first of all rules."""
    return tuple([_FROZEN - number if number < 0 else number for number in row])


def _bound(rows: tuple[Row, ...], found: _Binding) -> tuple[Row, ...]:
    """The rows with their variables replaced."""
    return tuple([tuple([found.get(x, x) if x < 0 else x for x in row]) for row in rows])


def _guard(builtin: str) -> str:
    return _GUARD + builtin


def takes_part(rule: Rule) -> bool:
    """Whether the chase can use the rule."""
    return not rule.negations


def _atoms(rule: Rule) -> Iterator[Atom]:
    """The positive atoms of a body, and its guards as if they were atoms."""
    yield from rule.positives
    for guard in rule.guards:
        yield Atom(_guard(guard.builtin), guard.arguments)


def _given(rule: Rule) -> Iterator[Atom]:
    """The atoms of a body that hold wherever the rule applies, its guards among them.

    A function whose result an atom binds is left out: the two may be equal and not the same.
    """
    yield from rule.positives
    bound = {variable for atom in rule.positives for variable in atom.variables()}
    for guard in rule.guards:
        atom = Atom(_guard(guard.builtin), guard.arguments)
        if is_test(guard) or (guard.result is not None and guard.result not in bound):
            yield atom
        if guard.builtin in _SYMMETRIC:
            yield replace(atom, arguments=atom.arguments[::-1])


def _key(row: Row) -> Row:
    """Where a pattern is filed: by its relation and the constants that tell most, place and number.

    In RDF these are the predicate, with the object if that is a constant too (the class of a type),
    or else the object, or the subject.
    """
    if len(row) > 2 and row[2] >= 0:
        has_object = len(row) > 3 and row[3] >= 0
        return (row[0], 2, row[2], 3, row[3]) if has_object else (row[0], 2, row[2])
    for place in (3, 1, *range(4, len(row))):
        if place < len(row) and row[place] >= 0:
            return row[0], place, row[place]
    return row[:1]


def _keys(row: Row) -> Iterator[Row]:
    """Where the patterns that may match a row are filed."""
    yield row[:1]
    for place in range(1, len(row)):
        yield row[0], place, row[place]
    if len(row) > 3:
        yield row[0], 2, row[2], 3, row[3]


def _match(pattern: Row, row: Row, found: _Binding) -> _Binding | None:
    """The binding extended so that the pattern becomes the row."""
    if len(pattern) != len(row):
        return None
    extended = found
    for place, meant in zip(pattern, row):  # noqa: B905  (it is the inner loop)
        if place != meant:
            if place >= 0:
                return None
            if place not in extended:
                # Most that does not match does so at a constant: no copy before there is a need.
                extended = {**extended, place: meant}
            elif extended[place] != meant:
                return None
    return extended
