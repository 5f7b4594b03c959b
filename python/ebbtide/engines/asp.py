"""LARS rules as an answer set program, in the text that clingo reads.

Each time point is translated anew. `holds(A, T)` says that the atom A holds at T, `window(W, T)`
that T is in the window W now; what a window of tuples shows is worked out beforehand. `always` is a
run that reaches back from the last time point of its window, so that it stays a positive condition;
`not` asks for an atom that stands for what it denies. What an aggregate yields is worked out
beforehand, too. If it collects what differs between answer streams, the rules below it are a layer
of their own: for each answer stream of these the rest is solved with that stream as facts
(splitting sets of logic programs). Terms and time points are their N-Triples texts, and comparisons
and arithmetic are asked of Python, so that they mean what they mean elsewhere.

Invariant: the stable models are the answer streams of Definition 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ebbtide.engines.reference.builtins import FUNCTIONS, TESTS, equal
from ebbtide.engines.reference.lars import (
    Conclusions,
    Stream,
    Structure,
    answer_stream,
    collected,
)
from ebbtide.languages.lars.analysis import below_of, group_of, refuse_own_result
from ebbtide.languages.lars.check import bound_by, strata
from ebbtide.languages.lars.formula import (
    Collected,
    CountWindow,
    Extended,
    LarsProgram,
    LarsRule,
    Mode,
)
from ebbtide.languages.lars.groups import group_places
from ebbtide.program import Argument, Atom, Fact, Guard, ProgramError, Variable
from ebbtide.program.user import asking
from ebbtide.terms import Term, parse_term, to_term
from ebbtide.time import Instant

#: What an answer stream has beyond the input.
Found: TypeAlias = frozenset[tuple[Instant, Fact]]
#: What tells windows apart: what is written, of which predicate, and the columns of groups.
_Key: TypeAlias = tuple[str, str, tuple[int, ...]]


def layers(program: LarsProgram) -> Iterator[Translation]:
    """A program as ASP, in layers: an aggregate over a choice is in a layer above the choice."""
    chosen: list[LarsRule] = []
    for rule in program.rules:
        for part in rule.collected:
            below = below_of(program, part)
            if _is_stratified(below):
                continue
            refuse_own_result(program)
            chosen += below.rules
    rules = tuple(rule for rule in program.rules if rule in chosen)
    if rules:
        yield from layers(replace(program, rules=rules))
    yield Translation(program, tuple(rule for rule in program.rules if rule not in rules))


def _is_stratified(program: LarsProgram) -> bool:
    """Whether a program has one answer stream at most."""
    try:
        strata(program)
    except ProgramError:
        return False
    return True


class Translation:
    """Some rules of a program as ASP; what the others conclude is given."""

    def __init__(self, program: LarsProgram, rules: tuple[LarsRule, ...]) -> None:
        self._program = program
        self._names = {name: f"p{place}" for place, name in enumerate(sorted(program.arities()))}
        self._predicates = {short: name for name, short in self._names.items()}
        #: A name for each window, and an atom that looks into it.
        self._windows: dict[_Key, tuple[str, Extended]] = {}
        self._guards: list[tuple[str, Guard]] = []
        self._aggregates: list[tuple[LarsRule, Collected, LarsProgram]] = []
        self._fresh = 0
        self.rules: list[str] = [
            "holds(A,T) :- input(A,T).",
            "holds(A,T) :- known(A), time(T).",
            "shows(W,A,T) :- window(W,T), holds(A,T).",
            "run(W,A,T) :- shows(W,A,T), last(T).",
            "run(W,A,T) :- shows(W,A,T), next(T,U), run(W,A,U), window(W,T).",
            "always(W,A) :- run(W,A,T), first(W,T).",
        ]
        for rule in rules:
            self.rules += self._rule(rule)

    # ---- rules -------------------------------------------------------------------------------

    def _rule(self, rule: LarsRule) -> Iterator[str]:
        parts: list[str] = []
        parts += map(self._extended, rule.positives)
        parts += (self._aggregate(rule, part) for part in rule.collected)
        parts += self._guarded(rule)
        bound = bound_by(rule.body)
        for denied in rule.denied:
            name = f"denied{self._new()}"
            variables = sorted({each.name for each in denied.variables() if each in bound})
            atom = f"{name}({','.join(map(_variable, variables))})" if variables else name
            yield f"{atom} :- {self._extended(denied.part)}."
            parts.append(f"not {atom}")
        if rule.at is None:
            yield f"holds({self._atom(rule.head)},N) :- {', '.join(['last(N)', *parts])}."
            return
        at = _argument(rule.at)
        head = f"holds({self._atom(rule.head)},{at})"
        inside = f"time({at})"
        yield f"{head} :- {', '.join([*parts, inside])}."
        outside = f"outside{self._new()}"
        yield f"{outside} :- {', '.join([*parts, f'not {inside}'])}."
        yield f":- {outside}."

    def _aggregate(self, rule: LarsRule, part: Collected) -> str:
        """What an aggregate yields: facts of each time point, by the program that it rests on."""
        self._aggregates.append((rule, part, below_of(self._program, part)))
        group = group_of(rule, part)
        arguments = ",".join(map(_argument, (*group, part.result)))
        return f"aggregate{len(self._aggregates)}({arguments})"

    def _extended(self, part: Extended) -> str:
        atom = self._atom(part.atom)
        fresh = f"T{self._new()}"
        if part.window is None:
            if part.mode is Mode.NOW:
                return f"holds({atom},{fresh}), last({fresh})"
            return f"holds({atom},{_argument(part.at)}), time({_argument(part.at)})"
        window = self._window(part)
        match part.mode:
            case Mode.ALWAYS:
                return f"always({window},{atom})"
            case Mode.AT:
                return f"shows({window},{atom},{_argument(part.at)})"
        return f"shows({window},{atom},{fresh})"

    def _window(self, part: Extended) -> str:
        places: tuple[int, ...] = ()
        if isinstance(part.window, CountWindow):
            places = group_places(part.atom, part.window)
        key = str(part.window), part.atom.relation, places
        name, _ = self._windows.setdefault(key, (f"w{len(self._windows)}", part))
        return name

    def _atom(self, atom: Atom) -> str:
        arguments = ",".join(map(_argument, atom.arguments))
        name = self._names[atom.relation]
        return f"{name}({arguments})" if arguments else name

    def _guarded(self, rule: LarsRule) -> Iterator[str]:
        bound = {variable for part in rule.positives for variable in part.variables()}
        for part in rule.collected:
            bound.update((*group_of(rule, part), part.result))
        waiting = list(rule.guards)
        while waiting:
            guard = next(
                one
                for one in waiting
                if all(not isinstance(each, Variable) or each in bound for each in one.inputs)
            )
            waiting.remove(guard)
            number = len(self._guards)
            self._guards.append((rule.name, guard))
            asked = f"@guard({number}{''.join(f',{_argument(each)}' for each in guard.inputs)})"
            result = guard.arguments[-1]
            if len(guard.inputs) == len(guard.arguments):
                yield f"1 = {asked}"
            elif isinstance(result, Variable) and result not in bound:
                bound.add(result)
                yield f"{_argument(result)} = {asked}"
            else:
                fresh = f"R{self._new()}"
                yield f"{fresh} = {asked}, 1 = @same({fresh},{_argument(result)})"

    def _new(self) -> int:
        self._fresh += 1
        return self._fresh

    # ---- input -------------------------------------------------------------------------------

    def input(self, input: Stream, given: Found, tick: int | None) -> Iterator[str]:
        """The facts of a time point: its input, what is given, and what the windows show."""
        structure = Structure(input, {}, frozenset(self._program.background), tick)
        for fact in self._program.background:
            yield f"known({self._fact(fact)})."
        for point in input.timeline:
            yield f"time({_text(to_term(point))})."
            for fact in input.at(point):
                if fact.relation in self._names:
                    yield f"input({self._fact(fact)},{_text(to_term(point))})."
            if point > input.first:
                yield f"next({_text(to_term(point - input.step))},{_text(to_term(point))})."
        yield f"last({_text(to_term(input.last))})."
        for point, fact in given:
            yield f"holds({self._fact(fact)},{_text(to_term(point))})."
        for name, part in self._windows.values():
            if isinstance(part.window, CountWindow):
                yield from self._counted(name, part, structure)
                continue
            window = structure.window(part)
            for point in window.timeline:
                yield f"window({name},{_text(to_term(point))})."
            yield f"first({name},{_text(to_term(window.first))})."
        for number, (rule, collection, below) in enumerate(self._aggregates, 1):
            is_one = _is_stratified(below)
            found = answer_stream(below, input, tick) if is_one else _by_point(given)
            if found is not None:
                whole = Structure(input, found, structure.background, tick)
                for fact in collected(rule, collection, whole)[1]:
                    terms = ",".join(map(_text, fact.terms))
                    yield f"aggregate{number}({terms})."

    def _counted(self, name: str, part: Extended, structure: Structure) -> Iterator[str]:
        """What a count window shows: input and background only."""
        for view in structure.views(part):
            window = view.window(part)
            always: set[Fact] | None = None
            for point in window.timeline:
                facts = {
                    fact for fact in view.hold(window, point) if fact.relation == part.atom.relation
                }
                always = facts if always is None else always & facts
                for fact in facts:
                    yield f"shows({name},{self._fact(fact)},{_text(to_term(point))})."
            for fact in always or ():
                yield f"always({name},{self._fact(fact)})."

    def _fact(self, fact: Fact) -> str:
        return self._atom(Atom(fact.relation, fact.terms))

    # ---- models ------------------------------------------------------------------------------

    def concluded(self, symbols: Sequence[Any], input: Stream) -> Iterator[tuple[Instant, Fact]]:
        """What a model has beyond the input and the background."""
        points = {to_term(point).text: point for point in input.timeline}
        background = frozenset(self._program.background)
        for symbol in symbols:
            if symbol.name == "holds":
                atom, at = symbol.arguments
                terms = tuple(parse_term(argument.string) for argument in atom.arguments)
                fact = Fact(self._predicates[atom.name], terms)
                point = points[at.string]
                if fact not in background and fact not in input.at(point):
                    yield point, fact

    def context(self, clingo: Any) -> Any:
        """What clingo asks while it grounds."""
        guards = self._guards

        class Context:
            def guard(self, number: Any, *inputs: Any) -> list[Any]:
                rule, guard = guards[number.number]
                terms = [parse_term(each.string) for each in inputs]
                answer = _asked(rule, guard)(*terms)
                if isinstance(answer, bool) or answer is None:
                    return [clingo.Number(1)] if answer else []
                return [clingo.String(answer.text)]

            def same(self, left: Any, right: Any) -> list[Any]:
                is_same = equal(parse_term(left.string), parse_term(right.string))
                return [clingo.Number(1)] if is_same else []

        return Context()


def _by_point(found: Found) -> Conclusions:
    """What an answer stream has beyond the input, by time point."""
    conclusions: Conclusions = {}
    for point, fact in found:
        conclusions.setdefault(point, set()).add(fact)
    return conclusions


def _asked(rule: str, guard: Guard) -> Callable[..., bool | Term | None]:
    known = TESTS.get(guard.builtin) or FUNCTIONS.get(guard.builtin)
    return known if known else lambda *terms: asking(rule, guard)(terms)


def _argument(argument: Argument | None) -> str:
    assert argument is not None
    if isinstance(argument, Variable):
        return _variable(argument.name)
    return _text(argument)


def _variable(name: str) -> str:
    return f"V{name}"


def _text(term: Term) -> str:
    escaped = term.text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
