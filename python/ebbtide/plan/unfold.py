"""Unfolding: helper relations of specialised rules, replaced by what concludes them.

In: the forms of rules. Rules about lists walk along them with helpers,

    _in(?y, L, 0) :- triple(?y, a, C0).
    _in(?y, L, 1) :- _in(?y, L, 0), triple(?y, a, C1).
    triple(?y, a, C) :- _in(?y, L, 1).

and once the lists are known, so is every step:

    triple(?y, a, C) :- triple(?y, a, C0), triple(?y, a, C1).

A relation is unfolded if it is hidden, if some rule asks for it, if it is neither negated nor read
by an operator, if every rule that concludes it was specialised, and if its forms conclude something
about data. What no rule asks for is there for others, such as the answers of queries. One whose
forms go round in a circle or become too many stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Final

from ebbtide.plan.unify import apart, substitute_rule, unify, variables
from ebbtide.program import Fact, Lineage, Program, Rule, Variable, is_event, is_hidden

#: Joins longer than this are left to the helpers.
MOST_ATOMS: Final = 64


def unfold(
    program: Program, forms: Mapping[int, Sequence[Rule]], most: int
) -> tuple[dict[int, list[Rule]], frozenset[int]]:
    """The forms without helpers, and the ids of the rules that helpers were for."""
    helpers = _helpers(program, forms)
    while helpers:
        rules = [rule for rule in program.rules if _touches(rule, helpers)]
        everything = {id(rule): [_as_form(rule)] for rule in rules} | dict(forms)
        result = _without(helpers, everything, most)
        if isinstance(result, dict):
            return result, frozenset(map(id, rules))
        helpers -= {result}
    return {key: list(each) for key, each in forms.items()}, frozenset()


def _without(
    helpers: frozenset[str], forms: Mapping[int, Sequence[Rule]], most: int
) -> dict[int, list[Rule]] | str:
    """The forms without helpers, or the helper that cannot be unfolded."""
    concluding: defaultdict[str, list[Rule]] = defaultdict(list)
    for each in forms.values():
        for form in each:
            concluding[form.heads[0].relation].append(form)
    marks = count()
    result: dict[int, list[Rule]] = {}
    for key, each in forms.items():
        waiting = [form for form in each if form.heads[0].relation not in helpers]
        done: list[Rule] = []
        merged: dict[int, Rule] = {}
        while waiting:
            form = waiting.pop()
            place = _place(form, helpers)
            if place is None:
                done.append(_tidy(form) if id(form) in merged else form)
                continue
            if len(waiting) + len(done) > most or len(form.positives) > MOST_ATOMS:
                return form.positives[place].relation
            ways = list(_resolved(form, place, concluding, marks))
            merged.update((id(way), way) for way in ways)
            waiting += ways
        result[key] = done[::-1]
    return result


def _helpers(program: Program, forms: Mapping[int, Sequence[Rule]]) -> frozenset[str]:
    """The hidden relations whose facts all come from forms, and that only rules ask for."""
    from_forms: set[str] = set()
    asked = {atom.relation for rule in program.rules for atom in rule.positives}
    others = {operator.input for operator in program.operators}
    # A helper that only says that something is there is better asked than joined.
    others |= {
        form.heads[0].relation
        for each in forms.values()
        for form in each
        if not any(form.heads[0].variables())
    }
    for rule in program.rules:
        concluded = {head.relation for head in rule.heads}
        if id(rule) in forms and not rule.negations:
            from_forms |= concluded
        else:
            others |= concluded
        others |= {negation.atom.relation for negation in rule.negations}
    helpers = (from_forms & asked) - others
    return frozenset(name for name in helpers if is_hidden(name) and not is_event(name))


def _as_form(rule: Rule) -> Rule:
    """A rule that asks for a helper, and that was not specialised itself."""
    lineage = Lineage(rule, rule.heads[0], tuple(range(len(rule.positives))))
    return replace(rule, lineage=lineage)


def _touches(rule: Rule, helpers: frozenset[str]) -> bool:
    return any(atom.relation in helpers for atom in (*rule.heads, *rule.positives))


def _place(form: Rule, helpers: frozenset[str]) -> int | None:
    atoms = enumerate(form.positives)
    return next((place for place, atom in atoms if atom.relation in helpers), None)


def _resolved(
    form: Rule, place: int, concluding: Mapping[str, Sequence[Rule]], marks: Iterator[int]
) -> Iterator[Rule]:
    """The form, once for each way to conclude the atom at this place among its positive ones."""
    asked = form.positives[place]
    for helper in concluding[asked.relation]:
        helper = apart(helper, f"'{next(marks)}")
        found = unify(helper.heads[0], asked)
        if found is None:
            continue
        rest = tuple(part for part in form.body if part is not asked)
        merged = replace(form, body=(*rest, *helper.body), lineage=_joined(form, place, helper))
        yield substitute_rule(merged, found)


def _joined(form: Rule, place: int, helper: Rule) -> Lineage | None:
    """How the merged rule follows: the helper stands for the atom, its atoms come last."""
    if form.lineage is None or helper.lineage is None:
        return None
    moved = _moved(helper.lineage, lambda place: place + len(form.positives) - 1)
    return _moved(form.lineage, lambda other: moved if other == place else other - (other > place))


def _moved(lineage: Lineage, to: Callable[[int], int | Lineage]) -> Lineage:
    """The lineage with the places of its premises changed."""

    def each(premise: int | Fact | Lineage) -> int | Fact | Lineage:
        match premise:
            case int():
                return to(premise)
            case Lineage():
                return _moved(premise, to)
        return premise

    return replace(lineage, premises=tuple(map(each, lineage.premises)))


def _tidy(rule: Rule) -> Rule:
    """The rule with the marks taken off the names of its variables, where they stay different."""
    names: dict[Variable, Variable] = {}
    taken: set[str] = set()
    for variable in variables(rule):
        plain = variable.name.partition("'")[0]
        name = next(n for n in chain([plain], (f"{plain}{i}" for i in count(2))) if n not in taken)
        taken.add(name)
        names[variable] = Variable(name)
    return substitute_rule(rule, names)
