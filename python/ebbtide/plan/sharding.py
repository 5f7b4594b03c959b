"""Sharding: the proof that a program can be cut by the terms that facts are about.

A fact lives in the shard of a term of its. Its *home* is that of its first argument; it may have to
live elsewhere too, in the shard of its object, because a rule looks for it there. Schema lives in
every shard, and must not come on a stream. A rule is

    background      its body is schema alone: it fires in every shard
    local           one atom of its body is sharded, and has the term its conclusion lives by
    joins on ?x     several are, and all of them have that term
    global          otherwise: facts that no shard has together must meet

and a program can be sharded if no rule is global.

    local         triple(?y, a, City) :- triple(?x, isIn, ?y).        isIn lives at ?x and at ?y
    joins on ?x   alarm(?x) :- hot(?x), dry(?x), not off(?x).
    global        triple(?x, isIn, ?z) :- triple(?x, isIn, ?y), triple(?y, isIn, ?z).

Mathematics. `lives(c)` is the set of places of a kind of fact c by which it lives. Demanded is: the
home of every kind; and for a rule with head h, for each place q in lives(h) with the variable ?k
there, a place of ?k in each sharded atom of the body. The least solution is found by adding what
is demanded until nothing is missing. Then, by induction over derivations: if a fact holds, and ?k
is at one of its places in lives, it is derived in the shard of ?k, until the same instant, for all
the facts that its derivation rests on live there. Negated atoms are demanded alike: whatever could
match one lives where it is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ebbtide.plan.plan import Plan
from ebbtide.plan.schema import Schema
from ebbtide.program import TRIPLE, Argument, Atom, Program, Rule, Variable
from ebbtide.program.reserved import NOW

HOME: Final = 0
OBJECT: Final = 2

#: A relation, or of triples a predicate; None for those that no rule names.
Kind: TypeAlias = tuple[str, Argument | None]


@dataclass(frozen=True)
class Cut:
    """What sharding makes of a rule: background, local, joins on ?x, or global and why."""

    rule: Rule
    how: str
    is_global: bool = False

    def __str__(self) -> str:
        return f"{self.rule.name} ({self.rule.origin}): {self.how}"


@dataclass(frozen=True)
class Sharding:
    """The cut of every rule, and which predicates live by their object as well."""

    cuts: tuple[Cut, ...]
    by_object: frozenset[Argument]
    #: Whether predicates that no rule names live by their object as well.
    others_by_object: bool

    @property
    def is_proved(self) -> bool:
        """Whether every shard can reason for itself."""
        return not any(cut.is_global for cut in self.cuts)

    @property
    def reason(self) -> str:
        """Why not: the rules that are global, in a line."""
        return "; ".join(str(cut) for cut in self.cuts if cut.is_global)

    def __str__(self) -> str:
        return "\n".join(map(str, self.cuts))


def sharding(program: Program, plan: Plan | None = None) -> Sharding:
    """The sharding of a program.

    With a plan for the schema of the background the proof is about the forms that the rules have
    for it, and sharper.

    >>> from ebbtide.testing import program
    >>> rules = program("A: alarm(?x) :- hot(?x), dry(?x)."
    ...                 "P: path(?x, ?z) :- path(?x, ?y), leg(?y, ?z).")
    >>> print(sharding(rules))
    A (<text>:1:1): joins on ?x
    P (<text>:1:34): global: leg(?y, ?z) does not have ?x
    """
    schema = Schema.of(program)
    verdicts = plan.verdicts if plan else ()
    forms = {id(each.rule): each.forms for each in verdicts if each.forms is not None}
    pairs = [(rule, form) for rule in program.rules for form in forms.get(id(rule), (rule,))]
    proof = _Proof([form for _, form in pairs], schema)
    proof.find()
    cuts: dict[int, Cut] = {}
    for rule, form in pairs:
        cut = proof.cut(rule, form)
        known = cuts.get(id(rule))
        if known is None or (cut.is_global, len(cut.how)) > (known.is_global, len(known.how)):
            cuts[id(rule)] = cut
    unused = "background"
    by_object = {kind[1] for kind, places in proof.lives.items() if OBJECT in places}
    named = frozenset(predicate for predicate in by_object if predicate is not None)
    every = tuple(cuts.get(id(rule)) or Cut(rule, unused) for rule in program.rules)
    operators = tuple(_of_operator(program, each.input) for each in program.operators)
    return Sharding(every + operators, named, None in by_object)


def _of_operator(program: Program, relation: str) -> Cut:
    rule = Rule(f"an operator on {relation}", (), ())
    return Cut(rule, "global: it sees the facts of every shard", is_global=True)


class _Proof:
    """The least places that facts must live by."""

    def __init__(self, rules: Sequence[Rule], schema: Schema) -> None:
        self._rules = rules
        self._schema = schema
        self.lives: dict[Kind, set[int]] = {(TRIPLE, None): {HOME}}
        for rule in rules:
            for atom in (*rule.heads, *self._sharded(rule)):
                self.lives.setdefault(_kind(atom), {HOME})

    def find(self) -> None:
        """Add what is demanded until nothing is missing."""
        while sum(self._demand(rule) for rule in self._rules):
            pass

    def cut(self, rule: Rule, form: Rule) -> Cut:
        """What a rule is, judged by one of its forms."""
        sharded = self._sharded(form)
        if not sharded:
            return Cut(rule, "background")
        for head in form.heads:
            if self._is_everywhere(head):
                return Cut(rule, f"global: it concludes {head}, which is schema", True)
            for place in sorted(self._places(head)):
                key = head.arguments[place]
                if not isinstance(key, Variable):
                    return Cut(rule, f"global: {head} lives by {key}, wherever its body does", True)
                for atom in sharded:
                    if key not in _by_places(atom):
                        return Cut(rule, f"global: {atom} does not have {key}", True)
        if len(sharded) == 1:
            return Cut(rule, "local")
        return Cut(rule, f"joins on {form.heads[0].arguments[HOME]}")

    def _demand(self, rule: Rule) -> bool:
        sharded = self._sharded(rule)
        is_new = False
        for head in rule.heads:
            for place in tuple(self._places(head)):
                key = head.arguments[place]
                for atom in sharded:
                    places = _by_places(atom).get(key, ())
                    if places and not self._places(atom).intersection(places):
                        is_new = self._add(atom, places[0]) or is_new
        return is_new

    def _add(self, atom: Atom, place: int) -> bool:
        kinds = self._kinds(atom)
        missing = [kind for kind in kinds if place not in self.lives[kind]]
        for kind in missing:
            self.lives[kind].add(place)
        return bool(missing)

    def _places(self, atom: Atom) -> set[int]:
        """Where whatever matches the atom lives: of a variable predicate, where all kinds do."""
        return set.intersection(*(self.lives[kind] for kind in self._kinds(atom)))

    def _kinds(self, atom: Atom) -> Collection[Kind]:
        kind = _kind(atom)
        if atom.relation == TRIPLE and kind[1] is None:
            return [each for each in self.lives if each[0] == TRIPLE]
        return [kind]

    def _sharded(self, rule: Rule) -> list[Atom]:
        return [atom for atom in rule.asked if not self._is_everywhere(atom)]

    def _is_everywhere(self, atom: Atom) -> bool:
        return atom.relation == NOW or not atom.arguments or self._schema.has(atom)


def _kind(atom: Atom) -> Kind:
    if atom.relation != TRIPLE:
        return atom.relation, None
    predicate = atom.arguments[1]
    return TRIPLE, None if isinstance(predicate, Variable) else predicate


def _by_places(atom: Atom) -> Mapping[Argument, Sequence[int]]:
    """The variables of an atom that facts can live by, each with its places."""
    found: dict[Argument, list[int]] = {}
    places: Iterable[int] = (
        (HOME, OBJECT) if atom.relation == TRIPLE else range(len(atom.arguments))
    )
    for place in places:
        if isinstance(atom.arguments[place], Variable):
            found.setdefault(atom.arguments[place], []).append(place)
    return found
