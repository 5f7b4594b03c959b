"""A program: the rules, the arity of every relation, and the stratum of every rule.

Invariant: a `Program` is checked when it is made. Every relation has one arity, every variable of a
head, a negation shared with the body, or a guard is bound by the positive body, every builtin is
known, and the rules are stratified. What is wrong is a `ProgramError` with the place. Rules that
read lists are followed by the rules that make these (`program/lists.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ebbtide.program.atom import TRIPLE
from ebbtide.program.check import check_rules
from ebbtide.program.lists import lower_lists, made_for_lists
from ebbtide.program.operator import (
    Operator,
    as_dependency,
    check_operators,
    output_arity,
)
from ebbtide.program.reserved import is_hidden
from ebbtide.program.rule import Rule
from ebbtide.program.strata import stratify


@dataclass(frozen=True)
class Program:
    """Rules ready to be planned.

    `relations` declares relations with their arity; those that rules mention and `triple` are
    added. With `closed=True` a relation that is mentioned but not declared is an error. `operators`
    state relations beyond rules: aggregates and runs.

    >>> from ebbtide.program import Atom, Negation, Variable
    >>> x, y = Variable("x"), Variable("y")
    >>> back = Rule("back", (Atom("near", (y, x)),), (Atom("near", (x, y)),))
    >>> alone = Rule("alone", (Atom("alone", (x,)),), (Atom("node", (x,)), Negation(back.heads[0])))
    >>> program = Program([back, alone])
    >>> print(program)
    near(?y, ?x) :- near(?x, ?y).
    alone(?x) :- node(?x), not near(?y, ?x).
    >>> program.strata
    (0, 1)
    """

    rules: tuple[Rule, ...]
    relations: Mapping[str, int] = field(default_factory=dict)
    closed: bool = False
    operators: tuple[Operator, ...] = ()
    strata: tuple[int, ...] = field(init=False)
    operator_strata: tuple[int, ...] = field(init=False)

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        relations: Mapping[str, int] | None = None,
        *,
        closed: bool = False,
        operators: Iterable[Operator] = (),
    ) -> None:
        operators = tuple(operators)
        rules = lower_lists(tuple(rules))
        declared = {TRIPLE: 3, **(relations or {})}
        known = check_rules(rules, declared, closed=closed and not operators)
        check_operators(operators, rules, known)
        for each in operators:
            declared.setdefault(each.output, output_arity(each, {**known, **declared}))
        self._set(rules, check_rules(rules, declared, closed=closed), closed, operators)

    def _set(
        self,
        rules: tuple[Rule, ...],
        relations: Mapping[str, int],
        closed: bool,
        operators: tuple[Operator, ...],
    ) -> None:
        strata = stratify([*rules, *(as_dependency(each, relations) for each in operators)])
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "relations", relations)
        object.__setattr__(self, "closed", closed)
        object.__setattr__(self, "operators", operators)
        object.__setattr__(self, "strata", strata[: len(rules)])
        object.__setattr__(self, "operator_strata", strata[len(rules) :])

    def rewritten(self, rules: Iterable[Rule]) -> Program:
        """The program that a pass made of this one: it is stratified, but not checked again.

        Relations that only the new rules mention are added.
        """
        rules = tuple(rules)
        relations = dict(self.relations)
        for rule in rules:
            for atom in rule.atoms:
                relations.setdefault(atom.relation, len(atom.arguments))
        program = Program.__new__(Program)
        program._set(rules, relations, self.closed, self.operators)
        return program

    @property
    def written(self) -> tuple[Rule, ...]:
        """The rules that somebody wrote: all but those that lists were lowered to."""
        return tuple(rule for rule in self.rules if not made_for_lists(rule))

    @cached_property
    def visible(self) -> frozenset[str]:
        """The relations whose facts are answers: all but the hidden ones."""
        return frozenset(name for name in self.relations if not is_hidden(name))

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The relations whose facts are no answers."""
        return frozenset(self.relations) - self.visible

    @property
    def fingerprint(self) -> str:
        """A digest of the relations and the rules, names and origins aside."""
        lines = [f"{name}/{arity}" for name, arity in sorted(self.relations.items())]
        lines += [str(part) for part in (*self.rules, *self.operators)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.rules, *self.operators)))
