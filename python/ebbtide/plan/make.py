"""Making a plan: which passes run, and in which order.

In: a program, the facts of its background that speak of the schema, and perhaps the patterns of the
facts that are wanted. What the passes need to have evaluated, the closure of the schema, is handed
in as a function, because engines are above this room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from ebbtide.plan.assemble import assemble, settled_facts, watched
from ebbtide.plan.equality import Stepped, step_by_step
from ebbtide.plan.pattern import Pattern
from ebbtide.plan.plan import Fate, Plan, Verdict, as_written
from ebbtide.plan.relevance import needed
from ebbtide.plan.schema import MOST_FACTS, Schema
from ebbtide.plan.specialise import (
    MOST_FORMS,
    Close,
    Forms,
    how_many,
    is_mixed,
    specialise,
    work_out,
)
from ebbtide.plan.wanted import plan_wanted
from ebbtide.program import Atom, Fact, Program, Rule, Variable


def can_be_planned(program: Program) -> bool:
    """Whether some rule joins schema with data, or equality can be followed step by step."""
    schema = Schema.of(program)
    has_steps = step_by_step(program).symmetry is not None
    return has_steps or any(is_mixed(rule, schema) for rule in program.rules)


def make_plan(
    program: Program, known: Collection[Fact], close: Close, wanted: Collection[Atom] | None = None
) -> Plan:
    """The plan for a program and the schema that is known of its background."""
    stepped = step_by_step(program)
    plan = _make(stepped.program, known, close, wanted)
    return replace(plan, verdicts=tuple(_of_written(plan.verdicts, stepped)))


def _of_written(verdicts: Iterable[Verdict], stepped: Stepped) -> Iterator[Verdict]:
    """The verdicts about written rules, from those about what they became."""
    about: dict[int, list[Verdict]] = {}
    for verdict in verdicts:
        if not stepped.is_made(verdict.rule):
            rule = stepped.written.get(id(verdict.rule), verdict.rule)
            about.setdefault(id(rule), []).append(verdict)
    for found in about.values():
        first = next((each for each in found if each.fate is Fate.KEPT), found[0])
        written = stepped.written.get(id(first.rule))
        if written is None:
            yield first
            continue
        plain = first.why.removeprefix("as written: ")
        forms = [each.forms for each in found]
        yield Verdict(
            written,
            first.fate,
            plain if first.fate is Fate.DROPPED else f"step by step: {plain}",
            None if None in forms else tuple(form for each in forms for form in each or ()),
        )


def _make(
    program: Program, known: Collection[Fact], close: Close, wanted: Collection[Atom] | None
) -> Plan:
    if wanted is None:
        return _plan_all(program, known, close)
    patterns = [Pattern.of(atom) for atom in wanted]
    kept = needed_part(program, wanted)
    if program.operators or any(rule.negations for rule in kept.rules):
        plan = _plan_all(kept, known, close)
    else:
        plan = plan_wanted(kept, patterns, known, close)
    found = {id(verdict.rule): verdict for verdict in plan.verdicts}
    nothing = "concludes nothing that is needed"
    return replace(
        plan,
        verdicts=tuple(
            found.get(id(rule)) or Verdict(rule, Fate.DROPPED, nothing) for rule in program.rules
        ),
    )


def needed_part(program: Program, wanted: Collection[Atom]) -> Program:
    """The rules that can contribute to what is wanted, whatever the facts are."""
    patterns = [Pattern.of(atom) for atom in (*wanted, *_inputs(program))]
    why = needed(program.rules, patterns).why
    return program.rewritten(rule for rule in program.rules if id(rule) in why)


def _inputs(program: Program) -> Iterable[Atom]:
    """What operators read is wanted whatever it is read for."""
    for operator in program.operators:
        places = range(program.relations[operator.input])
        yield Atom(operator.input, tuple(Variable(f"c{place}") for place in places))


def _plan_all(program: Program, known: Collection[Fact], close: Close) -> Plan:
    """The plan if everything is wanted that the rules conclude."""
    schema = Schema.of(program).without_large(program, known, MOST_FACTS)
    known = [fact for fact in known if schema.has(fact)]
    mixed = [rule for rule in program.rules if is_mixed(rule, schema)]
    if not (mixed and known):
        why = "no schema is known" if mixed else "no rule joins schema with data"
        return as_written(program, why)
    closure = work_out(program.rules, mixed, schema, known, close, watched(mixed, schema))
    if closure is None:
        return as_written(program, "too much follows from the known schema")
    forms = specialise(program, schema, closure)
    assembled = assemble(program, schema, forms)
    return Plan(
        assembled,
        settled_facts(assembled, closure.settled),
        frozenset(known),
        tuple(_verdict(rule, schema, forms) for rule in program.rules),
    )


def _verdict(rule: Rule, schema: Schema, forms: Forms) -> Verdict:
    found = forms.of.get(id(rule))
    if found is not None:
        return Verdict(rule, Fate.KEPT, how_many(rule, found, forms), tuple(found))
    if is_mixed(rule, schema):
        return Verdict(rule, Fate.KEPT, f"as written: it has more than {MOST_FORMS} forms")
    speaks = any(map(schema.has, rule.positives))
    why = "it speaks of schema alone" if speaks else "it asks for no schema"
    return Verdict(rule, Fate.KEPT, f"as written: {why}")
