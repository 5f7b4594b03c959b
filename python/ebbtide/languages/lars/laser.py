"""The notation of Laser's files, as far as it is unambiguous.

    time_win(3, 0, 1, diamond(p(X)))     p(X) in [3]
    time_win(3, 0, 1, box(p(X)))         always p(X) in [3]
    time_win(3, 0, 1, p(X))              p(X): the window shows this time point, too
    tuple_win(3, diamond(p(X)))          p(X) in [#3]
    tuple_win(3, p(X))                   p(X), p(X) in [#3]
    diamond(p(X)), box(p(X))             p(X) in [ever], always p(X) in [ever]
    @(T, p(X))                           @T p(X)
    diamond(not(p(X)))                   not always p(X) ...
    COMP(>=, V, 100)                     V >= 100
    MATH(+, U, T, 2)                     U = T + 2

`@(T, not(p))` asks for a time point T that there is, `not @T p` for none: they say the same where
another @ of the body binds T, and there alone it is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ebbtide.languages.lars.formula import (
    BodyPart,
    CountWindow,
    Denied,
    EverWindow,
    Extended,
    Mode,
    Span,
    TimeWindow,
    Window,
)
from ebbtide.languages.lars.terms import ARITHMETIC, as_point
from ebbtide.languages.lars.tokens import Token
from ebbtide.languages.lars.windows import WindowReader
from ebbtide.program import Atom, Guard, Origin, ProgramError

COMPARISONS: Final = {
    "=": "equal",
    "==": "equal",
    "!=": "notEqual",
    "<>": "notEqual",
    "≠": "notEqual",
    "<": "lessThan",
    ">": "greaterThan",
    "<=": "le",
    "≤": "le",
    ">=": "ge",
    "≥": "ge",
}
QUANTIFIERS: Final = {
    "always": Mode.ALWAYS,
    "box": Mode.ALWAYS,
    "some": Mode.SOME,
    "diamond": Mode.SOME,
}
#: `not`, moved out of a box or a diamond, makes the other of it.
_DUALS: Final = {Mode.SOME: Mode.ALWAYS, Mode.ALWAYS: Mode.SOME}


class LaserReader(WindowReader):
    """Reads windows, quantifiers and guards that are written as functions."""

    def __init__(self, text: str, source: str, prefixes: dict[str, str] | None = None) -> None:
        super().__init__(text, source, prefixes)
        #: Where the atoms are that are denied within an @.
        self._denied_at: set[Origin] = set()

    def _laser_window(self) -> Extended | Denied:
        name = self._take()
        self._expect("(")
        size = self._size()
        self._expect(",")
        if name.text == "time_win" or self._peek().kind == "NUMBER":
            start, step = self._size(), (self._expect(","), self._size())[1]
            if (start, step) != (0, 1):
                raise ProgramError(
                    f"only {name.text}(n, 0, 1, ...) slides with every time point", self._at(name)
                )
            self._expect(",")
        if name.text == "tuple_win" and size < 1:
            self._fail("a count window of at least 1 atom", name)
        window: Window = TimeWindow(Span(size)) if name.text == "time_win" else CountWindow(size)
        if self._peek().text == "@":
            part, is_denied = self._at_atom()
        elif self._peek(1).text == "(" and (self._is("diamond") or self._is("box")):
            part, is_denied = self._laser_quantified()
        else:
            atom, is_denied = self._wrapped_atom()
            part = Extended(atom)
        self._expect(")")
        if part.mode is not Mode.NOW:
            part = Extended(part.atom, part.mode, part.at, window)
        elif name.text == "tuple_win":
            # An atom of this time point is among the last ones if it is there at any time point:
            # the older ones leave first.
            if is_denied:
                raise _two_things(self._at(name))
            self._extra.append(Extended(part.atom, Mode.SOME, None, window))
        return Denied(part) if is_denied else part

    def _refuse_two_things(self, token: Token) -> None:
        """Refuse to deny what became two parts."""
        if any(isinstance(part, Extended) for part in self._extra):
            raise _two_things(self._at(token))

    def _laser_ever(self) -> Extended | Denied:
        """`diamond(p)` or `box(p)`, in a window that stands behind it, or at all time points."""
        part, is_denied = self._laser_quantified()
        if not self._is("in") and self._peek().text != "[":
            part = Extended(part.atom, part.mode, None, EverWindow())
            return Denied(part) if is_denied else part
        return self._windowed(part, is_denied=is_denied)

    def _laser_quantified(self) -> tuple[Extended, bool]:
        """`diamond(p)` or `box(p)`, and whether it is denied: `diamond(not(p))` is `not box(p)`."""
        mode = QUANTIFIERS[self._take().text]
        atom, is_denied = self._wrapped_atom()
        return Extended(atom, _DUALS[mode] if is_denied else mode), is_denied

    def _at_atom(self) -> tuple[Extended, bool]:
        """`@T p`, or `@(T, p)`, which may be denied within: `@(T, not(p))`."""
        self._take()
        if not self._is_laser_at():
            at = self._time()
            return Extended(self._atom(), Mode.AT, at), False
        self._take()
        at = as_point(self._expression())
        self._expect(",")
        atom, is_denied = self._wrapped_atom()
        self._expect(")")
        if is_denied:
            self._denied_at.add(atom.origin)
        return Extended(atom, Mode.AT, at), is_denied

    def _check_denied_at(self, parts: Iterable[BodyPart]) -> None:
        """Refuse an atom denied within an @ whose time point may be outside of its window."""
        parts = tuple(parts)
        for part in parts:
            if not isinstance(part, Denied) or part.origin not in self._denied_at:
                continue
            if not any(_binds(other, part.part) for other in parts):
                raise ProgramError(
                    "@(T, not(p)) is read where another @(T, ...) of the body, in the same window, "
                    "says that T is a time point; else write `not @T p`",
                    part.origin,
                )

    def _wrapped_atom(self) -> tuple[Atom, bool]:
        """An atom in any number of brackets, and whether it is denied: `(p)`, `not(p)`."""
        first = self._peek()
        is_denied = self._is("not") and self._peek(1).text == "("
        if is_denied:
            self._take()
        if self._peek().text != "(":
            return self._atom(), False
        self._deeper(self._take())
        atom, is_denied_within = self._wrapped_atom()
        self._depth -= 1
        self._expect(")")
        if is_denied and is_denied_within:
            raise ProgramError("there is one `not` at most in front of an atom", self._at(first))
        return atom, is_denied or is_denied_within

    def _is_laser_at(self) -> bool:
        """Whether `(` opens `(T, atom)` and not just a time point `(T + 1)`."""
        if self._peek().text != "(":
            return False
        depth = 0
        for token in self._tokens[self._next :]:
            depth += (token.text == "(") - (token.text == ")")
            if token.text == "," and depth == 1:
                return True
            if depth == 0 or token.kind == "END":
                return False
        return False

    def _laser_guard(self) -> Guard:
        """`COMP(>=, V, 100)`, or `MATH(+, U, T, 2)`, which is U = T + 2."""
        first = self._take()
        known = ARITHMETIC if first.text == "MATH" else COMPARISONS
        self._expect("(")
        sign = self._take()
        if sign.text not in known:
            self._fail(f"one of {' '.join(known)}", sign)
        arguments = []
        for _ in range(3 if known is ARITHMETIC else 2):
            self._expect(",")
            arguments.append(self._expression())
        if known is ARITHMETIC:
            arguments.append(arguments.pop(0))
        origin = self._origin(first, self._expect(")"))
        return Guard(known[sign.text], tuple(arguments), origin)


def _binds(other: BodyPart, denied: Extended) -> bool:
    """Whether a part holds only of time points that the window of a denied atom has."""
    return (
        isinstance(other, Extended)
        and other.mode is Mode.AT
        and other.at == denied.at
        and denied.window in (None, other.window)
    )


def _two_things(origin: Origin) -> ProgramError:
    return ProgramError(
        "tuple_win(n, p) says two things, p and tuple_win(n, diamond(p)): deny them by two rules",
        origin,
    )
