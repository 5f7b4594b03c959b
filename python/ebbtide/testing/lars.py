"""Random LARS programs and streams, for hypothesis: all operators, both kinds of windows.

Input predicates are e, a and b, with none, one and two arguments; r, p, q and s are concluded;
`in` and `kind` are triples, which may be both.
Programs are texts, so that a failure can be read and kept. Those whose negation has no strata are
left out, but for ground programs, whose answer streams can all be tried.
"""

from __future__ import annotations

import re
from typing import Final

from hypothesis import assume
from hypothesis import strategies as st

from ebbtide.languages.lars import LarsProgram, parse_atoms, parse_lars, strata
from ebbtide.program import Fact, ProgramError
from ebbtide.terms.term import RDF

INPUT: Final = {"e": 0, "a": 1, "b": 2}
CONCLUDED: Final = {"r": 0, "p": 1, "q": 2, "s": 1}
#: Triples of a predicate and of a class.
TRIPLES: Final = {"in": "triple({},<in>,{})", "kind": f"triple({{}},<{RDF}type>,<K>)"}
ARITIES: Final = {**INPUT, **CONCLUDED, "in": 2, "kind": 1}
CONSTANTS: Final = ("c", "d", "1", "2")
LAST: Final = 7

_TIME_WINDOWS: Final = ("[0]", "[1]", "[2]", "[4]", "[tumbling 2]", "[tumbling 3]", "[ever]")
_COUNT_WINDOWS: Final = ("[#1]", "[#2]", "[#3]", "[#1 of it]", "[#2 of it]")


@st.composite
def _atoms(draw: st.DrawFn, predicate: str, variables: tuple[str, ...]) -> str:
    terms = st.sampled_from((*variables, *variables, *CONSTANTS))
    arguments = [draw(terms) for _ in range(ARITIES[predicate])]
    if predicate in TRIPLES:
        return TRIPLES[predicate].format(*arguments)
    return f"{predicate}({','.join(arguments)})" if arguments else predicate


@st.composite
def _extended(
    draw: st.DrawFn,
    predicates: tuple[str, ...],
    variables: tuple[str, ...],
    times: tuple[str, ...],
) -> str:
    predicate = draw(st.sampled_from(predicates))
    atom = draw(_atoms(predicate, variables))
    counted: tuple[str, ...] = _COUNT_WINDOWS if predicate in INPUT else ()
    if predicate in TRIPLES and draw(st.integers(0, 2)) == 0:
        counted = (*_COUNT_WINDOWS, "[#2 of triple]")
    window = draw(st.sampled_from((*_TIME_WINDOWS, *counted)))
    if counted and "X" in atom and draw(st.integers(0, 3)) == 0:
        window = draw(st.sampled_from(("[#1 per X]", "[#2 per X]")))
    kinds = ["now", "some", "some", "always", "at", "ever"]
    match draw(st.sampled_from(kinds)):
        case "now":
            return atom
        case "some":
            return f"{atom} in {window}"
        case "always":
            return f"always {atom} in {window}"
        case "at":
            return f"@{draw(st.sampled_from(times))} {atom} in {window}"
    return f"@{draw(st.sampled_from(times))} {atom}"


@st.composite
def _rules(draw: st.DrawFn) -> str:
    everything = tuple(ARITIES)
    times = ("T", "T", "U", "2")
    positive = draw(st.lists(_extended(everything, ("X", "Y", "_"), times), min_size=1, max_size=3))
    text = ", ".join(positive)
    bound = tuple(name for name in "XYTU" if _mentions(text, name))
    terms = tuple(name for name in bound if name in "XY")
    parts = list(positive)
    if draw(st.integers(0, 2)) == 0:
        lower = (*INPUT, "r", "p", "in", "kind")
        points = (*(name for name in bound if name in "TU"), "1")
        parts.append(f"not {draw(_extended(lower, (*terms, '_'), points))}")
    if "T" in bound and draw(st.integers(0, 5)) == 0:
        sign, shift = draw(st.sampled_from(["", "not "])), draw(st.sampled_from(["- 1", "+ 1"]))
        atom = draw(_atoms(draw(st.sampled_from(("a", "e", "p"))), ("_",)))
        parts.append(f"{sign}@(T {shift}) {atom}")
    if terms and draw(st.integers(0, 4)) == 0:
        sign = draw(st.sampled_from(["<", ">=", "!=", "="]))
        parts.insert(0, f"{terms[0]} {sign} {draw(st.sampled_from(('1', '2', *terms)))}")
    head_terms = terms
    if draw(st.integers(0, 5)) == 0:
        results = draw(st.sampled_from((("N",), ("N",), ("N", "M"))))
        for result in results:
            function = draw(st.sampled_from(["count", "max", "min", "sum", "avg"]))
            parts.append(f"{result} = {function} {{ V : {draw(_collected(terms))} }}")
        head_terms = (*terms, *results)
    head_predicate = draw(st.sampled_from((*CONCLUDED, *CONCLUDED, *TRIPLES)))
    head = draw(_atoms(head_predicate, head_terms))
    times_bound = [name for name in bound if name in "TU"]
    is_timed = draw(st.booleans())
    if times_bound and is_timed:
        at = draw(st.sampled_from(times_bound))
        if draw(st.integers(0, 7)) == 0:
            parts.append(f"W = {at} - 1")
            at = "W"
        head = f"@{at} {head}"
    return f"{head} :- {', '.join(parts)}."


@st.composite
def _collected(draw: st.DrawFn, terms: tuple[str, ...]) -> str:
    """What an aggregate collects values V from: input, conclusions or time points, by group."""
    window = draw(st.sampled_from((*_TIME_WINDOWS, *_COUNT_WINDOWS)))
    timed = draw(st.sampled_from(_TIME_WINDOWS))
    kinds = (f"a(V) in {window}", f"b(_,V) in {window}", f"always a(V) in {window}")
    parts = [draw(st.sampled_from((*kinds, f"p(V) in {timed}", f"@V a(_) in {window}")))]
    if draw(st.booleans()) and terms:
        parts.append(f"b({terms[0]},V) in {draw(st.sampled_from((window, '[#2 per V]')))}")
    if draw(st.integers(0, 3)) == 0:
        parts.append(draw(st.sampled_from(("not b(V,_) in [2]", "not always e in [1]", "V > 1"))))
    return ", ".join(parts)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text.replace("per X", "")) is not None


@st.composite
def lars_programs(draw: st.DrawFn) -> LarsProgram:
    """A stratified program of one to five rules, perhaps with background facts."""
    rules = draw(st.lists(_rules(), min_size=1, max_size=5))
    known = st.sampled_from(("a", "b", "e", "p", "in"))
    facts = draw(st.lists(known.flatmap(lambda name: _atoms(name, ("c",))), max_size=2))
    if draw(st.integers(0, 2)):
        facts = []
    try:
        program = parse_lars("\n".join([*rules, *(f"{fact}." for fact in facts)]))
        strata(program)
    except ProgramError:
        assume(False)
        raise
    return program


@st.composite
def _ground_literals(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(("e", "a(c)", "r", "p(c)", "s(1)")))
    counted = _COUNT_WINDOWS if name in ("e", "a(c)") else ()
    window = draw(st.sampled_from((*_TIME_WINDOWS, *counted)))
    point = draw(st.integers(0, 3))
    atoms = (name, f"{name} in {window}", f"always {name} in {window}", f"@{point} {name}")
    atom = draw(st.sampled_from((*atoms, f"@{point} {name} in {window}")))
    return f"not {atom}" if draw(st.integers(0, 2)) == 0 else atom


@st.composite
def ground_programs(draw: st.DrawFn) -> LarsProgram:
    """A program without variables of one to four rules, stratified or not."""
    rules = []
    for _ in range(draw(st.integers(1, 4))):
        head = draw(st.sampled_from(("r", "p(c)", "s(1)")))
        at = draw(st.sampled_from(("", "", "@0 ", "@1 ", "@2 ", "@3 ")))
        body = draw(st.lists(_ground_literals(), min_size=1, max_size=3))
        rules.append(f"{at}{head} :- {', '.join(body)}.")
    return parse_lars("\n".join(rules))


@st.composite
def choosing_programs(draw: st.DrawFn) -> LarsProgram:
    """A choice or two between ground atoms, one or two aggregates over what was chosen, and a rule.

    Heads have no variables, so that the answer streams can all be tried.
    """
    one, two = draw(st.permutations(("s(1)", "s(2)", "p(c)")))[:2]
    when = draw(st.sampled_from(("", "e, ", "a(_) in [2], ", "not e in [1], ")))
    rules = [f"{one} :- {when}not {two}.", f"{two} :- {when}not {one}."]
    for head in draw(st.lists(st.sampled_from(("r", "q(c,c)")), min_size=1, max_size=2)):
        function = draw(st.sampled_from(("count", "sum", "min", "max", "avg")))
        window = draw(st.sampled_from(("", " in [0]", " in [1]", " in [2]")))
        more = draw(st.sampled_from(("", ", a(_) in [2]", ", not p(c)", ", not r")))
        sign = draw(st.sampled_from(("<", ">=", "!=", "=")))
        limit = draw(st.sampled_from(("1", "2", "3", "1.5")))
        if (function, sign, limit) == ("count", "<", "1"):
            sign = "<="  # No count is below 1, and asking for one is refused.
        collects = f"V : s(V){window}{more}"
        rules.append(f"{head} :- N = {function} {{ {collects} }}, N {sign} {limit}.")
    if draw(st.booleans()):
        head = draw(st.sampled_from(("s(2)", "s(3)", "r", "p(c)")))
        at = draw(st.sampled_from(("", "@0 ", "@1 ")))
        rules.append(f"{at}{head} :- {draw(_ground_literals())}.")
    return parse_lars("\n".join(rules))


@st.composite
def lars_streams(draw: st.DrawFn) -> dict[int, set[Fact]]:
    """The input atoms at some of the time points from 0 to `LAST`."""
    names = st.sampled_from(("a", "a", "b", "e", "in", "kind"))
    atoms = names.flatmap(lambda name: _atoms(name, ("c", "1")))
    lines = draw(st.lists(st.tuples(st.integers(0, LAST), atoms), max_size=14))
    stream: dict[int, set[Fact]] = {}
    for at, atom in lines:
        stream.setdefault(at, set()).update(parse_atoms(f"{atom}.", "", {}))
    return stream
