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
conclusion holds as long as its body does. Conclusions for T leave a window with `clock W (T)`,
unless they end no later anyway (`reach`).

Invariant: at every time point t a relation has exactly the facts that its meaning at t says, for
the answer stream at t (docs/semantics/lars.md). In: a checked program, the first time point and the
distance between two. Out: `Lowered`, which whoever runs it feeds through `routes` and `clocks`.
"""

from __future__ import annotations

from typing import Final

from ebbtide.languages.lars.analysis import circular, copies, heads, reach
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
    variables_of,
)
from ebbtide.languages.lars.lowered import (
    EVER,
    NOW,
    OUTSIDE,
    PAD,
    Clock,
    CountClock,
    Lowered,
    Meaning,
    Route,
    Tally,
    padded_terms,
)
from ebbtide.program import (
    TRIPLE,
    Aggregate,
    Always,
    AlwaysAt,
    Argument,
    Atom,
    Fact,
    Guard,
    Negation,
    Operator,
    Program,
    ProgramError,
    Rule,
    Variable,
)
from ebbtide.program import BodyPart as Part
from ebbtide.terms import Literal
from ebbtide.time import EARLIEST, Count, Instant, Landmark, Sliding, Tumbling, Window


def lower(program: LarsProgram, start: Instant, step: int = 1, tick: int | None = None) -> Lowered:
    """Lower a stratified program whose time points begin at `start` and are `step` apart."""
    try:
        strata(program)
    except ProgramError as error:
        raise ProgramError(
            f"{error.message}\nSuch a program may have several answer streams: `solve` (on the "
            "command line --solve one, all or cautious) finds them.",
            error.origin,
        ) from None
    return _Lowering(program, start, step, tick).lowered()


class _Lowering:
    def __init__(self, program: LarsProgram, start: Instant, step: int, tick: int | None) -> None:
        self._lars = program
        self._start = start
        self._step = step
        self._tick = tick
        self._arities = {TRIPLE: 3, **program.arities()}
        self._plain = heads(rule for rule in program.rules if rule.at is None)
        self._timed = heads(rule for rule in program.rules if rule.at is not None)
        self._background = {fact.relation for fact in program.background}
        self._reach = reach(program, tick)
        self._circular = circular(program)
        self._copies = copies(program)
        self._rules: list[Rule] = []
        self._operators: list[Operator] = []
        self._relations: dict[str, int] = {}
        self._out = Lowered()

    def lowered(self) -> Lowered:
        for rule in self._lars.rules:
            if rule.head.relation not in self._copies:
                self._lower_rule(rule)
        for predicate in sorted(self._lars.intensional):
            self._out.outputs[predicate] = self._shown(predicate)
        self._out.copies = self._copies
        self._out.program = Program(self._rules, self._relations, operators=self._operators)
        return self._out

    def _shown(self, predicate: str) -> str:
        """What holds now of a predicate's intensional atoms."""
        now = self._now(predicate)
        if predicate != TRIPLE:
            return now
        # Any triple may be stated; only those that a rule could conclude are answers.
        name = self._relation(f"{predicate} shown", 3)
        self._mean(name, "now", predicate)
        for x in (*self._plain.get(predicate, ()), *self._timed.get(predicate, ())):
            self._rules.append(Rule(name, (Atom(name, x),), (Atom(now, x),)))
        return name

    # ---- rules -------------------------------------------------------------------------------

    def _lower_rule(self, rule: LarsRule) -> None:
        body = [part for part in rule.body if not isinstance(part, Collected)]
        parts = [self._part(part) for part in body]
        parts += [self._aggregate(rule, part, place) for place, part in enumerate(rule.collected)]
        head = Atom(self._now(rule.head.relation), rule.head.arguments, rule.head.origin)
        if rule.at is not None:
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
        first = Atom(self._relation(f"{name} body", len(known)), known, rule.origin)
        positive = tuple(part for part in parts if not isinstance(part, Negation))
        self._rules.append(Rule(f"{name} body", (first,), positive, rule.origin))
        self._rules.append(Rule(name, (head,), (first, *negations), rule.origin))

    def _aggregate(self, rule: LarsRule, part: Collected, place: int) -> Atom:
        elsewhere = {*rule.head.variables(), rule.at}
        for other in rule.body:
            if other is not part:
                elsewhere.update(variables_of(other))
        group = tuple(sorted(part.inner() & elsewhere, key=str))
        columns = (*group, *part.values)
        name = f"{rule.name} {part.function} {place}"
        members = Atom(self._relation(f"{name} members", len(columns)), columns, part.origin)
        self._add(f"{name} members", members, list(map(self._part, part.parts)), rule)
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
                return self._counted(part.atom, window, part.at)
            case Mode.SOME, CountWindow() as window:
                return self._counted(part.atom, window, None)
            case Mode.ALWAYS, CountWindow() as window:
                return Atom(self._always_counted(predicate, window), arguments, origin)
            case Mode.AT, _:
                assert part.at is not None
                return Atom(self._at(predicate, self._window(part)), (part.at, *arguments), origin)
            case Mode.SOME, _:
                return Atom(self._some(predicate, self._window(part)), arguments, origin)
            case _:
                return Atom(self._always(predicate, self._window(part)), arguments, origin)

    def _window(self, part: Extended) -> str:
        """The name of the stream whose window is that of an extended atom."""
        match part.window:
            case TimeWindow(span):
                points = span.points(self._tick, part.origin)
                return self._stream(str(points), Sliding((points + 1) * self._step))
            case TumblingWindow(span):
                points = span.points(self._tick, part.origin)
                window = Tumbling(points * self._step, -self._step)
                return self._stream(f"tumbling {points}", window)
            case _:
                return self._stream(EVER, Landmark(EARLIEST))

    def _is_stated(self, predicate: str) -> bool:
        """Whether a stream may state atoms of a predicate."""
        return predicate == TRIPLE or predicate not in self._lars.intensional

    def _now(self, predicate: str) -> str:
        copied = self._copies.get(predicate)
        if copied is not None:
            return self._extended(copied.positives[0]).relation
        name, is_new = self._new(f"{predicate} now", self._arities[predicate])
        self._mean(name, "now", predicate)
        if is_new:
            if self._is_stated(predicate):
                self._stream(NOW, Sliding(self._step))
                self._out.routes[predicate].append(Route(NOW, name))
            self._add_background(predicate, name)
            for x in self._timed.get(predicate, ()):
                body = (Atom(self._at_head(predicate), (_T, *x)), Atom(self._clock(NOW), (_T,)))
                self._rules.append(Rule(name, (Atom(name, x),), body))
        return name

    def _at_head(self, predicate: str) -> str:
        self._mean(f"{predicate} @", "at", predicate)
        return self._relation(f"{predicate} @", self._arities[predicate] + 1)

    def _some(self, predicate: str, window: str) -> str:
        is_stated, is_timed = self._is_stated(predicate), predicate in self._timed
        if window == NOW or not (is_stated or is_timed):
            return self._now(predicate)
        name, is_new = self._new(f"{predicate} in {window}", self._arities[predicate])
        self._mean(name, "in", predicate, window)
        if is_new:
            if is_stated:
                self._out.routes[predicate].append(Route(window, name))
            self._add_background(predicate, name)
            for x in self._plain.get(predicate, ()):
                self._rules.append(Rule(name, (Atom(name, x),), (Atom(self._now(predicate), x),)))
            for x in self._timed.get(predicate, ()):
                body = self._concluded(predicate, x, window)
                self._rules.append(Rule(name, (Atom(name, x),), body))
        return name

    def _at(self, predicate: str, window: str) -> str:
        is_stated, is_plain = self._is_stated(predicate), predicate in self._plain
        is_known = predicate in self._background
        if not (is_stated or is_plain or is_known) and self._leaves(predicate, window):
            return self._at_head(predicate)
        name, is_new = self._new(f"{predicate} at {window}", self._arities[predicate] + 1)
        self._mean(name, "at", predicate, "" if window == EVER else window)
        if is_new:
            if is_stated:
                self._out.routes[predicate].append(Route(window, name, stamped=True))
            if is_known:
                x = self._variables(predicate)
                known = (Atom(self._known(predicate), x), Atom(self._clock(window), (_T,)))
                self._rules.append(Rule(name, (Atom(name, (_T, *x)),), known))
            for args in self._plain.get(predicate, ()):
                now = (Atom(self._now(predicate), args), Atom(self._clock(NOW), (_T,)))
                self._rules.append(Rule(name, (Atom(name, (_T, *args)),), now))
            for args in self._timed.get(predicate, ()):
                body = self._concluded(predicate, args, window)
                self._rules.append(Rule(name, (Atom(name, (_T, *args)),), body))
        return name

    def _concluded(
        self, predicate: str, arguments: tuple[Argument, ...], window: str
    ) -> tuple[Part, ...]:
        """What is concluded for a time point of a window."""
        concluded = Atom(self._at_head(predicate), (_T, *arguments))
        if self._leaves(predicate, window):
            return (concluded,)
        return concluded, Atom(self._clock(window), (_T,))

    def _leaves(self, predicate: str, window: str) -> bool:
        """Whether conclusions for T end no later than T leaves the window."""
        if window == EVER:
            return True
        reach = self._reach[predicate]
        return window.isdecimal() and reach is not None and reach <= int(window)

    def _always(self, predicate: str, window: str) -> str:
        if window == NOW:
            return self._now(predicate)
        arity = self._arities[predicate]
        is_input = predicate not in self._plain and predicate not in self._timed
        name, is_new = self._new(f"{predicate} always {window}", arity)
        self._mean(name, "always", predicate, window)
        if not is_new:
            return name
        if is_input and window.isdecimal():
            span = int(window) * self._step
            self._operators.append(Always(self._now(predicate), name, span, self._start))
        elif predicate in self._circular:
            self._chain(predicate, window, name)
        else:
            timed = self._at(predicate, window)
            width = self._width(window)
            pane = 0 if window.startswith("tumbling") else None
            self._operators.append(AlwaysAt(timed, name, width, self._step, self._start, pane))
        return name

    def _width(self, window: str) -> int:
        """How many time points a window has at most."""
        word, _, width = window.rpartition(" ")
        return int(width) if word else int(width) + 1

    def _chain(self, predicate: str, window: str, name: str) -> None:
        """A run is one time point longer for each it reaches back: rules that may be recursive."""
        x = self._variables(predicate)
        timed = Atom(self._at(predicate, window), (_T, *x))
        run = self._relation(f"{name} since", len(x) + 1)
        links = self._new_clock(f"link {window}", 2, Clock(window, f"link {window}", "link"))
        back = (self._width(window) - 1) * self._step
        kind = "pane" if window.startswith("tumbling") else "first"
        self._stream(NOW, Sliding(self._step))
        first = self._new_clock(f"first {window}", 1, Clock(NOW, f"first {window}", kind, back))
        since = Atom(run, (_T, *x))
        self._rules += [
            Rule(run, (since,), (timed, Atom(self._clock(NOW), (_T,)))),
            Rule(run, (since,), (timed, Atom(links, (_T, _U)), Atom(run, (_U, *x)))),
            Rule(name, (Atom(name, x),), (since, Atom(first, (_T,)))),
        ]

    # ---- count windows -----------------------------------------------------------------------

    def _counted(self, atom: Atom, window: CountWindow, at: Argument | None) -> Atom:
        """An atom in a count window, at some time point or at one."""
        predicate = atom.relation
        if not window.of_predicate:
            return self._in_tally(atom, window, at)
        places = tuple(atom.arguments.index(variable) for variable in window.per)
        shift = 0 if at is None else 1
        group = f" per {','.join(map(str, places))}" if places else ""
        kind = "in" if at is None else "at"
        stream = f"#{window.size} of {predicate}{group} {kind}"
        self._stream(stream, Count(window.size, tuple(place + shift for place in places)))
        name, is_new = self._new(
            f"{predicate} {kind} #{window.size}{group}", self._arities[predicate] + shift
        )
        self._mean(name, kind, predicate, str(window)[1:-1])
        if is_new:
            self._out.routes[predicate].append(Route(stream, name, stamped=at is not None))
            if at is None:
                self._add_background(predicate, name)
            elif predicate in self._background:
                self._spread_background(predicate, name, window)
        return Atom(name, atom.arguments if at is None else (at, *atom.arguments), atom.origin)

    def _in_tally(self, atom: Atom, window: CountWindow, at: Argument | None) -> Atom:
        stream = f"#{window.size} in" if at is None else f"#{window.size} at"
        self._stream(stream, Count(window.size))
        shift = 1 if at is None else 2
        width = max(1, *self._arities.values()) + shift
        relation, is_new = self._new(stream, width)
        if is_new:
            route = Route(stream, relation, stamped=at is not None)
            self._out.tallies.append(Tally(route, width))
        predicate = Literal(atom.relation)
        self._mean(relation, "tally" if at is None else "tally at", atom.relation, stream[:-3])
        if atom.relation in self._background:
            if at is None:
                for fact in self._lars.background:
                    if fact.relation == atom.relation:
                        padded = padded_terms((predicate, *fact.terms), width)
                        self._out.background.append(Fact(relation, padded))
            else:
                x = self._variables(atom.relation)
                clock = self._count_clock(window, atom.relation)
                terms: tuple[Argument, ...] = (predicate, _T, *x)
                head = Atom(relation, (*terms, *(PAD,) * (width - len(terms))))
                body = (Atom(self._known(atom.relation), x), Atom(clock, (_T,)))
                self._rules.append(Rule(f"{relation} {atom.relation}", (head,), body))
        front: tuple[Argument, ...] = (predicate,) if at is None else (predicate, at)
        arguments = (*front, *atom.arguments)
        return Atom(relation, (*arguments, *(PAD,) * (width - len(arguments))), atom.origin)

    def _spread_background(self, predicate: str, name: str, window: CountWindow) -> None:
        if window.per:
            raise ProgramError(
                f"{predicate} has background facts, which are in no group's window: @ with `per` "
                "cannot look for them"
            )
        x = self._variables(predicate)
        body = (Atom(self._known(predicate), x), Atom(self._count_clock(window, predicate), (_T,)))
        self._rules.append(Rule(name, (Atom(name, (_T, *x)),), body))

    def _always_counted(self, predicate: str, window: CountWindow) -> str:
        """At every time point of a count window: as many time points as its timeline has."""
        arity = self._arities[predicate]
        label = f"{predicate} always {window}"
        name, is_new = self._new(label, arity)
        self._mean(name, "always", predicate, str(window)[1:-1])
        if is_new:
            x = self._variables(predicate)
            timed = self._counted(Atom(predicate, x), window, _T)
            clock = self._count_clock(window, predicate)
            there = Atom(self._relation(f"{label} there", arity + 1), (*x, _T))
            of_window = Atom(self._relation(f"{label} points", 1), (_T,))
            groups = tuple(range(arity))
            counts = self._relation(f"{label} counts", arity + 1)
            points = self._relation(f"{label} width", 1)
            self._rules += [
                Rule(there.relation, (there,), (timed, Atom(clock, (_T,)))),
                Rule(of_window.relation, (of_window,), (Atom(clock, (_T,)),)),
                Rule(name, (Atom(name, x),), (Atom(counts, (*x, _N)), Atom(points, (_N,)))),
            ]
            self._operators += [
                Aggregate("count", there.relation, counts, groups),
                Aggregate("count", of_window.relation, points),
            ]
        return name

    def _count_clock(self, window: CountWindow, predicate: str) -> str:
        of = predicate if window.of_predicate else None
        name, is_new = self._new(f"clock #{window.size} of {of or 'all'}", 1)
        self._mean(name, "clock", "")
        if is_new:
            self._stream(EVER, Landmark(EARLIEST))
            self._out.count_clocks.append(CountClock(name, window.size, of))
        return name

    # ---- relations, streams and clocks -------------------------------------------------------

    def _clock(self, window: str) -> str:
        if window == NOW:
            self._stream(NOW, Sliding(self._step))
        elif window == EVER:
            self._stream(EVER, Landmark(EARLIEST))
        return self._new_clock(f"clock {window}", 1, Clock(window, f"clock {window}"))

    def _new_clock(self, name: str, arity: int, clock: Clock) -> str:
        name, is_new = self._new(name, arity)
        self._mean(name, "clock", "")
        if is_new:
            self._out.clocks.append(clock)
        return name

    def _known(self, predicate: str) -> str:
        """The background facts of a predicate."""
        name, is_new = self._new(f"{predicate} known", self._arities[predicate])
        if is_new:
            self._add_background(predicate, name)
        return name

    def _add_background(self, predicate: str, relation: str) -> None:
        for fact in self._lars.background:
            if fact.relation == predicate:
                self._out.background.append(Fact(relation, fact.terms))

    def _variables(self, predicate: str) -> tuple[Variable, ...]:
        return tuple(Variable(f"x{place}") for place in range(self._arities[predicate]))

    def _relation(self, name: str, arity: int) -> str:
        return self._new(name, arity)[0]

    def _new(self, name: str, arity: int) -> tuple[str, bool]:
        is_new = name not in self._relations
        self._relations[name] = arity
        return name, is_new

    def _mean(self, name: str, kind: str, predicate: str, window: str = "") -> None:
        arity = self._arities.get(predicate, 0)
        self._out.meanings[name] = Meaning(kind, predicate, window, arity)

    def _stream(self, name: str, window: Window) -> str:
        self._out.streams[name] = window
        return name


_T: Final = Variable("T")
_U: Final = Variable("U")
_N: Final = Variable("N")
