"""Equality step by step: cliques of equal terms cost what they hold, and not n times as much.

In: a program whose rules make owl:sameAs symmetric and transitive, as eq-sym and eq-trans of OWL 2
RL do. Every pair of a clique then meets every other one, and eq-rep takes every fact to every equal
term from every equal term. Out: the same rules, which go from a term to its *neighbours* only,

    eq-sym:   triple(?y, sameAs, ?x) :- step(?x, sameAs, ?y).
    eq-trans: triple(?x, sameAs, ?z) :- triple(?x, sameAs, ?y), step(?y, sameAs, ?z).
    eq-rep-s: triple(?t, ?p, ?o) :- step(?s, sameAs, ?t), triple(?s, ?p, ?o).

and the rules that conclude steps, of which the kernel leaves out those whose ends other steps
connect for as long:

    step(?x, sameAs, ?y) :- triple(?x, sameAs, ?y), notSameTerm(?x, ?y).
    step(?y, sameAs, ?x) :- step(?x, sameAs, ?y).

It does not matter who says that terms are the same: a statement, a functional property, a rule with
a variable predicate.

Invariant: the same facts of all other relations until the same instants; docs/semantics/equality.md
says why. A rewritten rule has the atoms of the written one in the same order, so that a derivation
with equal pairs in the place of steps is one by the written rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ebbtide.program import TRIPLE, Atom, Guard, Program, Rule, Variable
from ebbtide.program.lists import SAME_AS
from ebbtide.program.reserved import STEP

_DIFFERENT: Final = "notSameTerm"
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
        """Whether a rule of the program concludes steps: nobody wrote it."""
        return self.symmetry is not None and rule.heads[0].relation == STEP


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
    symmetry = next(filter(_is_symmetry, program.rules), None)
    if symmetry is None or not any(map(_is_transitivity, program.rules)):
        return Stepped(program, {})
    written: dict[int, Rule] = {}
    rules: list[Rule] = []
    for rule in program.rules:
        place = _place_of_step(rule)
        if place is None:
            rules.append(rule)
            continue
        asked = rule.positives[place]
        body = tuple(_step(part) if part is asked else part for part in rule.body)
        rules.append(replace(rule, body=body))
        written[id(rules[-1])] = rule
    return Stepped(program.rewritten([*rules, *_making()]), written, symmetry)


def _making() -> Iterator[Rule]:
    """The rules that conclude steps."""
    pair, back = Atom(TRIPLE, (_X, SAME_AS, _Y)), Atom(TRIPLE, (_Y, SAME_AS, _X))
    yield Rule(STEP, (_step(pair),), (pair, Guard(_DIFFERENT, (_X, _Y))))
    yield Rule(STEP, (_step(back),), (_step(pair),))


def _step(pair: Atom) -> Atom:
    return Atom(STEP, pair.arguments, pair.origin)


def _place_of_step(rule: Rule) -> int | None:
    """The place among its positive atoms where a rule may ask for a step instead of any pair."""
    if _is_symmetry(rule):
        return 0
    if _is_transitivity(rule):
        return rule.positives.index(Atom(TRIPLE, (_middle(rule), *rule.heads[0].arguments[1:])))
    return next((place for place in range(len(rule.positives)) if _replaces(rule, place)), None)


def _ends(atom: Atom) -> tuple[Variable, Variable] | None:
    """The two variables of an atom that asks for equal terms."""
    if atom.relation == TRIPLE and atom.arguments[1] == SAME_AS:
        one, _, other = atom.arguments
        if isinstance(one, Variable) and isinstance(other, Variable) and one != other:
            return one, other
    return None


def _is_symmetry(rule: Rule) -> bool:
    """Whether a rule says that what is the same is so in the other order."""
    if len(rule.body) - len(rule.guards) != 1 or len(rule.positives) != 1 or len(rule.heads) != 1:
        return False
    ends = _ends(rule.positives[0])
    return (
        ends is not None
        and _ends(rule.heads[0]) == ends[::-1]
        and all(_tells_apart(guard, ends) for guard in rule.guards)
    )


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


def _replaces(rule: Rule, place: int) -> bool:
    """Whether a rule puts one end of a pair in the place of the other in one of its atoms.

    What else it asks must be the same for all the terms on the way from one end to the other.
    """
    ends = _ends(rule.positives[place])
    if ends is None or len(rule.heads) != 1:
        return False
    here, there = ends
    others = [atom for number, atom in enumerate(rule.positives) if number != place]
    asked = [argument for atom in others for argument in atom.arguments]
    if asked.count(here) != 1 or there in asked:
        return False
    tested = [
        *(guard.arguments for guard in rule.guards if not _tells_apart(guard, ends)),
        *(negation.atom.arguments for negation in rule.negations),
    ]
    if any(here in arguments or there in arguments for arguments in tested):
        return False
    atom = next(atom for atom in others if here in atom.arguments)
    replaced = tuple(there if argument == here else argument for argument in atom.arguments)
    return rule.heads[0] == Atom(atom.relation, replaced)


def _tells_apart(guard: Guard, ends: tuple[Variable, Variable]) -> bool:
    return guard.builtin == _DIFFERENT and set(guard.arguments) == set(ends)
