"""Atoms in count windows, of a predicate or of the whole stream, as relations.

A window holds its last atoms (`Count`); its timeline reaches back to the time point of its oldest
one, or to the first of all while it is not full. Atoms of the whole stream stand in one relation, a
*tally*: the predicate, the arguments, and what fills the columns up.
"""

from __future__ import annotations

from ebbtide.languages.lars.formula import CountWindow
from ebbtide.languages.lars.groups import by_place, group_places, window_label
from ebbtide.languages.lars.lower_time import TimeWindows
from ebbtide.languages.lars.lower_vocabulary import M, N, T, U
from ebbtide.languages.lars.lowered import NOW, PAD, Counted, Route, Tally, padded_terms
from ebbtide.program import (
    Aggregate,
    Argument,
    Atom,
    Fact,
    Guard,
    Negation,
    Origin,
    Variable,
)
from ebbtide.program import BodyPart as Part
from ebbtide.terms import Literal, to_term
from ebbtide.time import Count, Sliding


class CountWindows(TimeWindows):
    """The relations of predicates among the last atoms."""

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
            head = Atom(name, (T, *x))
            points = Atom(self._points(predicate, window), (*window.per, T))
            self._imply(head, self._input_at(Atom(predicate, x), window, T))
            self._imply(head, Atom(self._known(predicate), x), points)
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
            there = Atom(self._relation(f"{name} there", len(x) + 1), (*x, T))
            counts = self._relation(f"{name} counts", len(x) + 1)
            self._operators.append(Aggregate("count", there.relation, counts, tuple(range(len(x)))))
            self._mean(counts, "clock", "")
            span, back = Variable("Span"), Variable("Back")
            body: tuple[Part, ...] = (
                Atom(self._stated_now(predicate), x),
                Atom(counts, (*x, N)),
                Atom(self._first(predicate, window), (*window.per, T)),
                Atom(self._clock(NOW), (U,)),
                # From the first time point to now there are so many: first + N * step = now + step.
                Guard("product", (N, to_term(self._step), span)),
                Guard("sum", (T, span, back)),
                Guard("sum", (U, to_term(self._step), M)),
                Guard("equal", (back, M)),
            )
            any_atom = Atom(predicate, x)
            timed = self._input_at(any_atom, window, T)
            places = group_places(any_atom, window)
            self._out.boxes[name] = Counted(timed.relation, places, window.size)
            self._imply(there, timed)
            self._imply(Atom(name, x), *body)
            if predicate in self._background:
                self._imply(Atom(name, x), Atom(self._known(predicate), x))
        return Atom(name, atom.arguments, atom.origin)

    def _stated_now(self, predicate: str) -> str:
        """The input atoms of this time point: rules may conclude triples of other kinds."""
        if predicate not in self._lars.intensional:
            return self._now(predicate)
        name, is_new = self._new(f"{predicate} stated", self._arities[predicate])
        self._mean(name, "now", predicate)
        if is_new:
            self._stream(NOW, Sliding(self._step))
            self._out.routes[predicate].append(Route(NOW, name))
        return name

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
        width = self._widest + (2 if timed else 1)
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
            timed = self._input_at(atom, window, T).relation
            group = tuple(place + 1 for place in places)
            oldest = self._relation(f"{name} oldest", len(g) + 1)
            size = Atom(self._relation(f"{name} size", len(g) + 1), (*g, N))
            self._operators += [
                Aggregate("min", timed, oldest, group, 0 if window.of_predicate else 1),
                Aggregate("count", timed, size.relation, group),
            ]
            wanted, first = to_term(window.size), Atom(name, (*g, to_term(self._start)))
            full = Atom(name, (*g, T))
            self._imply(full, Atom(oldest, (*g, T)), size, Guard("equal", (N, wanted)))
            self._imply(first, size, Guard("lessThan", (N, wanted)))
            # The window over the whole stream is shared by predicates, with background and without.
            is_shared = not window.of_predicate
            if predicate in self._background or (is_shared and self._background):
                some = Atom(self._relation(f"{name} some", len(g)), g)
                known = [] if is_shared else [Atom(self._known(predicate), atom.arguments)]
                self._imply(some, size)
                self._imply(first, *known, Negation(some))
        return name

    def _points(self, predicate: str, window: CountWindow) -> str:
        """The time points of a count window's timeline, by group."""
        first = self._first(predicate, window)
        arity = self._relations[first]
        name, is_new = self._new(f"points {first}", arity)
        self._mean(name, "clock", "")
        if is_new:
            g = tuple(Variable(f"x{place}") for place in range(arity - 1))
            point = Atom(name, (*g, T))
            self._imply(point, Atom(first, (*g, T)))
            self._imply(
                Atom(name, (*g, U)),
                point,
                Atom(self._clock(NOW), (N,)),
                Guard("sum", (T, to_term(self._step), U)),
                Guard("le", (U, N)),
            )
        return name


def _padded(name: str, arguments: tuple[Argument, ...], width: int, origin: Origin) -> Atom:
    return Atom(name, (*arguments, *(PAD,) * (width - len(arguments))), origin)
