"""From a LARS program to a program of the house: rules over relations that hold *now*.

Every way to look for an atom in time becomes a relation whose facts hold for as long as the
extended atom does, so that lifetimes do the work that windows ask for:

    p now (x)          p holds at this time point
    p in W (x)         some time point of the window W has p
    p at W (T, x)      the time point T of the window W has p
    p always W (x)     every time point of the window W has p
    p @ (T, x)         a rule concludes p for the time point T
    clock W (T)        T is in the window W; `clock 0` is the present

An input atom is stated in each relation that needs it, on a stream whose window is W; a rule's
conclusion holds as long as its body does. Here are the rules; atoms in time windows are lowered in
`lower_time.py`, those in count windows in `lower_count.py`.

Invariant: at every time point t a relation has exactly the facts that its meaning at t says, for
the answer stream at t (docs/semantics/lars.md). In: a checked program, the first time point and the
distance between two. Out: `Lowered`, which whoever runs it feeds through `routes` and `clocks`.
"""

from __future__ import annotations

from ebbtide.languages.lars.analysis import group_of, refuse_own_result
from ebbtide.languages.lars.check import strata
from ebbtide.languages.lars.formula import (
    Collected,
    CountWindow,
    Denied,
    Extended,
    LarsProgram,
    LarsRule,
    Mode,
    TimeWindow,
    TumblingWindow,
)
from ebbtide.languages.lars.lower_count import CountWindows
from ebbtide.languages.lars.lowered import BODY, EVER, MEMBERS, OUTSIDE, Lowered, Result
from ebbtide.program import TRIPLE, Aggregate, Atom, Guard, Negation, Program, ProgramError, Rule
from ebbtide.program import BodyPart as Part
from ebbtide.time import EARLIEST, Instant, Landmark, Sliding, Tumbling


def lower(program: LarsProgram, start: Instant, step: int = 1, tick: int | None = None) -> Lowered:
    """Lower a stratified program whose time points begin at `start` and are `step` apart."""
    try:
        strata(program)
    except ProgramError as error:
        refuse_own_result(program)
        raise ProgramError(
            f"{error.message}.\nSuch a program may have several answer streams: `solve` (on the "
            "command line --solve one, all or cautious) finds them.",
            error.origin,
        ) from None
    return _Lowering(program, start, step, tick).lowered()


class _Lowering(CountWindows):
    def lowered(self) -> Lowered:
        for rule in self._lars.rules:
            if rule.head.relation not in self._copies:
                self._lower_rule(rule)
        # Where each predicate is concluded first.
        places = {rule.head.relation: rule.origin for rule in reversed(self._lars.rules)}
        for predicate in sorted(places, key=lambda it: (it not in self._copies, it)):
            self._place = places[predicate]
            self._out.outputs[predicate] = self._shown(predicate)
        self._out.copies = self._copies
        self._out.program = Program(self._rules, self._relations, operators=self._operators)
        return self._out

    def _shown(self, predicate: str) -> str:
        """What holds now of a predicate's intensional atoms."""
        if self._is_only_timed(predicate):
            self._out.stamped.add(predicate)
            return self._at_head(predicate)
        now = self._now(predicate)
        if predicate != TRIPLE:
            return now
        # Any triple may be stated; only those that a rule could conclude are answers.
        name = self._relation(f"{predicate} shown", 3)
        self._mean(name, "now", predicate)
        for x in (*self._plain.get(predicate, ()), *self._timed.get(predicate, ())):
            self._imply(Atom(name, x), Atom(now, x))
        return name

    def _is_only_timed(self, predicate: str) -> bool:
        """Whether a predicate is only concluded by @, and nobody asks what of it holds now."""
        is_other = any(
            predicate in others for others in (self._plain, self._copies, self._background)
        )
        return (
            predicate != TRIPLE
            and not is_other
            and f"{predicate} now" not in self._relations
            and f"{predicate} @" not in self._out.outputs.values()
        )

    # ---- rules -------------------------------------------------------------------------------

    def _lower_rule(self, rule: LarsRule) -> None:
        self._place = rule.origin
        body = [part for part in rule.body if not isinstance(part, Collected)]
        parts = [self._part(part) for part in body]
        parts += [self._aggregate(rule, part, place) for place, part in enumerate(rule.collected)]
        if rule.at is None:
            head = Atom(self._now(rule.head.relation), rule.head.arguments, rule.head.origin)
        else:
            arguments = (rule.at, *rule.head.arguments)
            head = Atom(self._at_head(rule.head.relation), arguments, rule.head.origin)
            if not any(part.mode is Mode.AT and part.at == rule.at for part in rule.positives):
                self._lower_with_outside(rule, head, parts)
                return
        self._add(rule.name, head, parts, rule)

    def _lower_with_outside(self, rule: LarsRule, head: Atom, parts: list[Part]) -> None:
        """A time point that no @ of the body binds may be outside the timeline."""
        assert rule.at is not None
        inside = Atom(self._clock(EVER), (rule.at,), head.origin)
        self._add(rule.name, head, [*parts, inside], rule)
        self._relation(OUTSIDE, 0)
        self._add(f"{rule.name} outside", Atom(OUTSIDE, ()), [*parts, Negation(inside)], rule)

    def _part(self, part: Extended | Denied | Guard) -> Part:
        match part:
            case Extended():
                return self._extended(part)
            case Denied(inner):
                return Negation(self._extended(inner))
            case Guard():
                return part

    def _add(self, name: str, head: Atom, parts: list[Part], rule: LarsRule) -> None:
        """A rule; in two steps if a negation asks about what a function yields."""
        atoms = {v for part in parts if isinstance(part, Atom) for v in part.variables()}
        yielded = {
            part.result
            for part in parts
            if isinstance(part, Guard) and part.result is not None and part.result not in atoms
        }
        negations = [part for part in parts if isinstance(part, Negation)]
        if not any(yielded & set(part.atom.variables()) for part in negations):
            self._rules.append(Rule(name, (head,), tuple(parts), rule.origin))
            return
        wanted = set(head.variables()).union(*(part.atom.variables() for part in negations))
        known = tuple(sorted(wanted & (atoms | yielded), key=str))
        first = Atom(self._relation(name + BODY, len(known)), known, rule.origin)
        positive = tuple(part for part in parts if not isinstance(part, Negation))
        self._rules.append(Rule(name + BODY, (first,), positive, rule.origin))
        self._rules.append(Rule(name, (head,), (first, *negations), rule.origin))

    def _aggregate(self, rule: LarsRule, part: Collected, place: int) -> Atom:
        group = group_of(rule, part)
        columns = (*group, *part.values)
        name = f"{rule.name} {part.function} {place}"
        members = Atom(self._relation(name + MEMBERS, len(columns)), columns, part.origin)
        self._add(name + MEMBERS, members, list(map(self._part, part.parts)), rule)
        value = None if part.function == "count" else len(group)
        output = self._relation(name, len(group) + 1)
        self._operators.append(
            Aggregate(
                part.function,
                members.relation,
                output,
                tuple(range(len(group))),
                value,
                part.origin,
            )
        )
        self._out.results[output] = Result(group, part)
        return Atom(output, (*group, part.result), part.origin)

    # ---- extended atoms ----------------------------------------------------------------------

    def _extended(self, part: Extended) -> Atom:
        predicate, arguments = part.atom.relation, part.atom.arguments
        origin = part.origin
        match part.mode, part.window:
            case Mode.NOW, _:
                return Atom(self._now(predicate), arguments, origin)
            case Mode.AT, CountWindow() as window:
                assert part.at is not None
                return self._counted_at(part.atom, window, part.at)
            case Mode.SOME, CountWindow() as window:
                return self._counted(part.atom, window)
            case Mode.ALWAYS, CountWindow() as window:
                return self._always_counted(part.atom, window)
            case Mode.AT, _:
                assert part.at is not None
                return Atom(self._at(predicate, self._window(part)), (part.at, *arguments), origin)
            case Mode.SOME, _:
                return Atom(self._some(predicate, self._window(part)), arguments, origin)
            case _:
                return Atom(self._always(part.atom, self._window(part)), arguments, origin)

    def _window(self, part: Extended) -> str:
        """The name of the stream whose window is that of an extended atom."""
        match part.window:
            case TimeWindow(span):
                points = span.points(self._tick, part.origin)
                return self._stream(str(points), Sliding((points + 1) * self._step))
            case TumblingWindow(span):
                points = span.points(self._tick, part.origin)
                window = Tumbling(points * self._step, self._pane - self._step)
                return self._stream(f"tumbling {points}", window)
            case _:
                return self._stream(EVER, Landmark(EARLIEST))
