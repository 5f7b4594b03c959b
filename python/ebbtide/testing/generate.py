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
from typing import Final

from hypothesis import assume
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
from ebbtide.time import Count, Landmark, Sliding, Tumbling, Window

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

_SHARED: Final = tuple(map(Variable, "xyz"))
_LOCAL: Final = tuple(map(Variable, "uv"))
_COMPUTED: Final = tuple(map(Variable, "rs"))

_COMPARISONS: Final = ("equal", "notEqual", "lessThan", "greaterThan", "le", "ge")
_KINDS: Final = ("isLiteral", "notLiteral", "isURI", "isBNode", "notBNode")
_TEXTS: Final = ("strStarts", "strEnds", "strContains", "regex")
_OF_TWO: Final = ("sum", "difference", "product", "quotient", "min", "max", "strConcat")


def terms() -> st.SearchStrategy[Term]:
    """Mostly things, some values, seldom anything else."""
    return st.sampled_from((*_THINGS * 6, *_VALUES, *_ODD))


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    """A fact of any relation; more often of those that rules begin with."""
    relation = draw(st.sampled_from(("edge", "edge", "speed", "speed", TRIPLE, *RELATIONS)))
    if relation == "speed":
        return Fact(relation, (draw(st.sampled_from(_THINGS)), draw(st.sampled_from(_VALUES))))
    arity, _ = RELATIONS[relation]
    return Fact(relation, tuple(draw(terms()) for _ in range(arity)))


@st.composite
def windows(draw: st.DrawFn, *, only_time: bool = False) -> dict[str, Window]:
    """A window for each stream."""
    ranges = st.integers(1, 8)
    kinds: list[st.SearchStrategy[Window]] = [
        st.builds(Sliding, ranges),
        st.builds(Tumbling, ranges, st.integers(-3, 3)),
        st.builds(Landmark, st.integers(0, 8)),
    ]
    if not only_time:
        groups = st.sampled_from(((), (0,), (1,), (0, 3)))
        kinds.append(st.builds(Count, st.integers(1, 3), groups))
    return {stream: draw(st.one_of(kinds)) for stream in STREAMS}


def programs(*, positive: bool = False) -> st.SearchStrategy[Program]:
    """A program of a few rules; without negation if `positive`."""
    return st.one_of(_layered_programs(positive), _triple_programs(positive))


@st.composite
def _layered_programs(draw: st.DrawFn, positive: bool) -> Program:
    count = draw(st.integers(1, 5))
    rules = [draw(_layered_rules(f"rule{i + 1}", positive)) for i in range(count)]
    return Program(rules, {name: arity for name, (arity, _) in RELATIONS.items()})


@st.composite
def _layered_rules(draw: st.DrawFn, name: str, positive: bool) -> Rule:
    level = draw(st.sampled_from((1, 1, 1, 2, 2, 3)))
    functions = draw(st.sampled_from((0, 0, 0, 1, 2)))
    highest = level - 1 if functions else level
    body: list[BodyPart] = list(draw(_positives(_relations(0, highest), least=functions and 1)))
    bound = _variables(body)
    negatable = (*bound, *_LOCAL)
    for result in _COMPUTED[:functions]:
        body.append(draw(_functions(bound, result)))
        bound = (*bound, result)
    body += draw(st.lists(_tests(bound), max_size=2))
    if not positive:
        negated = _atoms(_relations(0, level - 1), negatable).map(Negation)
        body += draw(st.lists(negated, max_size=2))
    heads = st.lists(_atoms(_relations(level, level), bound), min_size=1, max_size=2)
    return Rule(name, tuple(draw(heads)), tuple(draw(st.permutations(body))))


@st.composite
def _triple_programs(draw: st.DrawFn, positive: bool) -> Program:
    """Rules over triples: their strata, if they have any, hang on the predicates."""
    rules = []
    for i in range(draw(st.integers(1, 4))):
        body: list[BodyPart] = list(draw(_positives([TRIPLE], least=1)))
        bound = _variables(body)
        if not positive:
            negated = _atoms([TRIPLE], (*bound, *_LOCAL)).map(Negation)
            body += draw(st.lists(negated, max_size=1))
        heads = draw(st.lists(_atoms([TRIPLE], bound), min_size=1, max_size=2))
        rules.append(Rule(f"rule{i + 1}", tuple(heads), tuple(body)))
    try:
        return Program(rules, {name: arity for name, (arity, _) in RELATIONS.items()})
    except ProgramError:
        assume(False)
        raise


def _relations(lowest: int, highest: int) -> list[str]:
    return [name for name, (_, level) in RELATIONS.items() if lowest <= level <= highest]


def _variables(body: Sequence[BodyPart]) -> tuple[Variable, ...]:
    atoms = (part for part in body if isinstance(part, Atom))
    return tuple(dict.fromkeys(variable for atom in atoms for variable in atom.variables()))


@st.composite
def _positives(draw: st.DrawFn, relations: Sequence[str], least: int) -> list[Atom]:
    atoms = draw(st.lists(_atoms(relations, _SHARED), min_size=least, max_size=3))
    while sum(len(atom.arguments) for atom in atoms) > _MOST_PLACES:
        atoms.pop()
    return atoms


@st.composite
def _atoms(draw: st.DrawFn, relations: Sequence[str], variables: Sequence[Variable]) -> Atom:
    relation = draw(st.sampled_from(relations))
    arity, _ = RELATIONS[relation]
    arguments = [draw(_arguments(variables, _THINGS)) for _ in range(arity)]
    if relation == "speed":
        arguments[1] = draw(_arguments(variables, _VALUES))
    if relation == TRIPLE and draw(st.booleans()):
        arguments[1] = draw(st.sampled_from(_THINGS))
    return Atom(relation, tuple(arguments))


@st.composite
def _arguments(
    draw: st.DrawFn, variables: Sequence[Variable], constants: Sequence[Term]
) -> Argument:
    if variables and draw(st.integers(0, 5)) > 0:
        return draw(st.sampled_from(variables))
    return draw(st.sampled_from(constants))


@st.composite
def _tests(draw: st.DrawFn, variables: Sequence[Variable]) -> Guard:
    builtin = draw(st.sampled_from((*_COMPARISONS, *_KINDS, *_TEXTS)))
    arguments = [draw(_arguments(variables, _VALUES))]
    if builtin in _COMPARISONS:
        arguments.append(draw(_arguments(variables, _VALUES)))
    elif builtin in _TEXTS:
        arguments.append(draw(st.sampled_from(_PATTERNS)))
    return Guard(builtin, tuple(arguments))


@st.composite
def _functions(draw: st.DrawFn, variables: Sequence[Variable], result: Variable) -> Guard:
    """A function whose result is new, seldom one that is known already."""
    builtin = draw(st.sampled_from((*_OF_TWO, "strLength")))
    inputs = [draw(_arguments(variables, _VALUES)) for _ in range(2 if builtin in _OF_TWO else 1)]
    known = [*variables, *_VALUES] if draw(st.integers(0, 5)) == 0 else [result]
    return Guard(builtin, (*inputs, draw(st.sampled_from(known))))


@st.composite
def streams(draw: st.DrawFn, *, retractions: bool = True) -> list[Happening]:
    """Facts with few terms, out of order, repeated, some of the background, and ticks."""
    ticks = sorted(draw(st.sets(st.integers(0, 16), min_size=1, max_size=6)))
    story: list[Happening] = []
    told: list[Fact] = []
    after = -2
    for tick in ticks:
        for _ in range(draw(st.integers(0, 5))):
            again = told and draw(st.integers(0, 2)) == 0
            fact = draw(st.sampled_from(told)) if again else draw(facts())
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
