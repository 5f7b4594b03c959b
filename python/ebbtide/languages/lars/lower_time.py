"""Atoms in time windows, at a time point, and at every one of them, as relations.

    p now (x)          p holds at this time point
    p in W (x)         some time point of the window W has p
    p at W (T, x)      the time point T of the window W has p
    p always W (x)     every time point of the window W has p
    p @ (T, x)         a rule concludes p for the time point T

Conclusions for T leave a window with `clock W (T)`, unless they end no later anyway (`reach`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from ebbtide.languages.lars.check import told_apart
from ebbtide.languages.lars.formula import Extended
from ebbtide.languages.lars.lower_vocabulary import T, U, Vocabulary
from ebbtide.languages.lars.lowered import EVER, NOW, Clock, Route
from ebbtide.program import TRIPLE, Always, AlwaysAt, Argument, Atom
from ebbtide.program import BodyPart as Part
from ebbtide.terms import to_term
from ebbtide.time import FOREVER, LATEST, Sliding


class TimeWindows(Vocabulary, ABC):
    """The relations of predicates in time."""

    @abstractmethod
    def _extended(self, part: Extended) -> Atom:
        """An extended atom as an atom that holds as long."""

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
                concluded = Atom(self._at_head(predicate), (T, *x))
                self._imply(Atom(name, x), concluded, Atom(self._clock(NOW), (T,)))
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
                self._imply(Atom(name, x), Atom(self._now(predicate), x))
            for x in self._timed.get(predicate, ()):
                self._imply(Atom(name, x), *self._concluded(predicate, x, window))
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
                any_x = self._variables(predicate)
                known = Atom(self._known(predicate), any_x)
                self._imply(Atom(name, (T, *any_x)), known, Atom(self._clock(window), (T,)))
            for x in self._plain.get(predicate, ()):
                now = Atom(self._now(predicate), x)
                self._imply(Atom(name, (T, *x)), now, Atom(self._clock(NOW), (T,)))
            for x in self._timed.get(predicate, ()):
                self._imply(Atom(name, (T, *x)), *self._concluded(predicate, x, window))
        return name

    def _concluded(
        self, predicate: str, arguments: tuple[Argument, ...], window: str
    ) -> tuple[Part, ...]:
        """What is concluded for a time point of a window."""
        concluded = Atom(self._at_head(predicate), (T, *arguments))
        if self._leaves(predicate, window):
            return (concluded,)
        return concluded, Atom(self._clock(window), (T,))

    def _leaves(self, predicate: str, window: str) -> bool:
        """Whether conclusions for T end no later than T leaves the window."""
        if window == EVER:
            return True
        reach = self._reach[predicate]
        return window.isdecimal() and reach is not None and reach <= int(window)

    def _always(self, atom: Atom, window: str) -> str:
        predicate = atom.relation
        if window == NOW:
            return self._now(predicate)
        is_input = predicate not in self._plain and predicate not in self._timed
        name, is_new = self._new(f"{predicate} always {window}", self._arities[predicate])
        self._mean(name, "always", predicate, window)
        if predicate in self._circular:
            self._chain(told_apart(atom), window, name)
        elif is_new and is_input and window.isdecimal():
            span = int(window) * self._step
            self._operators.append(Always(self._now(predicate), name, span, self._start))
        elif is_new and is_input and window == EVER:
            # No run is long enough that did not begin with time.
            self._operators.append(Always(self._now(predicate), name, FOREVER, self._start))
        elif is_new:
            timed = self._at(predicate, window)
            width = self._width(window)
            pane = self._pane if window.startswith("tumbling") else None
            self._operators.append(AlwaysAt(timed, name, width, self._step, self._start, pane))
        return name

    def _width(self, window: str) -> int:
        """How many time points a window has at most."""
        if window == EVER:
            return min((LATEST - self._start) // self._step + 1, FOREVER)
        word, _, width = window.rpartition(" ")
        return int(width) if word else int(width) + 1

    def _chain(self, atom: Atom, window: str, name: str) -> None:
        """A run is one time point longer for each it reaches back: rules that may be recursive.

        They are about the atoms that strata do not tell from this one, triples of one predicate.
        """
        x = atom.arguments
        if x in self._chained[name]:
            return
        self._chained[name].append(x)
        timed = Atom(self._at(atom.relation, window), (T, *x))
        run = self._relation(f"{name} since", len(x) + 1)
        links = self._new_clock(f"link {window}", 2, Clock(window, f"link {window}", "link"))
        since = Atom(run, (T, *x))
        self._imply(since, timed, Atom(self._clock(NOW), (T,)))
        self._imply(since, timed, Atom(links, (T, U)), Atom(run, (U, *x)))
        if window == EVER:
            self._imply(Atom(name, x), Atom(run, (to_term(self._start), *x)))
            return
        back = (self._width(window) - 1) * self._step
        kind = "pane" if window.startswith("tumbling") else "first"
        self._stream(NOW, Sliding(self._step))
        first = self._new_clock(f"first {window}", 1, Clock(NOW, f"first {window}", kind, back))
        self._imply(Atom(name, x), since, Atom(first, (T,)))
