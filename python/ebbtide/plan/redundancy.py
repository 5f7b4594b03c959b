"""Redundancy: rules whose conclusions the other rules reach as well.

`reduced` leaves out rules that are *uniformly contained* in the others (Sagiv 1987): from the body
of the rule, its variables taken for constants, the other rules derive its heads.

`redundant` finds rules R that derive more than that, but nothing that is wanted:

    scm-sco: (?c subClassOf ?d) (?d subClassOf ?e) -> (?c subClassOf ?e)

If types alone are wanted it only serves cax-sco and the like, and each of these, with the body of R
in the place of what R concludes, follows from the rules without R. Then R can go, and a chain of n
subclasses costs n steps and not n * n.

**Why.** Let *good* be what follows without R, and let R* be good and all that R derives from it,
again and again; the *depth* of a fact is how often. No rule Q leads out of R*, and what is in R*
but not good is what R concludes, so that it is not wanted. By induction on the greatest depth
among the facts that Q joins: at depth 0 they are good, and so is the conclusion. Otherwise put,
for each of those that are not good, the facts that R derived it from, which are less deep. The
test of Q says that rules without R derive Q's conclusion from these, each of them from facts that
are less deep or good, so that it is good by induction; or, if Q concludes what R does, that R
derives it from such conclusions, so that it is in R*. Lifetimes are kept because all this holds
for the facts that last at least until u, for every u: a fact lasts until the greatest u for which
it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from ebbtide.plan.chase import Chase, Row, takes_part
from ebbtide.plan.pattern import Pattern, is_refuted, is_test, tests
from ebbtide.plan.relevance import everything, meets
from ebbtide.plan.unify import apart, substitute_rule, unify
from ebbtide.program import Atom, Rule


def reduced(rules: Sequence[Rule]) -> set[int]:
    """The ids of the rules that stay; each of the others follows from these.

    >>> from ebbtide.testing import program
    >>> rules = program('''
    ...     b(?x) :- a(?x).
    ...     c(?x) :- b(?x).
    ...     c(?x) :- a(?x).
    ... ''').rules
    >>> stay = reduced(rules)
    >>> [str(rule) for rule in rules if id(rule) in stay]
    ['b(?x) :- a(?x).', 'c(?x) :- b(?x).']
    """
    chase = Chase(rules)
    stay = {id(rule) for rule in rules}
    for rule in filter(takes_part, rules):
        stay.remove(id(rule))
        if not chase.derives(rule, stay):
            stay.add(id(rule))
    return stay


def redundant(
    rules: Sequence[Rule],
    wanted: Iterable[Pattern],
    candidates: Iterable[Rule],
    possible: Callable[[Pattern], bool] = everything,
    matters: Callable[[Atom], bool] = lambda conclusion: True,
) -> set[int]:
    """The ids of the candidates that can go, all of them together, if nothing else is wanted.

    If not everything is possible, they can go as long as nothing holds that is not; what follows
    from what the candidates conclude must be. Conclusions that do not matter are not looked at.

    >>> from ebbtide.testing import program
    >>> rules = program('''
    ...     near(?x, ?z) :- near(?x, ?y), near(?y, ?z).
    ...     seen(?y) :- seen(?x), near(?x, ?y).
    ... ''').rules
    >>> [id(rule) in redundant(rules, [Pattern.of(rules[1].heads[0])], rules) for rule in rules]
    [True, False]
    """
    chase = Chase(rules)
    wanted = list(wanted)
    gone: set[int] = set()
    left = [
        rule
        for rule in candidates
        if takes_part(rule) and not any(meets(each, rule.heads) for each in wanted)
    ]

    def can_go(rule: Rule) -> bool:
        others = [each for each in rules if each is not rule and id(each) not in gone]
        return not any(
            _negates(other, rule)
            or any(
                any(map(matters, case.heads))
                and _can_match(case, possible)
                and not _follows(case, rule, others, chase)
                for case in _unfolded(_tested(other), _tested(rule))
            )
            for other in others
        )

    # One that goes may be the only one that another had to stay for.
    while True:
        before = len(gone)
        for rule in left:
            if id(rule) not in gone and can_go(rule):
                gone.add(id(rule))
        if len(gone) == before:
            return gone


def _can_match(rule: Rule, possible: Callable[[Pattern], bool]) -> bool:
    return not any(map(is_refuted, rule.guards)) and all(
        possible(Pattern.of(atom, rule.guards)) for atom in rule.positives
    )


def _tested(rule: Rule) -> Rule:
    """The rule with all that it asks of its variables among its guards."""
    functions = [guard for guard in rule.guards if not is_test(guard)]
    return replace(rule, body=(*rule.positives, *rule.negations, *functions, *tests(rule)))


def _negates(other: Rule, rule: Rule) -> bool:
    return any(meets(Pattern.of(negation.atom), rule.heads) for negation in other.negations)


def _follows(unfolded: Rule, rule: Rule, others: Sequence[Rule], chase: Chase) -> bool:
    """Whether the heads follow by the other rules, and after that by the rule itself.

    What the rule concludes may be a conclusion of others, but nothing else is derived from it.
    """
    given, goals = chase.frozen(unfolded)
    like_ours = [chase.like(head) for head in rule.heads]

    def is_ours(row: Row) -> bool:
        return any(like(row) for like in like_ours)

    reached = chase.run(given, {id(other) for other in others}, ends=is_ours)
    missing = goals - reached
    if not all(map(is_ours, missing)):
        return False
    return not missing or missing <= chase.run(reached, {id(rule)})


def _unfolded(other: Rule, rule: Rule) -> Iterator[Rule]:
    """The other rule with the body of the rule for one or more atoms that the rule concludes."""
    atoms = other.positives
    ways = [
        [
            None,
            *(n for n, head in enumerate(rule.heads) if Pattern.of(atom).meets(head) is not None),
        ]
        for atom in atoms
    ]
    for chosen in product(*ways):
        merged: Rule | None = other if any(n is not None for n in chosen) else None
        for place, number in enumerate(chosen):
            if merged is not None and number is not None:
                merged = _merged(merged, place, apart(rule, f"'{place}"), number)
        if merged is not None:
            unfolded = [
                atom for atom, n in zip(merged.positives, chosen, strict=False) if n is not None
            ]
            body = tuple(part for part in merged.body if not any(part is atom for atom in unfolded))
            yield replace(merged, body=body)


def _merged(other: Rule, place: int, rule: Rule, number: int) -> Rule | None:
    """The other rule where its atom at this place is a head of the rule, whose body comes last."""
    found = unify(rule.heads[number], other.positives[place])
    if found is None:
        return None
    return substitute_rule(replace(other, body=(*other.body, *rule.body)), found)
