"""Equality step by step: cliques of equal terms cost what they hold, and not n times as much.

In: a program whose rules make owl:sameAs symmetric and transitive, as eq-sym and eq-trans of OWL 2
RL do, or rdfp6 and rdfp7 of P. Every pair of a clique then meets every other one, and eq-rep takes
every fact to every equal term from every equal term. Out: the same rules, which go from a term to
its *neighbours* only,

    eq-sym:   triple(?y, sameAs, ?x) :- step(?x, sameAs, ?y).
    eq-trans: triple(?x, sameAs, ?z) :- triple(?x, sameAs, ?y), step(?y, sameAs, ?z).
    eq-rep-s: triple(?t, ?p, ?o) :- step(?s, sameAs, ?t), triple(?s, ?p, ?o).

and the rules that conclude steps, of which the kernel leaves out those whose ends other steps
connect for as long:

    step(?x, sameAs, ?y) :- triple(?x, sameAs, ?y), notSameTerm(?x, ?y).
    step(?y, sameAs, ?x) :- step(?x, sameAs, ?y).

A rule that replaces two terms at once, as rdfp11 does, replaces one after the other:

    rdfp11: triple(?t, ?p, ?o) :- triple(?s, ?p, ?o), step(?s, sameAs, ?t), triple(?o, sameAs, ?o).

In P equalities with literals are not turned around. Then steps are between other terms alone, and
where a literal takes part a rule asks for the pairs as it was written to:

    rdfp7: triple(?u, sameAs, ?w) :- triple(?u, sameAs, ?v), ends(?v, sameAs, ?w).
    ends(?x, sameAs, ?y) :- triple(?x, sameAs, ?y), isLiteral(?y).

It does not matter who says that terms are the same: a statement, a functional property, a rule with
a variable predicate.

Invariant: the same facts of all other relations until the same instants; docs/semantics/equality.md
says why. A rewritten rule has the atoms of the written one in the same order, so that a derivation
with equal pairs in the place of steps is one by the written rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ebbtide.plan.unify import substitute, substitute_part
from ebbtide.program import TRIPLE, Atom, Guard, Program, Rule, Variable
from ebbtide.program.lists import SAME_AS
from ebbtide.program.reserved import ENDS, STEP

_DIFFERENT: Final = "notSameTerm"
_NO_LITERAL: Final = "notLiteral"
_LITERAL: Final = "isLiteral"
_X, _Y = Variable("x"), Variable("y")


@dataclass(frozen=True)
class Stepped:
    """A program whose rules follow equality step by step; without equality, as it was."""

    program: Program
    #: The written rule of each rewritten one, by the rewritten one's id.
    written: Mapping[int, Rule]
    #: The rule by which owl:sameAs is symmetric, if the program has steps.
    symmetry: Rule | None = None

    def is_made(self, rule: Rule) -> bool:
        """Whether a rule concludes steps, or pairs with literals: nobody wrote it."""
        return self.symmetry is not None and rule.heads[0].relation in (STEP, ENDS)


def step_by_step(program: Program) -> Stepped:
    """The program with equality followed step by step.

    >>> from ebbtide.languages.jena import parse_rules
    >>> rules = parse_rules('''
    ...     [sym: (?x owl:sameAs ?y) -> (?y owl:sameAs ?x)]
    ...     [trans: (?x owl:sameAs ?y), (?y owl:sameAs ?z) -> (?x owl:sameAs ?z)]
    ...     [read: (?x owl:sameAs ?y), (?y a ?c) -> (?x <http://example/twin> ?c)]
    ... ''')
    >>> [rule.positives[-1].relation for rule in step_by_step(rules).program.rules]
    ['equality:step', 'equality:step', 'triple', 'triple', 'equality:step']
    """
    for literals in (True, False):
        way = _Way(literals)
        symmetry = next(filter(way.is_symmetry, program.rules), None)
        if symmetry is not None and any(map(_is_transitivity, program.rules)):
            break
    else:
        return Stepped(program, {})
    written: dict[int, Rule] = {}
    rules: list[Rule] = []
    for rule in program.rules:
        ways = way.rewritten(rule)
        written.update((id(each), rule) for each in ways)
        rules += ways or [rule]
    return Stepped(program.rewritten([*rules, *way.making()]), written, symmetry)


@dataclass(frozen=True)
class _Way:
    """How equality is followed: over literals too, or between other terms alone."""

    literals: bool

    def making(self) -> Iterator[Rule]:
        """The rules that conclude steps, and those for literals that none lead to."""
        pair, back = Atom(TRIPLE, (_X, SAME_AS, _Y)), Atom(TRIPLE, (_Y, SAME_AS, _X))
        others = () if self.literals else (Guard(_NO_LITERAL, (_X,)), Guard(_NO_LITERAL, (_Y,)))
        yield Rule(STEP, (_in(STEP, pair),), (pair, Guard(_DIFFERENT, (_X, _Y)), *others))
        yield Rule(STEP, (_in(STEP, back),), (_in(STEP, pair),))
        if not self.literals:
            for end in (_X, _Y):
                yield Rule(ENDS, (_in(ENDS, pair),), (pair, Guard(_LITERAL, (end,))))

    def rewritten(self, rule: Rule) -> list[Rule]:
        """The rules that go step by step instead of a rule; none if it stays as it is."""
        if self.is_symmetry(rule):
            places = [0]
        elif _is_transitivity(rule):
            second = Atom(TRIPLE, (_middle(rule), *rule.heads[0].arguments[1:]))
            places = [rule.positives.index(second)]
        else:
            places = self._places(rule)
        return [
            *(_following(rule, place, places) for place in places),
            *(() if self.literals else _about_literals(rule, places)),
        ]

    def is_symmetry(self, rule: Rule) -> bool:
        """Whether a rule says that what is the same is so in the other order."""
        if len(rule.body) - len(rule.guards) != 1 or len(rule.positives) != 1:
            return False
        ends = _ends(rule.positives[0])
        return (
            ends is not None
            and len(rule.heads) == 1
            and _ends(rule.heads[0]) == ends[::-1]
            and all(_tells_apart(guard, ends) or self._is_no_test(guard) for guard in rule.guards)
        )

    def _is_no_test(self, guard: Guard) -> bool:
        """Whether a guard holds of all the terms that steps connect."""
        return not self.literals and guard.builtin == _NO_LITERAL

    def _places(self, rule: Rule) -> list[int]:
        """The places of pairs of which a rule puts one end for the other in one of its atoms.

        What else it asks must be the same for all the terms on the way from one end to the other.
        """
        if len(rule.heads) != 1:
            return []
        pairs = {
            place: ends
            for place, atom in enumerate(rule.positives)
            if (ends := _ends(atom)) is not None
        }
        all_ = list(pairs)
        # One of several may be an atom like the others, or the one that is changed.
        for places in ([all_] if len(all_) > 1 else []) + [[place] for place in all_]:
            if self._replaces(rule, [pairs[place] for place in places], places):
                return places
        return []

    def _replaces(
        self, rule: Rule, pairs: Sequence[tuple[Variable, Variable]], places: Sequence[int]
    ) -> bool:
        """Whether a rule puts, for all of these pairs, the second end for the first in an atom."""
        others = [atom for number, atom in enumerate(rule.positives) if number not in places]
        asked = [argument for atom in others for argument in atom.arguments]
        ends = [end for pair in pairs for end in pair]
        if len(set(ends)) < len(ends) or any(
            asked.count(here) != 1 or there in asked for here, there in pairs
        ):
            return False
        alone = pairs[0] if len(pairs) == 1 else None
        tested = [
            *(
                guard.arguments
                for guard in rule.guards
                if not (self._is_no_test(guard) or (alone and _tells_apart(guard, alone)))
            ),
            *(negation.atom.arguments for negation in rule.negations),
        ]
        if any(end in arguments for arguments in tested for end in ends):
            return False
        changed = dict(pairs)
        return any(rule.heads[0] == substitute(atom, changed) for atom in others)


def _about_literals(rule: Rule, places: Sequence[int]) -> Iterator[Rule]:
    """The rule as it was written, where one of a pair is a literal."""
    for place in places:
        asked = rule.positives[place]
        body = tuple([_in(ENDS, part) if part is asked else part for part in rule.body])
        yield replace(rule, body=body)


def _following(rule: Rule, place: int, places: Sequence[int]) -> Rule:
    """The rule with a step for the pair at a place; the other pairs are terms and themselves."""
    asked = rule.positives[place]
    same = {
        there: here
        for other in places
        if other != place
        for here, _, there in (rule.positives[other].arguments,)
        if isinstance(there, Variable)
    }
    body = [_in(STEP, part) if part is asked else substitute_part(part, same) for part in rule.body]
    heads = tuple([substitute(head, same) for head in rule.heads])
    return replace(rule, heads=heads, body=tuple(body))


def _in(relation: str, pair: Atom) -> Atom:
    return Atom(relation, pair.arguments, pair.origin)


def _ends(atom: Atom) -> tuple[Variable, Variable] | None:
    """The two variables of an atom that asks for equal terms."""
    if atom.relation == TRIPLE and atom.arguments[1] == SAME_AS:
        one, _, other = atom.arguments
        if isinstance(one, Variable) and isinstance(other, Variable) and one != other:
            return one, other
    return None


def _is_transitivity(rule: Rule) -> bool:
    """Whether a rule says that what is the same as the same is the same."""
    if len(rule.body) - len(rule.guards) != 2 or len(rule.positives) != 2 or len(rule.heads) != 1:
        return False
    pairs, whole = [_ends(atom) for atom in rule.positives], _ends(rule.heads[0])
    if whole is None or None in pairs:
        return False
    middle = _middle(rule)
    steps = [(whole[0], middle), (middle, whole[1])]
    # Of one step from a term to itself follows the other one, which is there.
    return sorted(map(str, pairs)) == sorted(map(str, steps)) and all(
        any(_tells_apart(guard, step) for step in steps) for guard in rule.guards
    )


def _middle(rule: Rule) -> Variable:
    """The variable of a body that its head does not have; any if there is none."""
    outer = set(rule.heads[0].variables())
    variables = [variable for atom in rule.positives for variable in atom.variables()]
    return next((variable for variable in variables if variable not in outer), variables[0])


def _tells_apart(guard: Guard, ends: tuple[Variable, Variable]) -> bool:
    return guard.builtin == _DIFFERENT and set(guard.arguments) == set(ends)
