"""From LARS text to a `LarsProgram`.

The notation is that of docs/languages/lars.md: the paper's rules in the clothes of logic programs,
and besides it what the files of Ticker (`p(X) at T [3 sec]`, `high always [5 #]`, `p not in [3]`)
and Laser (`time_win(3, 0, 1, diamond(p(X)))`, `@(T, p(X))`, `and`, `COMP(>=, V, 100)`,
`MATH(+, U, T, 2)`) say unambiguously.

Invariant: whatever the text, the outcome is a checked program or a `ProgramError` with line, column
and one sentence. Nesting is limited, so no input is too deep.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from typing import Final

from ebbtide.languages.files import read_text
from ebbtide.languages.lars.check import check
from ebbtide.languages.lars.formula import (
    TICKS,
    BodyPart,
    Collected,
    CountWindow,
    Denied,
    Extended,
    LarsProgram,
    LarsRule,
    Mode,
    Span,
    TimeWindow,
    TumblingWindow,
    Window,
    kind_places,
    show_kind,
)
from ebbtide.languages.lars.printing import quoted
from ebbtide.languages.lars.terms import (
    ARITHMETIC,
    SMALL_LETTERS,
    WELL_KNOWN,
    TermReader,
    as_point,
)
from ebbtide.languages.lars.tokens import Token
from ebbtide.program import Argument, Atom, Fact, Guard, Origin, ProgramError, Variable
from ebbtide.program.operator import FUNCTIONS
from ebbtide.program.wording import counted, did_you_mean
from ebbtide.terms import IRI
from ebbtide.time.duration import UNITS

MAX_DIGITS: Final = 12

_COMPARISONS: Final = {
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
_QUANTIFIERS: Final = {
    "always": Mode.ALWAYS,
    "box": Mode.ALWAYS,
    "some": Mode.SOME,
    "diamond": Mode.SOME,
}
#: `not`, moved out of a box or a diamond, makes the other of it.
_DUALS: Final = {Mode.SOME: Mode.ALWAYS, Mode.ALWAYS: Mode.SOME}


def parse_lars(text: str, source: str = "<text>") -> LarsProgram:
    """The program of a text.

    >>> print(parse_lars("q(X) :- p(X, Y) in [3], not r(Y), Y > 2.").rules[0])
    q(X) :- p(X,Y) in [3], not r(Y), Y > 2.
    """
    return check(_Reader(text, source).program())


def load_lars(path: str | PathLike[str]) -> LarsProgram:
    """The program of a file."""
    return parse_lars(read_text(path, "program"), fspath(path))


def parse_atoms(
    text: str,
    source: str,
    prefixes: dict[str, str],
    refuses: Callable[[Fact], str | None] = lambda _: None,
    *,
    declares: bool = False,
) -> list[Fact]:
    """Ground atoms, each with a full stop: `p(a,b). q(c).`

    `refuses` says what is wrong with one beyond its syntax. With `declares` the text may declare
    prefixes of its own.

    >>> [str(fact) for fact in parse_atoms("p(a,7). alarm.", "<text>", {})]
    ['p(<a>, "7"^^<http://www.w3.org/2001/XMLSchema#integer>)', 'alarm()']
    """
    return _Reader(text, source, prefixes).facts(refuses, declares=declares)


class _Reader(TermReader):
    """One text on its way; the methods take tokens from the front."""

    # ---- statements --------------------------------------------------------------------------

    def program(self) -> LarsProgram:
        rules: list[LarsRule] = []
        facts: list[Fact] = []
        met: dict[str, Atom] = {}
        while self._peek().kind != "END":
            if self._peek().kind == "DIRECTIVE":
                self._declare()
                continue
            rule = self._rule(f"r{len(rules) + 1}")
            if rule.body or rule.at is not None:
                rules.append(rule)
            else:
                facts.append(self._ground(rule.head, "add a body after `:-`"))
                before = met.setdefault(rule.head.relation, rule.head)
                if len(before.arguments) != len(rule.head.arguments):
                    given = counted(len(rule.head.arguments), "argument")
                    raise ProgramError(
                        f"the predicate {before.relation} has {given} here and "
                        f"{len(before.arguments)} at {before.origin}",
                        rule.head.origin,
                    )
        own = {name: iri for name, iri in self._prefixes.items() if WELL_KNOWN.get(name) != iri}
        return LarsProgram(tuple(rules), tuple(facts), own)

    def facts(self, refuses: Callable[[Fact], str | None], *, declares: bool) -> list[Fact]:
        found = []
        while self._peek().kind != "END":
            if declares and self._peek().kind == "DIRECTIVE":
                self._declare()
                continue
            self._extra = []
            head = self._atom()
            self._expect(".")
            if self._extra:
                raise ProgramError("an atom of a stream has no arithmetic", head.origin)
            fact = self._ground(head, "constants begin with a small letter")
            if problem := refuses(fact):
                raise ProgramError(problem, head.origin)
            found.append(fact)
        return found

    def _declare(self) -> None:
        self._take()
        prefix = self._take()
        if prefix.kind != "PREFIX":
            self._fail("a prefix and its colon, as in @prefix ex: <http://example/>.", prefix)
        iri = self._take()
        if iri.kind != "IRI":
            self._fail("an IRI in angle brackets", iri)
        self._prefixes[prefix.text[:-1]] = self._parsed(iri).text[1:-1]
        self._expect(".")

    def _rule(self, name: str) -> LarsRule:
        first = self._peek()
        self._extra = []
        at, head = self._head()
        body: list[BodyPart] = []
        if self._peek().text in (",", ";"):
            self._fail("a full stop or `:-`: a rule has one head", self._peek())
        if self._peek().kind == "ARROW":
            self._take()
            if self._peek().text != ".":
                body = self._parts()
        body += self._extra
        last = self._expect(".")
        origin = self._origin(first, last)
        return LarsRule(name, head, at, tuple(body), origin)

    def _head(self) -> tuple[Argument | None, Atom]:
        token = self._peek()
        if token.kind == "ARROW":
            hint = "; what must not be is `no :- ..., not no.`, for a solver"
            raise ProgramError(f"a rule has a head{hint}", self._at(token))
        is_denied = self._is("not") and self._peek(1).kind in ("NAME", "QUOTED", "PREFIXED", "IRI")
        if is_denied or self._quantifies_prefix():
            raise ProgramError(f"a head is p(X) or @T p(X), without {token.text}", self._at(token))
        if token.text != "@":
            atom = self._atom()
            if self._is("in") or self._peek().text == "[":
                raise ProgramError("a head has no window", self._at(self._peek()))
            return (self._time() if self._skip("at") else None), atom
        part = self._at_atom()
        return part.at, part.atom

    def _parts(self) -> list[BodyPart]:
        parts = self._part()
        while self._peek().text == "," or self._is("and"):
            self._take()
            parts += self._part()
        if self._peek().text == ";" or self._is("or"):
            self._fail(
                "a comma: there is no disjunction, but there may be several rules", self._peek()
            )
        return parts

    def _part(self) -> list[BodyPart]:
        """A part of a body, and the arithmetic in it."""
        before, self._extra = self._extra, []
        part = self._body_part()
        found = [part, *self._extra] if part is not None else self._extra
        self._extra = before
        return found

    # ---- parts of bodies ---------------------------------------------------------------------

    def _body_part(self) -> BodyPart | None:
        if self._is("not"):
            self._take()
            wrapped = self._peek().text == "("
            if wrapped:
                self._take()
            if not self._starts_atom() and self._peek(1).text != "(":
                self._fail("an atom: a comparison has an opposite, as X != 2", self._peek())
            part = self._extended()
            if isinstance(part, Denied):
                raise ProgramError("there is one `not` at most in front of an atom", part.origin)
            if wrapped:
                self._expect(")")
            return Denied(part)
        if self._peek(1).text == "(" and (self._is("COMP") or self._is("MATH")):
            return self._laser_guard()
        if self._starts_atom():
            return self._extended()
        return self._comparison()

    def _starts_atom(self) -> bool:
        token, after = self._peek(), self._peek(1)
        if token.text == "@":
            return True
        if self._is_aggregate():
            return False
        if token.kind in ("IRI", "PREFIXED"):
            return after.text == "("
        is_name = token.kind in ("NAME", "QUOTED")
        return is_name and after.kind != "COMPARISON" and after.text not in ARITHMETIC

    def _extended(self) -> Extended | Denied:
        """An atom with what stands around it: a quantifier, a time point, a window.

        It is denied if `not` stands behind it or within a quantifier, as other engines write it.
        """
        if self._peek(1).text == "(":
            if self._is("time_win") or self._is("tuple_win"):
                return self._laser_window()
            if (self._is("diamond") or self._is("box")) and not self._quantifies_prefix():
                part, is_denied = self._laser_quantified()
                return self._windowed(part, is_denied=is_denied)
        mode, at = Mode.NOW, None
        if self._peek().text == "@":
            return self._windowed(self._at_atom())
        if self._quantifies_prefix():
            mode = _QUANTIFIERS[self._take().text]
        atom = self._atom()
        is_denied = self._skip_not_behind()
        if mode is Mode.NOW and self._skip("at"):
            mode, at = Mode.AT, self._time()
        elif mode is Mode.NOW and (self._is("always") or self._is("some")):
            mode = _QUANTIFIERS[self._take().text]
        return self._windowed(Extended(atom, mode, at), is_denied=is_denied)

    def _skip_not_behind(self) -> bool:
        """Take the `not` of `p not in [3]` and of `p not at T`."""
        return self._peek(1).text in ("at", "in", "[") and self._skip("not")

    def _quantifies_prefix(self) -> bool:
        """Whether a quantifier stands before an atom: `always p(X)`, and not an atom `always`."""
        token, after = self._peek(), self._peek(1)
        is_quantifier = token.kind == "NAME" and token.text in _QUANTIFIERS
        return (
            is_quantifier
            and after.kind in ("NAME", "QUOTED", "IRI", "PREFIXED")
            and after.text not in ("in", "at")
        )

    def _at_atom(self) -> Extended:
        self._take()
        if self._is_laser_at():
            self._take()
            at = as_point(self._expression())
            self._expect(",")
            atom = self._wrapped_atom()
            self._expect(")")
        else:
            at, atom = self._time(), self._atom()
        return Extended(atom, Mode.AT, at)

    def _windowed(self, part: Extended, *, is_denied: bool = False) -> Extended | Denied:
        is_denied |= self._skip_not_behind()
        has_in = self._skip("in")
        if self._peek().text != "[":
            if has_in:
                self._fail("a window, such as [3]", self._peek())
            if part.mode in (Mode.SOME, Mode.ALWAYS):
                raise ProgramError(
                    f"`{part.mode.value}` looks into a window: add one, such as `in [3]`",
                    part.origin,
                )
        else:
            mode = Mode.SOME if part.mode is Mode.NOW else part.mode
            part = Extended(part.atom, mode, part.at, self._window(part.atom))
        return Denied(part) if is_denied else part

    def _window(self, atom: Atom) -> Window:
        opening = self._expect("[")
        if self._skip("tumbling"):
            span = self._span()
            if span.size < 1:
                self._fail("a tumbling window of at least 1 time point", opening)
            window: Window = TumblingWindow(span)
        elif self._peek().text == "#" or self._peek(1).text == "#":
            window = self._count_window(atom, opening)
        else:
            self._skip("t")
            window = TimeWindow(self._span())
        if not isinstance(window, CountWindow):
            # Every group has the same time points, so that its part of the window is the window's.
            self._per(atom)
        self._expect("]")
        return window

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
                hint = did_you_mean(token.text, UNITS)
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

    # ---- Laser -------------------------------------------------------------------------------

    def _laser_window(self) -> Extended | Denied:
        name = self._take()
        window: Window
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
        if name.text == "time_win":
            window = TimeWindow(Span(size))
        else:
            if size < 1:
                self._fail("a count window of at least 1 atom", name)
            window = CountWindow(size)
        is_denied = False
        if self._peek().text == "@":
            part = self._at_atom()
        elif self._peek(1).text == "(" and (self._is("diamond") or self._is("box")):
            part, is_denied = self._laser_quantified()
        elif name.text == "time_win":
            # The window shows this time point, too.
            part = Extended(self._wrapped_atom())
        else:
            self._fail("diamond(...), box(...) or @(T, ...)", self._peek())
        self._expect(")")
        if part.mode is not Mode.NOW:
            part = Extended(part.atom, part.mode, part.at, window)
        return Denied(part) if is_denied else part

    def _laser_quantified(self) -> tuple[Extended, bool]:
        """`diamond(p)` or `box(p)`, and whether it is denied: `diamond(not(p))` is `not box(p)`."""
        mode = _QUANTIFIERS[self._take().text]
        if self._peek(1).text == "not" and self._peek(2).text == "(":
            self._expect("(")
            self._take()
            part = Extended(self._wrapped_atom(), _DUALS[mode])
            self._expect(")")
            return part, True
        return Extended(self._wrapped_atom(), mode), False

    def _wrapped_atom(self) -> Atom:
        if self._peek().text != "(":
            return self._atom()
        with_depth = self._take()
        self._deeper(with_depth)
        atom = self._wrapped_atom()
        self._depth -= 1
        self._expect(")")
        return atom

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
        known = ARITHMETIC if first.text == "MATH" else _COMPARISONS
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

    # ---- comparisons and aggregates ----------------------------------------------------------

    def _comparison(self) -> BodyPart | None:
        first = self._peek()
        if first.kind == "VARIABLE" and self._peek(1).text == "(":
            self._fail(f"an atom ({SMALL_LETTERS})", first)
        left = self._side()
        sign = self._take()
        if sign.kind != "COMPARISON":
            self._fail("an atom or a comparison", sign)
        right = self._side()
        origin = self._origin(first, self._tokens[self._next - 1])
        builtin = _COMPARISONS[sign.text]
        if builtin == "equal" and self._bind_last(left, right, origin):
            return None
        return Guard(builtin, (left, right), origin)

    def _bind_last(self, left: Argument, right: Argument, origin: Origin) -> bool:
        """`X = Y + 1` needs no variable in between: the last function yields X at once."""
        for variable, made in ((left, right), (right, left)):
            if not isinstance(made, Variable) or not self._extra:
                continue
            last = self._extra[-1]
            if isinstance(last, Guard) and last.arguments[-1] == made and variable != made:
                arguments = (*last.arguments[:-1], variable)
                self._extra[-1] = Guard(last.builtin, arguments, origin)
                return True
            if isinstance(last, Collected) and last.result == made and variable != made:
                if not isinstance(variable, Variable):
                    return False
                self._extra[-1] = Collected(
                    last.function, variable, last.values, last.parts, origin
                )
                return True
        return False

    def _is_aggregate(self) -> bool:
        token = self._peek(1 if self._peek().text == "#" else 0)
        after = self._peek(2 if self._peek().text == "#" else 1)
        if token.kind not in ("NAME", "VARIABLE") or after.text != "{":
            return False
        if token.text not in FUNCTIONS:
            known = ", ".join(sorted(FUNCTIONS))
            raise ProgramError(
                f"unknown aggregate {token.text}; there are {known}", self._at(token)
            )
        return True

    def _side(self) -> Argument:
        return self._aggregate() if self._is_aggregate() else self._expression()

    def _aggregate(self) -> Argument:
        first = self._take()
        function = self._take() if first.text == "#" else first
        self._deeper(first)
        self._expect("{")
        before, self._extra = self._extra, []
        values = [self._variable()]
        while self._peek().text == ",":
            self._take()
            values.append(self._variable())
        self._expect(":")
        parts: list[Extended | Denied | Guard] = []
        for part in self._parts():
            if isinstance(part, Collected):
                raise ProgramError("an aggregate cannot stand in another one", part.origin)
            parts.append(part)
        last = self._expect("}")
        self._depth -= 1
        self._extra = before
        result = self._fresh_variable()
        origin = self._origin(first, last)
        self._extra.append(Collected(function.text, result, tuple(values), tuple(parts), origin))
        return result

    def _variable(self) -> Variable:
        token = self._take()
        if token.kind != "VARIABLE" or token.text == "_":
            self._fail("a variable, as in count { X : p(X) }", token)
        return Variable(token.text)
