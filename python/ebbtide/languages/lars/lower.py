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

from ebbtide.languages.lars.analysis import (
    circular,
    copies,
    group_of,
    heads,
    reach,
    refuse_own_result,
)
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
from ebbtide.languages.lars.groups import by_place, group_places, window_label
from ebbtide.languages.lars.lowered import (
    EVER,
    NOW,
    OUTSIDE,
    PAD,
    Clock,
    Lowered,
    Meaning,
    Result,
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
    Origin,
    Program,
    ProgramError,
    Rule,
    Variable,
)
from ebbtide.program import BodyPart as Part
from ebbtide.terms import Literal, to_term
from ebbtide.time import EARLIEST, Count, Instant, Landmark, Sliding, Tumbling, Window


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
        for predicate in sorted(
            self._lars.intensional, key=lambda it: (it not in self._copies, it)
        ):
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
            self._rules.append(Rule(name, (Atom(name, x),), (Atom(now, x),)))
        return name

    def _is_only_timed(self, predicate: str) -> bool:
        """Whether a predicate is only concluded by @, and nobody asks what of it holds now."""
        others = (TRIPLE, *self._plain, *self._copies, *self._background)
        return (
            predicate not in others
            and f"{predicate} now" not in self._relations
            and f"{predicate} @" not in self._out.outputs.values()
        )

    # ---- rules -------------------------------------------------------------------------------

    def _lower_rule(self, rule: LarsRule) -> None:
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
        first = Atom(self._relation(f"{name} body", len(known)), known, rule.origin)
        positive = tuple(part for part in parts if not isinstance(part, Negation))
        self._rules.append(Rule(f"{name} body", (first,), positive, rule.origin))
        self._rules.append(Rule(name, (head,), (first, *negations), rule.origin))

    def _aggregate(self, rule: LarsRule, part: Collected, place: int) -> Atom:
        group = group_of(rule, part)
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

    def _counted(self, atom: Atom, window: CountWindow) -> Atom:
        """An atom in a count window, at some time point."""
        if not window.of_predicate:
            return self._in_tally(atom, window)
        name, is_new = self._input_in(atom, window, timed=False)
        if is_new:
            self._add_background(atom.relation, name)
        return Atom(name, atom.arguments, atom.origin)

    def _counted_at(self, atom: Atom, window: CountWindow, at: Argument) -> Atom:
        """An atom in a count window, at a time point of the window."""
        predicate = atom.relation
        if predicate not in self._background:
            return self._input_at(atom, window, at)
        name, is_new = self._new(
            f"{predicate} or known at {window_label(atom, window)}", self._arities[predicate] + 1
        )
        self._mean(name, "at", predicate, str(window)[1:-1])
        if is_new:
            x = self._variables(predicate)
            window = by_place(atom, window, x)
            head = Atom(name, (_T, *x))
            points = Atom(self._points(predicate, window), (*window.per, _T))
            self._rules += [
                Rule(name, (head,), (self._input_at(Atom(predicate, x), window, _T),)),
                Rule(name, (head,), (Atom(self._known(predicate), x), points)),
            ]
        return Atom(name, (at, *atom.arguments), atom.origin)

    def _always_counted(self, atom: Atom, window: CountWindow) -> Atom:
        """At every time point of a count window: as often as its timeline has time points.

        What always held holds now, too, so that only what has just come is looked at.
        """
        predicate = atom.relation
        name, is_new = self._new(
            f"{predicate} always {window_label(atom, window)}", len(atom.arguments)
        )
        self._mean(name, "always", predicate, str(window)[1:-1])
        if is_new:
            x = self._variables(predicate)
            window = by_place(atom, window, x)
            there = Atom(self._relation(f"{name} there", len(x) + 1), (*x, _T))
            counts = self._relation(f"{name} counts", len(x) + 1)
            self._operators.append(Aggregate("count", there.relation, counts, tuple(range(len(x)))))
            self._mean(counts, "clock", "")
            span, back = Variable("Span"), Variable("Back")
            body: tuple[Part, ...] = (
                Atom(self._now(predicate), x),
                Atom(counts, (*x, _N)),
                Atom(self._first(predicate, window), (*window.per, _T)),
                Atom(self._clock(NOW), (_U,)),
                # From the first time point to now there are so many: first + N * step = now + step.
                Guard("product", (_N, to_term(self._step), span)),
                Guard("sum", (_T, span, back)),
                Guard("sum", (_U, to_term(self._step), _M)),
                Guard("equal", (back, _M)),
            )
            self._rules += [
                Rule(there.relation, (there,), (self._input_at(Atom(predicate, x), window, _T),)),
                Rule(name, (Atom(name, x),), body),
            ]
            if predicate in self._background:
                known = Atom(self._known(predicate), x)
                self._rules.append(Rule(name, (Atom(name, x),), (known,)))
        return Atom(name, atom.arguments, atom.origin)

    def _input_in(self, atom: Atom, window: CountWindow, *, timed: bool) -> tuple[str, bool]:
        """The relation of the input atoms in a count window, with time points if `timed`."""
        predicate = atom.relation
        shift = 1 if timed else 0
        label = f"{'at' if timed else 'in'} {window_label(atom, window)}"
        group = tuple(place + shift for place in group_places(atom, window))
        stream = self._stream(f"{predicate} {label}", Count(window.size, group))
        name, is_new = self._new(f"{predicate} {label}", self._arities[predicate] + shift)
        self._mean(name, "at" if timed else "in", predicate, str(window)[1:-1])
        if is_new:
            self._out.routes[predicate].append(Route(stream, name, stamped=timed))
        return name, is_new

    def _input_at(self, atom: Atom, window: CountWindow, at: Argument) -> Atom:
        """An input atom in a count window at a time point."""
        if window.of_predicate:
            name, _ = self._input_in(atom, window, timed=True)
            return Atom(name, (at, *atom.arguments), atom.origin)
        name, width = self._tally(window, timed=True)
        self._mean(name, "tally at", atom.relation, f"#{window.size}")
        return _padded(name, (Literal(atom.relation), at, *atom.arguments), width, atom.origin)

    def _in_tally(self, atom: Atom, window: CountWindow) -> Atom:
        """An atom in a count window over the whole stream."""
        name, width = self._tally(window, timed=False)
        self._mean(name, "tally", atom.relation, f"#{window.size}")
        predicate = Literal(atom.relation)
        for fact in self._lars.background:
            if fact.relation == atom.relation:
                known = Fact(name, padded_terms((predicate, *fact.terms), width))
                if known not in self._out.background:
                    self._out.background.append(known)
        return _padded(name, (predicate, *atom.arguments), width, atom.origin)

    def _tally(self, window: CountWindow, *, timed: bool) -> tuple[str, int]:
        """The relation of the last atoms of the whole stream, and its number of columns."""
        width = max(1, *self._arities.values()) + (2 if timed else 1)
        name, is_new = self._new(f"#{window.size} {'at' if timed else 'in'}", width)
        if is_new:
            self._stream(name, Count(window.size))
            self._out.tallies.append(Tally(Route(name, name, stamped=timed), width))
        return name, width

    def _first(self, predicate: str, window: CountWindow) -> str:
        """The first time point of a count window's timeline, by group: that of its oldest atom.

        While there are fewer atoms than the window is for, that is the first of all.
        """
        atom = Atom(predicate, self._variables(predicate))
        places, g = group_places(atom, window), window.per
        of = predicate if window.of_predicate else "all"
        name, is_new = self._new(f"first {of} {window_label(atom, window)}", len(g) + 1)
        self._mean(name, "clock", "")
        if is_new:
            timed = self._input_at(atom, window, _T).relation
            group = tuple(place + 1 for place in places)
            oldest = self._relation(f"{name} oldest", len(g) + 1)
            size = Atom(self._relation(f"{name} size", len(g) + 1), (*g, _N))
            self._operators += [
                Aggregate("min", timed, oldest, group, 0 if window.of_predicate else 1),
                Aggregate("count", timed, size.relation, group),
            ]
            wanted, first = to_term(window.size), Atom(name, (*g, to_term(self._start)))
            is_full = (Atom(oldest, (*g, _T)), size, Guard("equal", (_N, wanted)))
            self._rules += [
                Rule(name, (Atom(name, (*g, _T)),), is_full),
                Rule(name, (first,), (size, Guard("lessThan", (_N, wanted)))),
            ]
            if predicate in self._background:
                some = Atom(self._relation(f"{name} some", len(g)), g)
                known = Atom(self._known(predicate), atom.arguments)
                self._rules += [
                    Rule(some.relation, (some,), (size,)),
                    Rule(name, (first,), (known, Negation(some))),
                ]
        return name

    def _points(self, predicate: str, window: CountWindow) -> str:
        """The time points of a count window's timeline, by group."""
        first = self._first(predicate, window)
        arity = self._relations[first]
        name, is_new = self._new(f"points {first}", arity)
        self._mean(name, "clock", "")
        if is_new:
            g = tuple(Variable(f"x{place}") for place in range(arity - 1))
            later = (
                Atom(name, (*g, _T)),
                Atom(self._clock(NOW), (_N,)),
                Guard("sum", (_T, to_term(self._step), _U)),
                Guard("le", (_U, _N)),
            )
            self._rules += [
                Rule(name, (Atom(name, (*g, _T)),), (Atom(first, (*g, _T)),)),
                Rule(name, (Atom(name, (*g, _U)),), later),
            ]
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
        self._out.meanings[name] = Meaning(kind, predicate, window)

    def _stream(self, name: str, window: Window) -> str:
        self._out.streams[name] = window
        return name


_T: Final = Variable("T")
_U: Final = Variable("U")
_N: Final = Variable("N")
_M: Final = Variable("M")


def _padded(name: str, arguments: tuple[Argument, ...], width: int, origin: Origin) -> Atom:
    return Atom(name, (*arguments, *(PAD,) * (width - len(arguments))), origin)
