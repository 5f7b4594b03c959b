"""What makes rules a program: known relations and builtins, one arity each, bound variables.

In: the rules, and the relations declared beforehand with their arity. Out: every relation with its
arity. The first thing that is wrong is a `ProgramError` at the place of the atom.

A variable is *bound* by a positive atom, or as the result of a function whose inputs are bound;
functions may chain, and the body is a conjunction, so the order in which it is written never
matters. Invariant: in checked rules every variable of a head and every input of a guard is bound,
and a variable of a negation is either in a positive atom or local to that negation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ebbtide.program.atom import TRIPLE, Argument, Atom, Variable
from ebbtide.program.guard import (
    PATTERN_BUILTINS,
    SPARQL_BUILTINS,
    Guard,
    builtin_names,
    find_builtin,
)
from ebbtide.program.origin import Origin, ProgramError
from ebbtide.program.reserved import INCONSISTENCY, RESERVED
from ebbtide.program.rule import Rule
from ebbtide.program.wording import counted, did_you_mean
from ebbtide.terms import Literal
from ebbtide.terms.term import XSD_STRING

#: Engines take the parts of a body one within the other, on the stack of their thread.
MOST_PARTS: Final = 2_500
#: A rule is planned once for each atom that may start it: a square of steps, a gigabyte for these.
MOST_ATOMS: Final = 1_000

#: What rules cannot ask of an expression, and the end of a sentence that says why.
_NOT_HERE: Final = {
    **dict.fromkeys(
        ("NOW", "RAND", "UUID", "STRUUID", "BNODE"), "gives another value at every evaluation"
    ),
    "EXISTS": "asks for facts, which are the matter of atoms and `not`",
}


def check_rules(
    rules: Iterable[Rule], declared: Mapping[str, int], *, closed: bool
) -> Mapping[str, int]:
    """Every relation of the rules and the declarations, with its arity."""
    relations = _Relations(declared, closed)
    for rule in rules:
        if not rule.heads:
            raise ProgramError("the rule has no head, so it concludes nothing", rule.origin)
        check_length(len(rule.asked), len(rule.guards), rule.origin)
        for atom in rule.atoms:
            relations.meet(atom)
        for guard in rule.guards:
            _check_builtin(guard)
        _check_variables(rule)
    return relations.arities


def check_length(atoms: int, others: int, origin: Origin) -> None:
    """Refuse a body of too many atoms, or of too many parts with what else there is in it."""
    for given, most, parts in (
        (atoms, MOST_ATOMS, "atoms"),
        (atoms + others, MOST_PARTS, "parts, each atom, comparison and sign of a sum being one,"),
    ):
        if given > most:
            raise ProgramError(
                f"a body has at most {most:,} {parts} and this one has {given:,}; let a rule of "
                "its own conclude some of them",
                origin,
            )


class _Relations:
    """The relations met so far, and where each was met first."""

    def __init__(self, declared: Mapping[str, int], closed: bool) -> None:
        self.arities = dict(declared)
        self._closed = closed
        self._first_place: dict[str, Origin] = {}
        if self.arities.get(TRIPLE, 3) != 3:
            raise ProgramError(f"the relation {TRIPLE} has 3 arguments and cannot be redeclared")

    def meet(self, atom: Atom) -> None:
        name, arity = atom.relation, len(atom.arguments)
        if (meant := RESERVED.get(name, arity)) != arity:
            raise ProgramError(
                f"{name} takes {counted(meant, 'argument')}, not {arity}", atom.origin
            )
        if name not in self.arities:
            if self._closed and name not in RESERVED and ":" not in name:
                hint = did_you_mean(name, self.arities)
                raise ProgramError(f"the relation {name} is not declared{hint}", atom.origin)
            self.arities[name] = arity
            self._first_place[name] = atom.origin
        elif arity != self.arities[name]:
            known = self.arities[name]
            place = self._first_place.get(name)
            where = f"at {place}" if place else "in its declaration"
            raise ProgramError(
                f"the relation {name} has {counted(arity, 'argument')} here and {known} {where}",
                atom.origin,
            )


def _check_builtin(guard: Guard) -> None:
    builtin = find_builtin(guard.builtin)
    if builtin is None:
        hint = did_you_mean(guard.builtin, builtin_names())
        raise ProgramError(f"unknown builtin {guard.builtin}{hint}", guard.origin)
    given = len(guard.arguments)
    if given < builtin.arity or (given > builtin.arity and not builtin.is_variadic):
        least = "at least " if builtin.is_variadic else ""
        raise ProgramError(
            f"{builtin.name} takes {least}{counted(builtin.arity, 'argument')}, not {given}",
            guard.origin,
        )
    if guard.builtin in SPARQL_BUILTINS:
        _check_expression(guard)
    if guard.builtin in PATTERN_BUILTINS:
        _check_pattern(guard)


def _check_pattern(guard: Guard) -> None:
    """A pattern that is written out must be one."""
    pattern = guard.arguments[1]
    if not isinstance(pattern, Literal):
        return
    from ebbtide._kernel import sparql_value

    if sparql_value('REGEX("", ?1)', [Literal(pattern.lexical).text]) is None:
        raise ProgramError(
            f"{pattern} is no pattern, or too large a one; look-around and references to groups "
            "are not known",
            guard.origin,
        )


def _check_expression(guard: Guard) -> None:
    expression = guard.arguments[0]
    if not isinstance(expression, Literal) or expression.datatype != XSD_STRING:
        raise ProgramError(
            f"the first argument of {guard.builtin} is a SPARQL expression in quotes", guard.origin
        )
    from ebbtide._kernel import SparqlSyntaxError, sparql_holds, sparql_query

    try:
        sparql_holds(expression.lexical, [])
        algebra = sparql_query(f"ASK {{ FILTER({expression.lexical}) }}")
    except SparqlSyntaxError:
        raise ProgramError(
            f"not a SPARQL expression over ?1, ?2, ...: {expression}", guard.origin
        ) from None
    given = len(guard.inputs) - 1
    for word in _words(algebra):
        if word in _NOT_HERE:
            raise ProgramError(f"{word} {_NOT_HERE[word]}: {expression}", guard.origin)
        if word.startswith("?") and not (word[1:].isdecimal() and int(word[1:]) <= given):
            raise ProgramError(
                f"{word} stands for no argument of {guard.builtin}, which has {given} after the "
                f"expression: {expression}",
                guard.origin,
            )


def _words(algebra: Any) -> Iterator[str]:
    """The terms, variables, operators and functions of an expression."""
    if isinstance(algebra, str):
        yield algebra
    elif isinstance(algebra, tuple | list):
        for part in algebra:
            yield from _words(part)


def _check_variables(rule: Rule) -> None:
    in_atoms = {variable for atom in rule.positives for variable in atom.variables()}
    bound = set(in_atoms)
    waiting = _bind(rule.guards, bound)
    for guard in waiting:
        raise ProgramError(
            f"{_unbound(guard.inputs, bound)} is an input of {guard.builtin}, but no positive atom "
            "and no function with known inputs binds it",
            guard.origin,
        )
    for head in rule.heads:
        if (free := _unbound(head.arguments, bound)) is not None:
            raise ProgramError(
                f"{free} is in the head, but no positive atom and no function of the body binds it",
                head.origin,
            )
        if head.relation.startswith(INCONSISTENCY) and (lost := in_atoms - {*head.variables()}):
            names = ", ".join(sorted(map(str, lost)))
            raise ProgramError(
                f"an inconsistency tells of its facts, so its head must have {names}", head.origin
            )
    elsewhere = bound.union(*(head.variables() for head in rule.heads)) - in_atoms
    for negation in rule.negations:
        for variable in negation.atom.variables():
            if variable in elsewhere:
                raise ProgramError(
                    f"{variable} is in a negation and elsewhere in the rule, so a positive atom "
                    "must bind it",
                    negation.origin,
                )


def _bind(guards: Iterable[Guard], bound: set[Variable]) -> list[Guard]:
    """Add what functions bind, as far as they chain; the guards whose inputs stay unknown."""
    waiting = list(guards)
    while True:
        still: list[Guard] = []
        for guard in waiting:
            if _unbound(guard.inputs, bound) is not None:
                still.append(guard)
            elif guard.result is not None:
                bound.add(guard.result)
        if len(still) == len(waiting):
            return still
        waiting = still


def _unbound(arguments: Iterable[Argument], bound: set[Variable]) -> Variable | None:
    """The first variable that nothing binds."""
    for argument in arguments:
        if isinstance(argument, Variable) and argument not in bound:
            return argument
    return None
