"""Hypothesis strategies for programs, windows and streams, small enough for the naive engine.

    programs()        rules over the relations of `RELATIONS`, or over triples alone
    windows()         a window for each stream of `STREAMS`
    streams()         a story for an engine: what happens, with ticks in between
    retold(story)     the same story in another order, other batches, with repetitions

There are few terms, so that joins happen. Every relation has a level: a rule derives from relations
of its own level or below, negates only what is below, and computes new terms only from what is
below, so that these programs are stratified and no function feeds itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from typing import Final

from hypothesis import strategies as st

from ebbtide.program import (
    TRIPLE,
    Argument,
    Atom,
    BodyPart,
    Fact,
    Guard,
    Negation,
    Program,
    ProgramError,
    Rule,
    Variable,
)
from ebbtide.terms import IRI, BlankNode, Literal, Term, to_term
from ebbtide.terms.term import XSD
from ebbtide.testing.notation import EXAMPLE
from ebbtide.testing.script import Add, Happening, Push, Retract, Tick
from ebbtide.time import Count, Landmark, Session, Sliding, Tumbling, Window

#: Each relation with its arity and its level. `speed` relates a thing to a value.
RELATIONS: Final = {
    "rain": (0, 0),
    "edge": (2, 0),
    "speed": (2, 0),
    TRIPLE: (3, 1),
    "path": (2, 1),
    "busy": (1, 1),
    "score": (2, 2),
    "alert": (0, 2),
    "wide": (4, 3),
    "calm": (1, 3),
}
STREAMS: Final = ("default", "other")

#: What most facts are of, and most bodies begin with.
_FREQUENT: Final = ("edge", "speed", TRIPLE, "path")

#: Bodies with more places than this would make nested matching slow.
_MOST_PLACES: Final = 6

_THINGS: Final[tuple[Term, ...]] = tuple(IRI(EXAMPLE + name) for name in "ABC")
_VALUES: Final[tuple[Term, ...]] = (
    to_term(1),
    to_term(2),
    Literal("2.0", XSD + "decimal"),
    Literal("0.5", XSD + "decimal"),
    Literal("1.5", XSD + "double"),
    to_term("ab"),
    to_term("b"),
)
_ODD: Final[tuple[Term, ...]] = (BlankNode("b"), Literal("b", language="fi"), to_term(True))
_PATTERNS: Final[tuple[Term, ...]] = tuple(map(to_term, ("a", "b", "^b", "[0-9]$", "example/[AB]")))

_SHARED: Final = tuple(map(Variable, "xyzw"))
_LOCAL: Final = tuple(map(Variable, "uv"))
_COMPUTED: Final = tuple(map(Variable, "rs"))
_VALUE: Final = Variable("n")

_COMPARISONS: Final = (
    *("equal", "notEqual", "lessThan", "greaterThan", "le", "ge"),
    *("sameTerm", "notSameTerm"),
)
_KINDS: Final = ("isLiteral", "notLiteral", "isURI", "isBNode", "notBNode", "isPLiteral")
_TEXTS: Final = ("strStarts", "strEnds", "strContains", "regex", "matches")
_OF_TWO: Final = (
    *("sum", "difference", "product", "quotient", "min", "max", "strConcat"),
    *("skolem", "uriConcat"),
)


def terms() -> st.SearchStrategy[Term]:
    """Mostly things, seldom values or anything else."""
    return st.sampled_from((*_THINGS[:2] * 12, *_THINGS * 4, *_VALUES, *_ODD))


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    """A fact of any relation; more often of those that rules begin with."""
    relation = draw(st.sampled_from((*_FREQUENT * 4, *RELATIONS)))
    if relation == "speed":
        return Fact(relation, (draw(st.sampled_from(_THINGS)), draw(st.sampled_from(_VALUES))))
    arity, _ = RELATIONS[relation]
    return Fact(relation, tuple(draw(terms()) for _ in range(arity)))


@st.composite
def windows(draw: st.DrawFn, *, only_time: bool = False) -> dict[str, Window]:
    """A window for each stream."""
    ranges = st.sampled_from((5, 3, 4, 8, 10, 2, 1))
    kinds: list[st.SearchStrategy[Window]] = [
        st.builds(Sliding, ranges),
        st.builds(Tumbling, ranges, st.integers(-3, 3)),
        st.builds(Landmark, st.integers(0, 5)),
    ]
    if not only_time:
        groups = st.sampled_from(((), (0,), (1,), (0, 3)))
        kinds.append(st.builds(Count, st.integers(1, 5), groups))
        kinds.append(st.builds(Session, ranges, groups))
    return {stream: draw(st.one_of(kinds)) for stream in STREAMS}


def programs(*, positive: bool = False) -> st.SearchStrategy[Program]:
    """A program of a few rules; without negation if `positive`."""
    return st.one_of(_layered_programs(positive), _triple_programs(positive))


# The parts of a program are drawn by plain functions that share one `draw`: a strategy for each
# small part would take longer than the engines do.


@st.composite
def _layered_programs(draw: st.DrawFn, positive: bool) -> Program:
    count = draw(st.integers(2, 6))
    return _program([_layered_rule(draw, f"rule{i + 1}", positive) for i in range(count)])


def _layered_rule(draw: st.DrawFn, name: str, positive: bool) -> Rule:
    level = draw(st.sampled_from((1, 1, 1, 2, 2, 3)))
    functions = draw(st.sampled_from((0, 0, 0, 0, 0, 1, 2)))
    below = _relations(0, level - 1)
    body: list[BodyPart] = list(_positives(draw, below if functions else _relations(0, level)))
    if functions:
        body.append(Atom("speed", (draw(st.sampled_from(_SHARED)), _VALUE)))
    bound = in_atoms = _variables(body)
    for result in _COMPUTED[:functions]:
        function = _function(draw, bound, result)
        body.append(function)
        bound += (result,) if function.result == result else ()
    for _ in range(draw(st.sampled_from((0, 0, 0, 0, 1, 2)))):
        body.append(_test(draw, bound))
    for _ in range(0 if positive else draw(st.sampled_from((0, 0, 1, 2)))):
        body.append(Negation(_atom(draw, below, in_atoms + _LOCAL)))
    heads = _heads(draw, _relations(level, level), bound)
    return Rule(name, heads, tuple(draw(st.permutations(body))))


@st.composite
def _triple_programs(draw: st.DrawFn, positive: bool) -> Program:
    """Rules over triples, whose strata hang on the predicates; positive where there are none."""
    rules = []
    for i in range(draw(st.integers(2, 4))):
        body: list[BodyPart] = list(_positives(draw, [TRIPLE]))
        bound = _variables(body)
        if not positive and draw(st.booleans()):
            body.append(Negation(_atom(draw, [TRIPLE], bound + _LOCAL)))
        rules.append(Rule(f"rule{i + 1}", _heads(draw, [TRIPLE], bound), tuple(body)))
    try:
        return _program(rules)
    except ProgramError:
        return _program([replace(rule, body=rule.positives) for rule in rules])


def _program(rules: Sequence[Rule]) -> Program:
    return Program(rules, {name: arity for name, (arity, _) in RELATIONS.items()})


def _relations(lowest: int, highest: int) -> list[str]:
    return [name for name, (_, level) in RELATIONS.items() if lowest <= level <= highest]


def _variables(body: Sequence[BodyPart]) -> tuple[Variable, ...]:
    atoms = (part for part in body if isinstance(part, Atom))
    return tuple(dict.fromkeys(variable for atom in atoms for variable in atom.variables()))


def _heads(
    draw: st.DrawFn, relations: Sequence[str], variables: tuple[Variable, ...]
) -> tuple[Atom, ...]:
    count = draw(st.sampled_from((1, 1, 1, 2)))
    return tuple(_atom(draw, relations, variables) for _ in range(count))


def _positives(draw: st.DrawFn, relations: Sequence[str]) -> list[Atom]:
    count = draw(st.sampled_from((1, 1, 1, 2, 2, 2, 2, 3, 3, 0)))
    often = [name for name in _FREQUENT if name in relations] * 3
    atoms = [_atom(draw, [*often, *relations], _SHARED) for _ in range(count)]
    while sum(len(atom.arguments) for atom in atoms) > _MOST_PLACES:
        atoms.pop()
    return atoms


def _atom(draw: st.DrawFn, relations: Sequence[str], variables: tuple[Variable, ...]) -> Atom:
    """Mostly different variables; seldom a constant, or one variable twice."""
    relation = draw(st.sampled_from(relations))
    arity, _ = RELATIONS[relation]
    arguments = list(draw(st.sampled_from(_fillings(variables, arity))))
    for place in range(arity):
        if isinstance(arguments[place], Variable):
            match draw(st.integers(0, 12)):
                case 0:
                    values = relation == "speed" and place == 1
                    arguments[place] = draw(st.sampled_from(_VALUES if values else _THINGS))
                case 1:
                    arguments[place] = arguments[0]
    if relation == TRIPLE and draw(st.booleans()):
        arguments[1] = draw(st.sampled_from(_THINGS))
    return Atom(relation, tuple(arguments))


@cache
def _fillings(variables: tuple[Variable, ...], arity: int) -> tuple[tuple[Argument, ...], ...]:
    """Ways to fill the places of an atom, with different variables if there are enough."""
    if not variables:
        return tuple(product(_THINGS, repeat=arity))
    enough = len(variables) >= arity
    return tuple(permutations(variables, arity) if enough else product(variables, repeat=arity))


def _argument(
    draw: st.DrawFn, variables: tuple[Variable, ...], constants: tuple[Term, ...]
) -> Argument:
    """A variable about five times as often as a constant."""
    often = 5 * len(constants) // max(len(variables), 1)
    return draw(st.sampled_from((*variables * often, *constants)))


def _test(draw: st.DrawFn, variables: tuple[Variable, ...]) -> Guard:
    builtin = draw(st.sampled_from((*_COMPARISONS, *_KINDS, *_TEXTS)))
    arguments = [draw(st.sampled_from(variables or _VALUES))]
    if builtin in _COMPARISONS:
        arguments.append(_argument(draw, variables, _VALUES))
    elif builtin in _TEXTS:
        arguments.append(draw(st.sampled_from(_PATTERNS)))
    return Guard(builtin, tuple(arguments))


def _function(draw: st.DrawFn, variables: tuple[Variable, ...], result: Variable) -> Guard:
    """A function whose result is new, seldom one that is known already."""
    builtin = draw(st.sampled_from((*_OF_TWO, "strLength")))
    count = 2 if builtin in _OF_TWO else 1
    values = tuple(v for v in variables if v not in _SHARED) * 3
    inputs = [_argument(draw, variables + values, _VALUES) for _ in range(count)]
    known = (*variables, *_VALUES)
    return Guard(builtin, (*inputs, draw(st.sampled_from((result,) * 5 * len(known) + known))))


@st.composite
def streams(
    draw: st.DrawFn, of: st.SearchStrategy[Fact] | None = None, *, retractions: bool = True
) -> list[Happening]:
    """Facts (by default any) out of order, repeated, some of the background, and ticks."""
    facts_of = facts() if of is None else of
    ticks = sorted(draw(st.sets(st.integers(0, 16), min_size=3, max_size=8)))
    story: list[Happening] = []
    told: list[Fact] = []
    after = -2
    for tick in ticks:
        for _ in range(draw(st.sampled_from((4, 4, 3, 2, 6, 8, 0)))):
            again = told and draw(st.integers(0, 2)) == 0
            fact = draw(st.sampled_from(told)) if again else draw(facts_of)
            told.append(fact)
            at = draw(st.integers(after + 1, tick + 2))
            match draw(st.integers(0, 9)):
                case 0 | 1:
                    story.append(Add(fact))
                case 2 | 3 if again and retractions:
                    story.append(Retract(fact, at))
                case _:
                    story.append(Push(fact, at, draw(st.sampled_from(STREAMS))))
        story.append(Tick(tick))
        after = tick
    return story


@st.composite
def retold(draw: st.DrawFn, story: Sequence[Happening]) -> list[Happening]:
    """The same ticks and the same facts, but told in other batches, in other order, some twice."""
    ticks = [happening for happening in story if isinstance(happening, Tick)]
    batches: list[list[Happening]] = [[] for _ in ticks]
    passed = 0
    for happening in story:
        for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
            match happening:
                case Add():
                    # The background counts from the next tick on, so it keeps its batch.
                    batches[passed].append(happening)
                case Push(at=at) | Retract(at=at):
                    latest = next((i for i, tick in enumerate(ticks) if tick.at >= at), passed)
                    batches[draw(st.integers(0, latest))].append(happening)
        passed += isinstance(happening, Tick)
    retelling: list[Happening] = []
    for batch, tick in zip(batches, ticks, strict=True):
        retelling += [*draw(st.permutations(batch)), tick]
    return retelling
