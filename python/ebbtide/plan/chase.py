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
from collections.abc import Callable, Container, Iterable, Iterator, Set
from dataclasses import replace
from functools import partial
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

Row: TypeAlias = tuple[int, ...]
_Binding: TypeAlias = dict[int, int]

#: The places of arguments, the most telling first.
_TELLING: Final = {2: 0, 3: 1, 1: 2}


class _Watch(NamedTuple):
    """A rule that an atom may set off: the atom of the body it would match, and the other ones."""

    rule: int
    atom: Row
    others: tuple[Row, ...]
    heads: tuple[Row, ...]


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
        self._numbers: dict[object, int] = {}
        self._iris: set[int] = set()
        self._guards: set[int] = set()
        self._unequal = {self._relation(_guard(each)) for each in _UNEQUAL}
        self._watching: defaultdict[Row, list[_Watch]] = defaultdict(list)
        self._concluding: defaultdict[Row, set[int]] = defaultdict(set)
        for rule in rules:
            if not takes_part(rule):
                continue
            names: dict[Argument, int] = {}
            heads = tuple(self._row(head, names) for head in rule.heads)
            for head in heads:
                self._concluding[_key(head)].add(id(rule))
            body = tuple(self._row(atom, names) for atom in _atoms(rule))
            # Guards are given, and nothing derives them: they set off no rule.
            for place, row in enumerate(body[: len(rule.positives)]):
                others = (*body[:place], *body[place + 1 :])
                self._watching[_key(row)].append(_Watch(id(rule), row, others, heads))

    def derives(self, rule: Rule, by: Set[int], most: int = MOST) -> bool:
        """Whether the rules with the ids in `by` derive a rule's heads from its body."""
        given, heads = self.frozen(rule)
        missing = heads.difference(given)
        if not missing:
            return True
        if not all(map(partial(self._may_be_concluded, by), missing)):
            return False
        for row in self.run(given, by, most):
            missing.discard(row)
            if not missing:
                return True
        return False

    def _may_be_concluded(self, by: Set[int], row: Row) -> bool:
        return any(not by.isdisjoint(self._concluding.get(key, ())) for key in _keys(row))

    def frozen(self, rule: Rule) -> tuple[list[Row], set[Row]]:
        """The body and the heads of a rule, each variable a constant of its own."""
        body = [self._row(atom, None) for atom in _given(rule)]
        return body, {self._row(head, None) for head in rule.heads}

    def run(
        self,
        given: Iterable[Row],
        by: Container[int],
        most: int = MOST,
        ends: Callable[[Row], bool] = lambda row: False,
    ) -> Iterator[Row]:
        """What follows from the given atoms by the rules with the ids in `by`, the nearest first.

        Nothing is derived from an end.
        """
        known: defaultdict[int, list[Row]] = defaultdict(list)
        waiting: deque[Row] = deque()
        seen = dict.fromkeys(given)
        for row in seen:
            if row[0] in self._guards:
                known[row[0]].append(row)
            else:
                waiting.append(row)
        for _ in range(most):
            if not waiting:
                return
            new = waiting.popleft()
            known[new[0]].append(new)
            for watch in self._watchers(new):
                if watch.rule not in by:
                    continue
                start = _match(watch.atom, new, {})
                if start is None:
                    continue
                for found in self._join(watch.others, known, start):
                    for head in watch.heads:
                        row = tuple([found[x] if x < 0 else x for x in head])
                        if row not in seen:
                            seen[row] = None
                            yield row
                            if not ends(row):
                                waiting.append(row)

    def _join(
        self, body: tuple[Row, ...], known: dict[int, list[Row]], found: _Binding
    ) -> Iterator[_Binding]:
        if not body:
            yield found
            return
        asked, *rest = body
        if asked[0] in self._unequal:
            one, other = (found.get(term, term) for term in asked[1:])
            if one != other and one in self._iris and other in self._iris:
                yield from self._join(tuple(rest), known, found)
                return
        for row in known.get(asked[0], ()):
            more = _match(asked, row, found)
            if more is not None:
                yield from self._join(tuple(rest), known, more)

    def like(self, atom: Atom) -> Callable[[Row], bool]:
        """Whether a row matches an atom."""
        pattern = self._row(atom, {})
        return lambda row: row[0] == pattern[0] and _match(pattern, row, {}) is not None

    def _watchers(self, row: Row) -> Iterator[_Watch]:
        for key in _keys(row):
            yield from self._watching.get(key, ())

    def _row(self, atom: Atom, names: dict[Argument, int] | None) -> Row:
        """The atom as numbers; without names for the variables, they are constants."""
        row = [self._relation(atom.relation)]
        for argument in atom.arguments:
            if names is not None and isinstance(argument, Variable):
                row.append(names.setdefault(argument, -1 - len(names)))
            else:
                row.append(self._number(argument))
                if isinstance(argument, IRI):
                    self._iris.add(row[-1])
        return tuple(row)

    def _relation(self, name: str) -> int:
        number = self._number(("relation", name))
        if name.startswith(_GUARD):
            self._guards.add(number)
        return number

    def _number(self, thing: object) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))


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
    given = [(place, number) for place, number in enumerate(row) if place and number >= 0]
    best = sorted(given, key=lambda constant: _TELLING.get(constant[0], constant[0]))[:2]
    if best and (best[0][0] != 2 or (len(best) == 2 and best[1][0] != 3)):
        best = best[:1]
    return row[0], *(number for constant in best for number in constant)


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
