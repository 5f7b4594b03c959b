"""A printed LARS rule is read as the same rule, whatever it is about."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ebbtide.languages.lars import parse_lars
from ebbtide.languages.lars.formula import LarsProgram, LarsRule, show_rule
from ebbtide.languages.lars.printing import quoted
from ebbtide.program import ProgramError

PREFIXES = "@prefix ex: <http://example/>. @prefix : <http://example/own#>.\n"

# Predicates whose names mean something elsewhere, or need quotes; one has one number of arguments.
ARITIES = {
    **{"p": 2, "q0": 0, "my flag": 1, "été": 2, "It's": 0, "Upper": 1, "true": 1, "triples": 3},
    **{"not": 1, "always": 1, "some": 0, "box": 1, "diamond": 0, "time_win": 4, "tuple_win": 2},
    **{"in": 0, "at": 2, "of": 1, "it": 1, "per": 0, "and": 1, "or": 0, "import": 0, "tumbling": 1},
    **{"sum": 3, "plus": 2, "leq": 2, "eq": 1, "incr": 2, "ltleq": 3, "power": 3, "count": 1},
    **{"min": 0, "max": 2, "triple": 3, "COMP": 3, "MATH": 4},
}
CONSTANTS = [
    *("oslo", "<http://example/oslo>", "ex:oslo", ":here", "<not>", "<true>", "true", "_:b1"),
    *("in", "count", "<a>", "<http://other/x%20y>", "'quoted'"),
    *('"two\\nlines"', '"it\'s \\"so\\""', '"back\\\\slash"', '"hei"@nb-no', '"\\u00e9t\\u00e9"'),
    *('"2024-02-29"^^xsd:date', '"x"^^ex:own', '"7"^^xsd:int', '"-1.0"^^xsd:double', '"."'),
]
NUMBERS = ["0", "7", "-3", "007", "-0.50", "3.5", "1e3", "-2.5E-3", "12345678901234567890.5"]
VARIABLES = ["X", "Y", "Long_Name2", "_under"]
WINDOWS = [
    *("[0]", "[3]", "[20 s]", "[500 ms]", "[2 min]", "[1 h]", "[1 d]", "[4 ticks]", "[ever]"),
    *("[tumbling 10]", "[tumbling 2 min]", "[#1]", "[#3]", "[#3 of it]"),
]

numbers = st.sampled_from(NUMBERS)
variables = st.sampled_from(VARIABLES)
expressions = st.recursive(
    variables | numbers,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner)
        | st.builds("{} {} {}".format, inner, st.sampled_from("+-*/"), inner)
        | st.builds("-({})".format, inner)
    ),
    max_leaves=5,
)
terms = st.one_of(variables, st.just("_"), st.sampled_from(CONSTANTS), expressions)
points = st.sampled_from(["T", "3", "-1", "0012", "(T + 1)", "(T * 2 - X)", "_"])


@st.composite
def plain(draw: st.DrawFn) -> str:
    """An atom, its name always in quotes; or a triple by its predicate or class."""
    if draw(st.integers(0, 4)) == 0:
        subject, object = draw(terms), draw(terms)
        shapes = ["ex:p({},{})", ":p({},{})", "ex:Room({})", "<http://example/p>({},{})"]
        return draw(st.sampled_from(shapes)).format(subject, object)
    name = draw(st.sampled_from(list(ARITIES)))
    arguments = ",".join(draw(terms) for _ in range(ARITIES[name]))
    return f"{quoted(name)}({arguments})" if arguments else quoted(name)


@st.composite
def extended(draw: st.DrawFn) -> str:
    before = "not " if draw(st.integers(0, 3)) == 0 else ""
    atom, window = draw(plain()), draw(st.sampled_from(WINDOWS))
    if draw(st.integers(0, 3)) == 0 and "(X," in atom:
        window = "[#2 per X]"
    match draw(st.sampled_from(["now", "some", "always", "at", "at window"])):
        case "now":
            return f"{before}{atom}"
        case "some":
            return f"{before}{atom} in {window}"
        case "always":
            return f"{before}always {atom} in {window}"
        case "at":
            return f"{before}@{draw(points)} {atom}"
    return f"{before}@{draw(points)} {atom} in {window}"


@st.composite
def aggregates(draw: st.DrawFn) -> str:
    function = draw(st.sampled_from(["count", "#sum", "min", "#max", "avg"]))
    inner = [
        f"@T 'data'(A,B,{','.join(VARIABLES)}) in [5]",
        *draw(st.lists(extended() | comparisons(), max_size=2)),
    ]
    return f"{function} {{ {draw(st.sampled_from(['A', 'A, B']))} : {', '.join(inner)} }}"


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    if draw(st.booleans()):
        sign = draw(st.sampled_from(["=", "!="]))
        return f"{draw(variables)} {sign} {draw(st.sampled_from(CONSTANTS))}"
    sign = draw(st.sampled_from(["=", "!=", "<", ">", "<=", ">="]))
    return f"{draw(expressions)} {sign} {draw(expressions)}"


@st.composite
def collected(draw: st.DrawFn) -> str:
    other = draw(st.one_of(st.just("N"), expressions, aggregates()))
    sign = draw(st.sampled_from(["=", ">="]))
    if other == "N":
        sign = "="
    sides = [draw(aggregates()), other]
    return f" {sign} ".join(sides if draw(st.booleans()) else reversed(sides))


@st.composite
def rules(draw: st.DrawFn) -> str:
    """A rule as text, whose variables are all bound."""
    parts = draw(st.lists(extended() | comparisons() | collected(), min_size=1, max_size=4))
    bound = f"@T 'dom'({','.join(VARIABLES)})"
    place = draw(st.integers(0, len(parts)))
    body = ", ".join([*parts[:place], bound, *parts[place:]])
    head = f"'h'({draw(expressions)},{draw(variables)})"
    at = draw(st.sampled_from(["", "@T ", "@(T + 1) ", "@7 "]))
    return f"{at}{head} :- {body}."


def read(text: str) -> LarsProgram:
    return parse_lars(PREFIXES + text, "p.lars")


def same(rule: LarsRule) -> str:
    """The rule, its variables that nobody named by the order in which they come."""
    names: dict[str, str] = {}
    return re.sub(
        r"name='(any[0-9]+)'",
        lambda match: names.setdefault(match[1], f"any {len(names)}"),
        repr(rule),
    )


@given(rules())
def test_a_printed_rule_is_read_as_the_same(text: str) -> None:
    try:
        (rule,) = read(text).rules
    except ProgramError:
        reject()
    for prefixes in ({}, read(text).prefixes):
        printed = show_rule(rule, prefixes)
        (again,) = read(printed).rules
        assert same(again) == same(rule), printed
        assert show_rule(again, prefixes) == printed


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("q(X) :- 'sum'(X,Y,Z).", None),
        ("q(X) :- sum(X,Y).", None),
        ("q(X + 1) :- p(X), X * 2 > 3 - (X - 1).", None),
        ("q :- sum { V, S : reading(S,V) in [20] } > 100.", None),
        (
            "q(X) :- p(X), count { Y : r(X,Y) } = X + 1.",
            "q(X) :- p(X), count { Y : r(X,Y) } = X + 1.",
        ),
        ("q(X) :- always at(X,Y) in [3].", None),
        ("q(X) :- p(X), X >= -3, _ = X + 1.", None),
        ("@(T + 1) q :- @T p.", None),
        ("q(X) :- plus(X,1,Y), p(X), r(Y).", "q(X) :- Y = X + 1, p(X), r(Y)."),
        ("q(X) :- 'not'(X), 'box'(X), not 'at' in [3].", None),
    ],
)
def test_rules_are_printed_as_they_are_written(written: str, printed: str | None) -> None:
    (rule,) = parse_lars(written).rules
    assert str(rule) == (printed or written)
