"""The plan for what is wanted: what is needed for it as long as nothing novel holds, and the rest.

Rules that can contribute nothing to what is wanted are dropped before. Here it is asked what can
contribute as long as all schema that holds is *settled*, that is, follows from the known schema: of
the forms for this schema, and of the rules that have none, those that are needed. All others sleep
(see `assemble`), so that they cost nothing and yet nothing is promised about the stream.

Some rules make the closure of a large schema much larger than the schema, subclasses of subclasses
first of all. If such a rule is redundant for what is wanted, it sleeps as well, and the closure is
worked out without it.

**Why this is exact.** Take the facts that last at least until u, for any u: a fact lasts until the
greatest u for which it follows. If something novel follows from them by the plan, `schema:open`
does, and the plan is the written program. If not, take a wanted fact and a proof of it by the
written rules. If all schema in the proof is settled, each step is one of a form or rule that is
needed, so that the plan makes it. Otherwise take a schema fact in the proof that is not settled,
though all schema below it is. It was not stated: it would be novel. Nor was it concluded from data:
rules that may conclude schema from data are needed, and so is all that they ask for, so that it
would be novel. And from schema alone comes only what is settled; or what is not, because a rule
that was left out concluded it, and these are redundant (see `redundancy`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Final

from ebbtide.plan.assemble import assemble, settled_facts, watched
from ebbtide.plan.pattern import Pattern, is_refuted, tests
from ebbtide.plan.plan import Fate, Plan, Verdict, as_written
from ebbtide.plan.redundancy import redundant
from ebbtide.plan.relevance import meets, needed, widened
from ebbtide.plan.schema import MOST_FACTS, Schema, topic
from ebbtide.plan.settled import Settled
from ebbtide.plan.specialise import Close, Closure, Forms, how_many, is_mixed, specialise, work_out
from ebbtide.plan.unify import substitute, substitute_part, unify
from ebbtide.program import TRIPLE, Atom, Fact, Program, Rule

#: With more facts than this, a rule that feeds itself may conclude too much.
MANY: Final = 300


def plan_wanted(
    program: Program, wanted: Sequence[Pattern], known: Collection[Fact], close: Close
) -> Plan:
    """The plan for some wanted facts, of a program without negations and operators."""
    schema = Schema.of(program)
    known = [fact for fact in known if schema.has(fact)]
    if not known:
        return as_written(program, "no schema is known")
    watching = watched(program.rules, schema)
    found = _closure(program, wanted, schema, known, close, watching)
    if found is None:
        return as_written(program, "too much follows from the known schema")
    closure, settled, gone = found
    forms = specialise(program, schema, closure)
    rest = [r for r in program.rules if id(r) not in forms.of and id(r) not in gone]
    awake = needed(
        [*(form for each in forms.of.values() for form in each), *rest],
        wanted,
        settled.allows,
        watching,
        schema.has,
    ).why
    used = Forms(
        {key: [form for form in each if id(form) in awake] for key, each in forms.of.items()},
        forms.unfolded,
    )
    asleep = frozenset(
        id(rule)
        for rule in program.rules
        if id(rule) not in awake
        and (id(rule) not in forms.of or len(used.of[id(rule)]) < len(forms.of[id(rule)]))
    )
    assembled = assemble(program, schema, used, asleep, watching)
    return Plan(
        assembled,
        settled_facts(assembled, closure.settled),
        frozenset(known),
        tuple(_verdict(rule, used, forms, awake, gone) for rule in program.rules),
    )


def _closure(
    program: Program,
    wanted: Sequence[Pattern],
    schema: Schema,
    known: Collection[Fact],
    close: Close,
    watching: Collection[Pattern],
) -> tuple[Closure, Settled, frozenset[int]] | None:
    """What follows from the known schema, without the rules that are redundant and grow it.

    With the settled schema, and the ids of the rules that were left out; None if it is too much.
    """
    small = schema.without_large(program, known, MOST_FACTS)
    mixed = [
        rule
        for rule in program.rules
        if is_mixed(rule, schema) and all(small.has(a) for a in rule.positives if schema.has(a))
    ]
    if growing := _growing(program.rules, schema, known):
        rules = [rule for rule in program.rules if rule not in growing]
        closure = work_out(rules, mixed, schema, known, close, watching)
        if closure is not None:
            settled = Settled(closure.settled, schema)
            gone = _redundant(program.rules, growing, wanted, schema, settled)
            if gone.issuperset(map(id, growing)):
                return closure, settled, gone
    closure = work_out(program.rules, mixed, schema, known, close, watching)
    return None if closure is None else (closure, Settled(closure.settled, schema), frozenset())


def _growing(rules: Iterable[Rule], schema: Schema, known: Iterable[Fact]) -> list[Rule]:
    """The rules about schema alone that feed themselves, and have much to begin with."""
    count = Counter(map(topic, known))
    return [
        rule
        for rule in rules
        if rule.positives
        and all(map(schema.has, rule.positives))
        and any(
            atom.relation == TRIPLE
            and count[topic(atom)] > MANY
            and meets(Pattern.of(atom, tests(rule)), rule.heads)
            for atom in rule.positives
        )
    ]


def _redundant(
    rules: Sequence[Rule],
    growing: Sequence[Rule],
    wanted: Sequence[Pattern],
    schema: Schema,
    settled: Settled,
) -> frozenset[int]:
    """The growing rules that can sleep, and others about schema alone that can sleep with them."""
    made = _following(growing, rules, schema, settled)

    def possible(pattern: Pattern) -> bool:
        return settled.allows(pattern) or meets(pattern, made)

    patterns = needed(rules, wanted, possible, watched(rules, schema), schema.has).patterns
    candidates = [
        rule
        for rule in rules
        if rule.positives
        and all(map(schema.has, rule.positives))
        and all(
            any(Pattern.of(atom).covers(Pattern.of(head)) for atom in made) for head in rule.heads
        )
    ]
    return frozenset(
        redundant(
            rules,
            wanted,
            candidates,
            possible,
            lambda atom: any(meets(p, [atom]) for p in patterns),
        )
    )


def _following(
    growing: Iterable[Rule], rules: Iterable[Rule], schema: Schema, settled: Settled
) -> list[Atom]:
    """Whatever may follow from what growing rules conclude, by rules about schema alone."""
    made = [Pattern.of(head).atom for rule in growing for head in rule.heads]
    for known in made:
        for rule in rules:
            for atom in rule.positives:
                found = unify(atom, known)
                if found is None:
                    continue
                asked = [substitute_part(test, found) for test in tests(rule)]
                asks = [Pattern.of(substitute(each, found), asked) for each in rule.positives]
                if any(map(is_refuted, asked)) or not all(
                    schema.has(ask.atom) and (settled.allows(ask) or meets(ask, made))
                    for ask in asks
                ):
                    continue
                for head in rule.heads:
                    new = widened(Pattern.of(substitute(head, found)))
                    if schema.has(new.atom) and not any(Pattern.of(m).covers(new) for m in made):
                        made.append(new.atom)
    return made


def _verdict(
    rule: Rule, used: Forms, forms: Forms, awake: Mapping[int, str], gone: Container[int]
) -> Verdict:
    if id(rule) in gone:
        return Verdict(rule, Fate.ASLEEP, "redundant for what is wanted")
    if id(rule) not in forms.of:
        if id(rule) in awake:
            return Verdict(rule, Fate.KEPT, f"as written: {awake[id(rule)]}")
        return Verdict(rule, Fate.ASLEEP, "not needed for the known schema")
    found, of = used.of[id(rule)], len(forms.of[id(rule)])
    if not found:
        why = "none of its forms is needed" if of else "nothing known matches its schema"
        return Verdict(rule, Fate.ASLEEP, why)
    count = how_many(rule, found, forms)
    why = count if len(found) == of else f"{count} of {of}"
    return Verdict(rule, Fate.KEPT, f"{why}: {awake[id(found[0])]}", tuple(found))
