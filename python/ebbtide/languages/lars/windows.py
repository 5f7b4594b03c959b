"""Windows of LARS texts: what stands in the brackets behind an atom.

[3]   [t 3]   [20 s]   [tumbling 10]   [#3]   [3 #]   [#3 of p]   [#3 per X]   [ever]
"""

from __future__ import annotations

from typing import Final

from ebbtide.languages.lars.formula import (
    TICKS,
    CountWindow,
    Denied,
    EverWindow,
    Extended,
    Mode,
    Span,
    TimeWindow,
    TumblingWindow,
    Window,
    kind_places,
    show_kind,
)
from ebbtide.languages.lars.printing import quoted
from ebbtide.languages.lars.terms import TermReader
from ebbtide.languages.lars.tokens import Token
from ebbtide.program import Atom, ProgramError, Variable
from ebbtide.program.wording import did_you_mean
from ebbtide.terms import IRI
from ebbtide.time.duration import UNITS

MAX_DIGITS: Final = 12


class WindowReader(TermReader):
    """Reads windows, given the atom that they are for."""

    def _windowed(self, part: Extended, *, is_denied: bool = False) -> Extended | Denied:
        is_denied |= self._skip_not_behind()
        has_in = self._skip("in")
        if self._peek().text != "[":
            if has_in:
                self._fail("a window, such as [3]", self._peek())
            if part.mode in (Mode.SOME, Mode.ALWAYS):
                raise ProgramError(
                    f"`{part.mode.value}` looks into a window: add one, such as `in [3]`, or "
                    "`in [ever]` for all time points so far",
                    part.origin,
                )
        else:
            mode = Mode.SOME if part.mode is Mode.NOW else part.mode
            part = Extended(part.atom, mode, part.at, self._window(part.atom))
        return Denied(part) if is_denied else part

    def _skip_not_behind(self) -> bool:
        """Take the `not` of `p not in [3]` and of `p not at T`."""
        return self._peek(1).text in ("at", "in", "[") and self._skip("not")

    def _window(self, atom: Atom) -> Window:
        opening = self._expect("[")
        window: Window
        if self._peek().text == "#" or self._peek(1).text == "#":
            window = self._count_window(atom, opening)
        else:
            window = self._time_window(opening)
            # Every group has the same time points, so that its part of the window is the window's.
            self._per(atom)
        if self._peek().text == ",":
            self._fail("]: a window has one size", self._peek())
        self._expect("]")
        return window

    def _time_window(self, opening: Token) -> Window:
        if self._skip("ever"):
            return EverWindow()
        if self._skip("tumbling"):
            span = self._span()
            if span.size < 1:
                self._fail("a tumbling window of at least 1 time point", opening)
            return TumblingWindow(span)
        self._skip("t")
        if self._peek().kind == "NAME":
            self._fail("a window, such as [3], [20 s], [tumbling 3], [#3] or [ever]", self._peek())
        return TimeWindow(self._span())

    def _count_window(self, atom: Atom, opening: Token) -> CountWindow:
        if self._peek().text == "#":
            self._take()
            size = self._size()
        else:
            size = self._size()
            self._take()
        if size < 1:
            self._fail("a count window of at least 1 atom", opening)
        of_predicate = False
        kind = kind_places(atom)
        if self._skip("of"):
            kind = self._counted_kind(atom, kind)
            of_predicate = True
        per = self._per(atom)
        of_predicate |= bool(per)
        return CountWindow(size, of_predicate, per, kind if of_predicate else ())

    def _per(self, atom: Atom) -> tuple[Variable, ...]:
        """The variables of the atom that make groups: `per X, Y`, or none."""
        if not self._skip("per"):
            return ()
        found = [self._group_variable(atom)]
        while self._peek().text == ",":
            self._take()
            found.append(self._group_variable(atom))
        return tuple(found)

    def _group_variable(self, atom: Atom) -> Variable:
        token = self._take()
        if token.kind != "VARIABLE" or Variable(token.text) not in atom.variables():
            self._fail("a variable of the atom after `per`", token)
        return Variable(token.text)

    def _counted_kind(self, atom: Atom, kind: tuple[int, ...]) -> tuple[int, ...]:
        """What a window is of: the places that tell the triples that count."""
        name = self._take()
        if name.text == "it":
            return kind
        if name.text in (atom.relation, quoted(atom.relation)):
            return ()
        if kind and name.kind in ("NAME", "IRI", "PREFIXED", "QUOTED"):
            iri = IRI(name.text) if name.kind == "NAME" else self._iri(name)
            for places in (kind, kind[:1]):
                if atom.arguments[places[-1]] == iri:
                    return places
        own = show_kind(atom, kind, self._prefixes)
        self._fail(f"`of {own}`: the window of an atom is of its predicate", name)

    def _span(self) -> Span:
        size = self._size()
        unit = ""
        if self._peek().kind == "NAME" and not self._is("per"):
            token = self._take()
            if token.text not in UNITS and token.text not in TICKS:
                hint = did_you_mean(token.text, UNITS) or "; there are ms, s, min, h and d"
                raise ProgramError(f"unknown unit {token.text}{hint}", self._at(token))
            unit = "" if token.text in TICKS else token.text
        return Span(size, unit)

    def _size(self) -> int:
        token = self._take()
        if token.kind != "NUMBER" or not token.text.isdigit():
            self._fail("a whole number", token)
        if len(token.text) > MAX_DIGITS:
            raise ProgramError(
                f"the size of a window has at most {MAX_DIGITS} digits", self._at(token)
            )
        return int(token.text)
