"""LARS programs as data: extended atoms, rules, programs.

An extended atom is an atom, a way to look for it in time and a window to look in:

    p(X)                    NOW      at this time point
    @T p(X) in [3]          AT       at the time point T; without a window, anywhere
    p(X) in [3]             SOME     at some time point of the window (the paper's diamond)
    always p(X) in [3]      ALWAYS   at every time point of the window (the paper's box)

Invariant: SOME and ALWAYS have a window, NOW has none, AT alone has `at`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Final, TypeAlias

from ebbtide.languages.lars.expressions import (
    NOTHING_MADE,
    SIGNS,
    Expression,
    applied,
    expressions,
    is_made,
)
from ebbtide.languages.lars.printing import (
    NO_PREFIXES,
    RDF_TYPE,
    show_argument,
    show_atom,
    show_predicate,
)
from ebbtide.program import (
    IN_PYTHON,
    TRIPLE,
    Argument,
    Atom,
    Fact,
    Guard,
    Origin,
    ProgramError,
    Variable,
)
from ebbtide.program.wording import counted
from ebbtide.terms import IRI, Term
from ebbtide.time import LATEST
from ebbtide.time.duration import UNITS

#: Units that mean time points, as no unit does.
TICKS: Final = frozenset({"", "tick", "ticks"})


class Mode(Enum):
    """How an atom is looked for in time."""

    NOW = ""
    AT = "@"
    SOME = "some"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Span:
    """A number of time points, or of milliseconds if a unit was written."""

    size: int
    unit: str = ""

    def points(self, tick: int | None, origin: Origin = IN_PYTHON) -> int:
        """How many time points that is, each `tick` milliseconds long.

        >>> Span(20, "s").points(tick=1_000)
        20
        """
        length = self.size * (tick or 1) if self.unit in TICKS else self.size * UNITS[self.unit]
        if length > LATEST:
            raise ProgramError(f"{self} is longer than time", origin)
        if self.unit in TICKS:
            return self.size
        if tick is None:
            raise ProgramError(
                f"{self} needs the length of a time point: give a tick (--tick 1s, in Python "
                "tick=1_000), or write the window in time points, such as [20]",
                origin,
            )
        points, rest = divmod(length, tick)
        if rest:
            raise ProgramError(f"{self} is no whole number of ticks of {tick} ms", origin)
        return points

    def __str__(self) -> str:
        return f"{self.size} {self.unit}" if self.unit else str(self.size)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The time points [t - n, t]."""

    span: Span

    def __str__(self) -> str:
        return f"[{self.span}]"


@dataclass(frozen=True, slots=True)
class TumblingWindow:
    """The time points of the pane that t is in, up to t; panes are `span` wide, one begins at 0.

    Where 0 is no time point, its first one is the first after 0.
    """

    span: Span

    def __str__(self) -> str:
        return f"[tumbling {self.span}]"


@dataclass(frozen=True, slots=True)
class EverWindow:
    """All time points so far."""

    def __str__(self) -> str:
        return "[ever]"


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The last `size` atoms of the input: of the stream, of one predicate, or per group of it.

    `per` are the variables of the atom whose values make a group. `kind` are the places of a
    triple's own predicate and class, if only triples like it count.
    """

    size: int
    of_predicate: bool = False
    per: tuple[Variable, ...] = ()
    kind: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.per:
            return f"[#{self.size} per {', '.join(variable.name for variable in self.per)}]"
        return f"[#{self.size} of it]" if self.of_predicate else f"[#{self.size}]"

    def about(self, atom: Atom, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
        """The window as text, of an atom.

        >>> CountWindow(3, of_predicate=True).about(Atom("p", ()))
        '[#3 of p]'
        """
        is_said = self.of_predicate and not (self.per and self.kind == kind_places(atom))
        of = f" of {show_kind(atom, self.kind, prefixes)}" if is_said else ""
        per = f" per {', '.join(variable.name for variable in self.per)}" if self.per else ""
        return f"[#{self.size}{of}{per}]"


def kind_places(atom: Atom) -> tuple[int, ...]:
    """The places that tell a triple from others, as predicates do: its predicate, and its class.

    None, if the predicate is a variable; all other atoms have their own predicates.
    """
    match atom:
        case Atom(relation, (_, IRI() as predicate, kind)) if relation == TRIPLE:
            return (1, 2) if predicate == RDF_TYPE and isinstance(kind, IRI) else (1,)
    return ()


def show_kind(atom: Atom, kind: tuple[int, ...], prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The predicate of an atom as text; of a triple what stands in those places."""
    return (
        show_argument(atom.arguments[kind[-1]], prefixes)
        if kind
        else show_predicate(atom.relation, len(atom.arguments))
    )


Window: TypeAlias = TimeWindow | TumblingWindow | EverWindow | CountWindow


@dataclass(frozen=True, slots=True)
class Extended:
    """An atom, looked for in time."""

    atom: Atom
    mode: Mode = Mode.NOW
    at: Argument | None = None
    window: Window | None = None

    @property
    def origin(self) -> Origin:
        """Where the atom was written."""
        return self.atom.origin

    def where(self, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
        """The window as it is written behind the atom."""
        if isinstance(self.window, CountWindow):
            return f" in {self.window.about(self.atom, prefixes)}"
        return f" in {self.window}" if self.window else ""

    def variables(self) -> Iterator[Variable]:
        """The variables of the atom and of the time point."""
        yield from self.atom.variables()
        if isinstance(self.at, Variable):
            yield self.at

    def __str__(self) -> str:
        return show_part(self)


@dataclass(frozen=True, slots=True)
class Denied:
    """`not` in front of an extended atom."""

    part: Extended

    @property
    def origin(self) -> Origin:
        """Where the atom was written."""
        return self.part.origin

    def variables(self) -> Iterator[Variable]:
        """Those of the extended atom."""
        return self.part.variables()

    def __str__(self) -> str:
        return show_part(self)


@dataclass(frozen=True, slots=True)
class Collected:
    """`result = function { values : parts }`: over the different tuples of values, per group.

    A group is made by the variables of the parts that also occur in the rule outside of braces. The
    first of the values is what is summed or compared. A group without any tuple has no result.
    """

    function: str
    result: Variable
    values: tuple[Variable, ...]
    parts: tuple[Extended | Denied | Guard, ...]
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)

    def inner(self) -> frozenset[Variable]:
        """The variables of the parts and of the values."""
        found = set(self.values)
        for part in self.parts:
            found.update(variables_of(part))
        return frozenset(found)

    def __str__(self) -> str:
        return show_part(self)


BodyPart: TypeAlias = Extended | Denied | Guard | Collected


@dataclass(frozen=True, slots=True)
class LarsRule:
    """`head :- body`; with `at`, the head holds at that time point."""

    name: str
    head: Atom
    at: Argument | None
    body: tuple[BodyPart, ...]
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)

    @property
    def positives(self) -> tuple[Extended, ...]:
        """The extended atoms that must hold."""
        return tuple(part for part in self.body if isinstance(part, Extended))

    @property
    def denied(self) -> tuple[Denied, ...]:
        """The extended atoms that must not hold."""
        return tuple(part for part in self.body if isinstance(part, Denied))

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Comparisons and arithmetic."""
        return tuple(part for part in self.body if isinstance(part, Guard))

    @property
    def collected(self) -> tuple[Collected, ...]:
        """The aggregates."""
        return tuple(part for part in self.body if isinstance(part, Collected))

    def atoms(self) -> Iterator[Extended]:
        """Every extended atom of the body, those of aggregates included."""
        for part in self.body:
            yield from atoms_of(part)

    def __str__(self) -> str:
        return show_rule(self)


@dataclass(frozen=True)
class LarsProgram:
    """Rules and background facts; `prefixes` are for printing.

    `builtins` are the names that were read as comparisons and arithmetic: no atom has them.
    """

    rules: tuple[LarsRule, ...]
    background: tuple[Fact, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    builtins: frozenset[str] = frozenset()

    @cached_property
    def _arities(self) -> dict[str, int]:
        return self.arities()

    @cached_property
    def intensional(self) -> frozenset[str]:
        """The predicates that rules conclude: those whose atoms are answers."""
        return frozenset(rule.head.relation for rule in self.rules)

    def is_intensional(self, fact: Fact) -> bool:
        """Whether an atom is an answer if it holds: a rule concludes its predicate.

        Of triples, which are all of one predicate, those that fit a head: its constants, and its
        variables where they are repeated.
        """
        if fact.relation != TRIPLE:
            return fact.relation in self.intensional
        return any(_fits(rule.head, fact) for rule in self.rules if rule.head.relation == TRIPLE)

    def misfit(self, fact: Fact) -> str | None:
        """What is wrong with an atom's name or the number of its arguments; None if nothing is."""
        if fact.relation in self.builtins:
            return (
                f"{fact.relation} is read as a comparison or arithmetic in the program; in quotes, "
                f"'{fact.relation}'(...) is a predicate there"
            )
        arity = 3 if fact.relation == TRIPLE else self._arities.get(fact.relation)
        if arity is None or arity == len(fact.terms):
            return None
        needed = counted(arity, "argument")
        return f"the predicate {fact.relation} has {needed}, not {len(fact.terms)}"

    def refuses(self, fact: Fact) -> str | None:
        """What is wrong with an atom as input; None if nothing is."""
        if problem := self.misfit(fact):
            return problem
        if fact.relation in self.intensional and fact.relation != TRIPLE:
            return f"{fact.relation} is concluded by rules, so no stream can state it"
        return None

    @property
    def fingerprint(self) -> str:
        """A digest of the rules and the background facts: what a snapshot must agree with."""
        # Not as printed: there `_` stands for different variables.
        lines = [*map(repr, self.rules), *sorted(map(repr, self.background))]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]

    def arities(self) -> dict[str, int]:
        """Every predicate that rules and facts mention, with its number of arguments."""
        found = {fact.relation: len(fact.terms) for fact in self.background}
        for rule in self.rules:
            for atom in (rule.head, *(part.atom for part in rule.atoms())):
                found[atom.relation] = len(atom.arguments)
        return found

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))


def _fits(head: Atom, fact: Fact) -> bool:
    """Whether the terms of a fact could be those of a head."""
    known: dict[Argument, Term] = {}
    return all(
        term == (known.setdefault(argument, term) if isinstance(argument, Variable) else argument)
        for argument, term in zip(head.arguments, fact.terms, strict=True)
    )


def atoms_of(part: BodyPart) -> Iterator[Extended]:
    """The extended atoms in a part of a body."""
    match part:
        case Extended():
            yield part
        case Denied(inner):
            yield inner
        case Collected(parts=parts):
            for each in parts:
                yield from atoms_of(each)
        case _:
            pass


def variables_of(part: BodyPart) -> Iterator[Variable]:
    """The variables of a part of a body; of an aggregate, its result and all within."""
    match part:
        case Guard(arguments=arguments):
            yield from (argument for argument in arguments if isinstance(argument, Variable))
        case Collected():
            yield part.result
            yield from part.inner()
        case Extended() | Denied():
            yield from part.variables()


def rewritten(part: BodyPart, change: Callable[[Argument], Argument]) -> BodyPart:
    """The part with other arguments."""

    def atom(of: Atom) -> Atom:
        return replace(of, arguments=tuple(map(change, of.arguments)))

    match part:
        case Extended(at=at):
            return replace(part, atom=atom(part.atom), at=None if at is None else change(at))
        case Denied(inner):
            changed = rewritten(inner, change)
            assert isinstance(changed, Extended)
            return Denied(changed)
        case Guard(arguments=arguments):
            return replace(part, arguments=tuple(map(change, arguments)))
        case Collected():
            parts = tuple(rewritten(each, change) for each in part.parts)
            return replace(part, parts=parts)  # type: ignore[arg-type]


def bound(part: BodyPart, known: Mapping[Variable, Term]) -> BodyPart:
    """The part with the terms of the variables that are known."""

    def change(argument: Argument) -> Argument:
        return known.get(argument, argument) if isinstance(argument, Variable) else argument

    return rewritten(part, change)


def show_rule(rule: LarsRule, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """A rule as text, from which the same rule is read."""
    made, body = _shown_body(rule.body, (*rule.head.arguments, rule.at), prefixes)
    at = "" if rule.at is None else _show_at(rule.at, prefixes, made)
    head = at + show_atom(rule.head, prefixes, made)
    return f"{head} :- {', '.join(body)}." if body else f"{head}."


def show_part(
    part: BodyPart,
    prefixes: Mapping[str, str] = NO_PREFIXES,
    made: Mapping[Variable, Expression] = NOTHING_MADE,
) -> str:
    """A part of a body as text, with expressions in the place of some variables."""

    def shown(argument: Argument) -> str:
        return _expression(argument, prefixes, made).text

    match part:
        case Extended(atom, mode, at):
            before = "always " if mode is Mode.ALWAYS else ""
            if at is not None:
                before = _show_at(at, prefixes, made)
            return f"{before}{show_atom(atom, prefixes, made)}{part.where(prefixes)}"
        case Denied(inner):
            return f"not {show_part(inner, prefixes, made)}"
        case Collected(result=result):
            return f"{shown(result)} = {_show_collected(part, prefixes)}"
        case Guard(builtin, (left, right)):
            return f"{shown(left)} {SIGNS[builtin]} {shown(right)}"
        case Guard():
            value = applied(part, lambda argument: _expression(argument, prefixes, made))
            return f"{shown(part.arguments[-1])} = {value.text}"


def _shown_body(
    body: Iterable[BodyPart], others: Iterable[Argument | None], prefixes: Mapping[str, str]
) -> tuple[Mapping[Variable, Expression], list[str]]:
    """The texts of the parts, and what the variables stand for that nobody named.

    `others` are arguments that stand elsewhere. What is said in the place of its result is not said
    again.
    """
    parts = tuple(body)
    used: Counter[Argument | None] = Counter(others)
    definers: dict[Variable, Guard | Collected] = {}
    for part in parts:
        match part:
            case Extended() | Denied():
                used.update(part.variables())
            case Guard() | Collected():
                used.update(part.inputs if isinstance(part, Guard) else ())
                if part.result is not None and is_made(part.result):
                    used[part.result] += part.result in definers
                    definers.setdefault(part.result, part)
    definers = {result: part for result, part in definers.items() if used[result]}
    guards = (part for part in definers.values() if isinstance(part, Guard))
    made = expressions(guards, lambda argument: show_argument(argument, prefixes))
    for result, definer in definers.items():
        if isinstance(definer, Collected):
            made[result] = Expression(_show_collected(definer, prefixes))
    said = {id(definers[result]) for result in made}
    return made, [show_part(part, prefixes, made) for part in parts if id(part) not in said]


def _show_collected(part: Collected, prefixes: Mapping[str, str]) -> str:
    values = ", ".join(show_argument(value, prefixes) for value in part.values)
    _, parts = _shown_body(part.parts, part.values, prefixes)
    return f"{part.function} {{ {values} : {', '.join(parts)} }}"


def _show_at(at: Argument, prefixes: Mapping[str, str], made: Mapping[Variable, Expression]) -> str:
    """A time point in front of an atom, in brackets if it is neither a number nor a name."""
    text = _expression(at, prefixes, made).text
    is_name = isinstance(at, Variable) and at not in made
    return f"@{text} " if is_name or text.lstrip("-").isdecimal() else f"@({text}) "


def _expression(
    argument: Argument, prefixes: Mapping[str, str], made: Mapping[Variable, Expression]
) -> Expression:
    known = made.get(argument) if isinstance(argument, Variable) else None
    return known or Expression(show_argument(argument, prefixes))
