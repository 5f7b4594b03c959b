"""The closure of timed facts under a program: nested matching, repeated until nothing changes.

Facts are a mapping from the fact to its `until`. In the (max, min) semiring a derivation holds
until the minimum of its positive atoms, and a fact until the maximum over its derivations and its
statements. Strata are closed in order, so a negation only asks about facts that are complete.

Within a rule the positive atoms come first, then the guards, then the negations. A guard is worked
out as soon as its inputs are known, the earlier one in the text first. Facts are kept by their
terms, so that a regime of ninety rules can be compared with: an atom is matched with the facts that
have one of its known terms in its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from ebbtide.engines.reference.builtins import FUNCTIONS, TESTS, equal
from ebbtide.engines.reference.operators import Past, stated_by
from ebbtide.program import Argument, Atom, Fact, Guard, Program, Rule, Variable
from ebbtide.program.user import asking
from ebbtide.terms import Term
from ebbtide.time import EARLIEST, FOREVER, Instant

Binding: TypeAlias = Mapping[Variable, Term]
#: The facts of a relation, and again those of a relation with a term at a place.
Key: TypeAlias = str | tuple[str, int, Term]
Rows: TypeAlias = Mapping[Key, Mapping[tuple[Term, ...], Instant]]


def closure(
    program: Program,
    stated: Mapping[Fact, Instant],
    tick: Instant = EARLIEST,
    past: Past = (),
) -> dict[Fact, Instant]:
    """The least facts that hold what is stated and every conclusion, each with its `until`.

    `past` is what held at earlier ticks, for operators that ask.
    """
    facts = dict(stated)
    for stratum in sorted({*program.strata, *program.operator_strata}):
        for operator, place in zip(program.operators, program.operator_strata, strict=True):
            if place == stratum:
                facts.update(list(stated_by(operator, facts, tick, past)))
        rules = [
            rule
            for rule, place in zip(program.rules, program.strata, strict=True)
            if place == stratum
        ]
        while _extend(rules, facts):
            pass
    return facts


def _extend(rules: Iterable[Rule], facts: dict[Fact, Instant]) -> bool:
    """Add what the rules derive in one step; whether that changed anything."""
    rows = _by_terms(facts)
    changed = False
    for fact, until in [derived for rule in rules for derived in derivations(rule, rows)]:
        if fact not in facts or facts[fact] < until:
            facts[fact] = until
            changed = True
    return changed


def _by_terms(facts: Mapping[Fact, Instant]) -> Rows:
    rows: defaultdict[Key, dict[tuple[Term, ...], Instant]] = defaultdict(dict)
    for fact, until in facts.items():
        rows[fact.relation][fact.terms] = until
        for place, term in enumerate(fact.terms):
            rows[fact.relation, place, term][fact.terms] = until
    return rows


def _near(atom: Atom, rows: Rows, binding: Binding) -> Mapping[tuple[Term, ...], Instant]:
    """Facts among which are all that match the atom: the fewest that share a known term with it."""
    known = (
        rows.get((atom.relation, place, _term(argument, binding)), {})
        for place, argument in enumerate(atom.arguments)
        if _known(argument, binding)
    )
    return min(known, key=len, default=rows.get(atom.relation, {}))


def derivations(rule: Rule, rows: Rows) -> Iterator[tuple[Fact, Instant]]:
    """What the rule derives from the facts in one step."""
    for joined, until in _join(rule.positives, rows, {}, FOREVER):
        binding = guarded(rule.name, rule.guards, joined)
        if binding is None or any(_holds(part.atom, rows, binding) for part in rule.negations):
            continue
        for head in rule.heads:
            yield ground(head, binding), until


def _join(
    atoms: tuple[Atom, ...], rows: Rows, binding: Binding, until: Instant
) -> Iterator[tuple[Binding, Instant]]:
    if not atoms:
        yield binding, until
        return
    for terms, holds_until in _near(atoms[0], rows, binding).items():
        extended = match(atoms[0], terms, binding)
        if extended is not None:
            yield from _join(atoms[1:], rows, extended, min(until, holds_until))


def _holds(atom: Atom, rows: Rows, binding: Binding) -> bool:
    return any(match(atom, terms, binding) is not None for terms in _near(atom, rows, binding))


def match(atom: Atom, terms: tuple[Term, ...], binding: Binding) -> Binding | None:
    """The binding extended so that the atom becomes the fact with these terms."""
    if len(atom.arguments) != len(terms):
        return None
    extended = dict(binding)
    for argument, term in zip(atom.arguments, terms, strict=True):
        known = extended.setdefault(argument, term) if isinstance(argument, Variable) else argument
        if known != term:
            return None
    return extended


def guarded(rule: str, guards: tuple[Guard, ...], binding: Binding) -> Binding | None:
    """The binding with the results of the rule's guards, or None if one does not hold."""
    if not guards:
        return binding
    ready = next(guard for guard in guards if all(_known(a, binding) for a in guard.inputs))
    rest = tuple(guard for guard in guards if guard is not ready)
    result = _ask(rule, ready, [_term(argument, binding) for argument in ready.inputs])
    if result is True:
        return guarded(rule, rest, binding)
    if result is None or result is False:
        return None
    last = ready.arguments[-1]
    if _known(last, binding):
        return guarded(rule, rest, binding) if equal(_term(last, binding), result) else None
    assert isinstance(last, Variable)
    return guarded(rule, rest, {**binding, last: result})


def _ask(rule: str, guard: Guard, inputs: list[Term]) -> bool | Term | None:
    """Whether a test holds, or what a function yields."""
    known = TESTS.get(guard.builtin) or FUNCTIONS.get(guard.builtin)
    return known(*inputs) if known else asking(rule, guard)(inputs)


def ground(atom: Atom, binding: Binding) -> Fact:
    """The atom with its variables replaced."""
    return Fact(atom.relation, tuple(_term(argument, binding) for argument in atom.arguments))


def _known(argument: Argument, binding: Binding) -> bool:
    return not isinstance(argument, Variable) or argument in binding


def _term(argument: Argument, binding: Binding) -> Term:
    return binding[argument] if isinstance(argument, Variable) else argument
