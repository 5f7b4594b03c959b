"""From LARS text to a `LarsProgram`.

The notation is that of docs/languages/lars.md: the paper's rules in the clothes of logic programs,
and besides it what the files of Ticker (`p(X) at T [3 sec]`, `high always [5 #]`, `p not in [3]`;
`ticker.py`) and Laser (`time_win(3, 0, 1, diamond(p(X)))`; `laser.py`) say unambiguously.

Invariant: whatever the text, the outcome is a checked program or a `ProgramError` with line, column
and one sentence. Nesting is limited, so no input is too deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from os import PathLike, fspath
from typing import Final

from ebbtide.languages.files import read_text
from ebbtide.languages.lars.check import check
from ebbtide.languages.lars.formula import (
    BodyPart,
    Collected,
    Denied,
    Extended,
    LarsProgram,
    LarsRule,
    Mode,
)
from ebbtide.languages.lars.laser import COMPARISONS, QUANTIFIERS, LaserReader
from ebbtide.languages.lars.names import BEHIND
from ebbtide.languages.lars.terms import ARITHMETIC, SMALL_LETTERS, WELL_KNOWN
from ebbtide.languages.lars.ticker import with_builtins
from ebbtide.program import Argument, Atom, Fact, Guard, Origin, ProgramError, Variable
from ebbtide.program.operator import FUNCTIONS
from ebbtide.program.wording import counted

#: What other languages write =< and =>.
_TWISTED: Final = {"<": "<=", ">": ">="}


def parse_lars(text: str, source: str = "<text>", inputs: Collection[str] = ()) -> LarsProgram:
    """The program of a text; `inputs` are predicates of the input, if some are known.

    >>> print(parse_lars("q(X) :- p(X, Y) in [3], not r(Y), Y > 2.").rules[0])
    q(X) :- p(X,Y) in [3], not r(Y), Y > 2.
    """
    return check(with_builtins(_Reader(text, source).program(), inputs))


def load_lars(path: str | PathLike[str], inputs: Collection[str] = ()) -> LarsProgram:
    """The program of a file; `inputs` as for `parse_lars`."""
    return parse_lars(read_text(path, "program"), fspath(path), inputs)


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


class _Reader(LaserReader):
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
            if self._is("import") and self._peek(1).kind == "NAME":
                raise ProgramError(
                    "`import` loads classes of Ticker for windows; write the window itself, such "
                    "as [3] or [#3]",
                    self._at(self._peek()),
                )
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
        if self._peek(-1).text == "]" and self._starts_atom():
            self._fail("a full stop or a comma: a window stands behind its atom", self._peek())
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
        part, is_denied = self._at_atom()
        if is_denied:
            raise ProgramError("a head is p(X) or @T p(X), without not", part.origin)
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
        self._check_denied_at(parts)
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
            first = self._peek()
            part = self._extended()
            if isinstance(part, Denied):
                raise ProgramError("there is one `not` at most in front of an atom", part.origin)
            self._refuse_two_things(first)
            if wrapped and self._peek().text == ",":
                self._fail("): `not` denies one atom", self._peek())
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
                return self._laser_ever()
        mode, at = Mode.NOW, None
        if self._peek().text == "@":
            part, is_denied = self._at_atom()
            return self._windowed(part, is_denied=is_denied)
        if self._quantifies_prefix():
            mode = QUANTIFIERS[self._take().text]
        atom = self._atom()
        is_denied = self._skip_not_behind()
        if mode is Mode.NOW and self._skip("at"):
            mode, at = Mode.AT, self._time()
        elif mode is Mode.NOW and (self._is("always") or self._is("some")):
            mode = QUANTIFIERS[self._take().text]
        return self._windowed(Extended(atom, mode, at), is_denied=is_denied)

    def _quantifies_prefix(self) -> bool:
        """Whether a quantifier stands before an atom: `always p(X)`, and not an atom `always`.

        In `always at (T)`, too, it does: at(T) is an atom.
        """
        token, after = self._peek(), self._peek(1)
        is_quantifier = token.kind == "NAME" and token.text in QUANTIFIERS
        is_behind = after.text in BEHIND and self._peek(2).text != "("
        return (
            is_quantifier and after.kind in ("NAME", "QUOTED", "IRI", "PREFIXED") and not is_behind
        )

    # ---- comparisons and aggregates ----------------------------------------------------------

    def _comparison(self) -> BodyPart | None:
        first = self._peek()
        if first.kind == "VARIABLE" and self._peek(1).text == "(":
            self._fail(f"an atom ({SMALL_LETTERS})", first)
        if first.kind == "END" or first.text in (".", ",", ")", "]", "}"):
            self._fail("an atom or a comparison", first)
        if first.text == "[":
            self._fail("an atom or a comparison: a window stands behind its atom", first)
        if first.text == "(" and self._peek(1).kind == "NAME" and self._peek(2).text == "(":
            self._fail("an atom or a comparison: brackets stand around terms only", first)
        left = self._side()
        sign = self._take()
        if sign.kind != "COMPARISON":
            hint = ", such as X = 3" if sign.text == "is" else ""
            self._fail(f"an atom or a comparison{hint}", sign)
        if sign.text == "=" and self._peek().text in _TWISTED:
            self._fail(f"a term (a comparison is {_TWISTED[self._peek().text]})", self._peek())
        right = self._side()
        origin = self._origin(first, self._tokens[self._next - 1])
        builtin = COMPARISONS[sign.text]
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
