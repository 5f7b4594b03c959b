"""Every builtin gives the same answer in every engine, for terms of all kinds."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from tests.conftest import MakeEngine
from tests.properties.test_engines_agree import across_engines

from ebbtide.engines.reference import ReferenceEngine, datatypes
from ebbtide.program import BUILTINS, Atom, Fact, Guard, Program, Rule, Variable
from ebbtide.program.guard import SPARQL_BUILTINS
from ebbtide.terms import IRI, BlankNode, Literal, Term, to_term
from ebbtide.terms.term import FUNCTOR, RDF, XSD
from ebbtide.time import Sliding

WINDOWS = {"default": Sliding(1)}
LEFT, RIGHT, RESULT = map(Variable, ("left", "right", "result"))


def rules_for(builtin: str) -> list[Rule]:
    """`answer^builtin(left, right, number, result)`, as far as the builtin takes and gives them."""
    form = BUILTINS[builtin]
    inputs = 2 if form.is_variadic else form.arity - form.is_function
    # Two vary; a third one is a number in every builtin that has it.
    choices = [(LEFT, RIGHT, to_term(number)) for number in (range(3) if inputs > 2 else (0,))]
    return [
        Rule(
            f"{builtin}{number}",
            (Atom(f"answer^{builtin}", (LEFT, RIGHT, *arguments)),),
            (Atom("pair", (LEFT, RIGHT)), Guard(builtin, arguments)),
        )
        for number, choice in enumerate(choices)
        for arguments in [(*choice[:inputs], *((RESULT,) if form.is_function else ()))]
    ]


# Those of SPARQL take an expression first; test_sparql_rules.py compares them.
ALL_BUILTINS = Program(
    [rule for builtin in sorted(BUILTINS.keys() - SPARQL_BUILTINS) for rule in rules_for(builtin)]
)

# A function whose result is known already must equal it in value.
CHECKED = Program(
    [
        Rule(
            builtin,
            (Atom(f"checked^{builtin}", (LEFT, RIGHT, RESULT)),),
            (
                Atom("triple", (LEFT, RIGHT, RESULT)),
                Guard(builtin, (LEFT, RIGHT, RESULT)),
            ),
        )
        for builtin in ("sum", "product", "quotient", "max", "strConcat")
    ]
)


def functor(kind: str, arguments: list[Term]) -> Literal:
    return Literal("\n".join([kind, *(argument.text for argument in arguments)]), FUNCTOR)


def typed(datatype: str, lexical: st.SearchStrategy[str]) -> st.SearchStrategy[Term]:
    return lexical.map(lambda text: Literal(text, XSD + datatype))


def decimals(places: int, whole: int) -> st.SearchStrategy[str]:
    return st.decimals(
        -(10**whole), 10**whole, allow_nan=False, allow_infinity=False, places=places
    ).map(lambda number: f"{number:f}")


WHOLE = st.integers(-4, 4) | st.sampled_from([2**63 - 1, -(2**63), 2**63, 2**62, 10**12])
ZONES = st.sampled_from(["", "Z", "+14:00", "-05:30"])
DAYS = st.dates().map(lambda day: day.isoformat()) | st.sampled_from(
    (
        *("2024-02-29", "2024-02-30", "-0001-01-01", "0000-12-31", "12024-01-01", "2024-2-3"),
        # As far as the calendar goes, and beyond.
        *("5391559471919-03-29", "5391559471919-03-31", "100000000000000-01-01"),
        "5391559471919-03-30",
        *("-5391559471918-10-05", "-5391559471918-10-06", "-9223372036854775808-01-01"),
    )
)
TIMES = st.times().map(lambda time: time.isoformat()) | st.sampled_from(
    ["24:00:00", "24:00:01", "23:59:60", "00:00:00.5", "12:00"]
)
DATATYPES = [*datatypes.DATATYPES, datatypes.PLAIN_LITERAL, datatypes.RDFS_LITERAL, XSD + "time"]
WHOLES = st.builds(
    "{}{}".format,
    st.sampled_from(["", "", "+", "-", "00", "-0"]),
    st.sampled_from(
        [
            abs(around + by)
            for around in (0, *(2**n for n in (7, 8, 15, 16, 31, 32, 63, 64)))
            for by in (-1, 0, 1)
        ]
        + [10**30, 10**50]
    ),
)
FLOATS = st.sampled_from(
    (
        *("16777205.5", "16777206.5", "16777207.5", "9007199254740991.5", "9007199254740992.5"),
        *("1e400", "-1e401", "1e-400", "1e-46", "7e-46", "3.4028236e38", "3.4028235e38"),
        "3.40282356779733661637539395458142568447e38",
        "3.40282356779733661637539395458142568448e38",
        *("+INF", "inf", "infinity", "nan", "1e"),
    )
) | st.floats(width=32, allow_nan=False).map(repr)
STRINGS = st.text("ab: -1\t\n\u00b7\u00c0", max_size=4) | st.sampled_from(
    ["en-GB", "x-123456789", "a  b", " a", "a ", ":a", "a:b", "_a.1", "1a", "\u0300a", "true", "0a"]
)
PARTS = st.sampled_from(
    (IRI("a"), BlankNode(f"invented-2-{'0f' * 16}"), Literal("a\nb"), functor("f/1", [IRI("a")]))
)
TERMS: st.SearchStrategy[Term] = st.one_of(
    typed("integer", WHOLE.map(str)),
    typed("integer", st.sampled_from(["+7", "007", "-0", "", "+", "1.0", " 1", "seven"])),
    typed("int", WHOLE.map(str)),
    typed("unsignedByte", WHOLE.map(str)),
    typed("decimal", decimals(1, 1)),
    typed("decimal", decimals(9, 3)),
    typed("decimal", st.sampled_from(["1.", ".5", "+.5", "-0.0", ".", "1e3", "1.50"])),
    typed("double", st.floats(-10, 10).map(repr)),
    typed("double", st.floats(allow_nan=False, allow_infinity=False).map(repr)),
    typed("double", st.sampled_from(["INF", "-INF", "NaN", "1E3", "-0", "1.5", "x"])),
    typed("float", st.sampled_from(["1.5", "0.1", "INF"])),
    typed("boolean", st.sampled_from(["true", "false", "1", "0", "TRUE"])),
    typed("dateTime", st.builds("{}T{}{}".format, DAYS, TIMES, ZONES)),
    typed("date", st.builds("{}{}".format, DAYS, ZONES)),
    typed("duration", st.just("P1D")),
    typed("dateTimeStamp", st.builds("{}T{}{}".format, DAYS, TIMES, ZONES)),
    st.builds(Literal, WHOLES, st.sampled_from(DATATYPES)),
    typed("float", FLOATS),
    typed("double", FLOATS),
    st.builds(Literal, STRINGS, st.sampled_from(DATATYPES)),
    typed("hexBinary", st.sampled_from(["", "0f", "0F", "f", "0g"])),
    typed("base64Binary", st.sampled_from(["", "TQ==", "TR==", "T Q==", " TQ==", "TWE=", "TWE"])),
    st.sampled_from(["a@en", "a@EN", "a@", "a", "@", "a@b@1"]).map(
        lambda text: Literal(text, RDF + "PlainLiteral")
    ),
    st.sampled_from(DATATYPES).map(IRI),
    st.integers(0, 5).map(lambda depth: BlankNode(f"invented-{depth}-{'0f' * 16}")),
    st.just(BlankNode("invented-2-short")),
    st.sampled_from(["(a)(b)?", "(.*)", "(a|b)(", "a)(b", "all/1", "all/2"]).map(Literal),
    st.builds(functor, st.sampled_from(["all/1", "all/2", "f/0"]), st.lists(PARTS, max_size=2)),
    st.text(max_size=3).map(Literal),
    st.sampled_from([".", "a|b", "(", "[0-9]+", "^b", "a\\b", 'a"b', "\n", "ä", "\U0001d538"]).map(
        Literal
    ),
    st.sampled_from(["b", "ab"]).map(lambda text: Literal(text, language="en")),
    st.sampled_from(["", "a", "http://e/ab"]).map(IRI),
    st.just(BlankNode("b")),
)


@across_engines
@example([(Literal("NaN", XSD + "double"),) * 2])
@example([(Literal("100000000000000-01-01", XSD + "date"), Literal("2024-01-01", XSD + "date"))])
@example([(Literal("5391559471919-03-30", XSD + "date"), Literal("2024-01-01Z", XSD + "date"))])
@given(st.lists(st.tuples(TERMS, TERMS), min_size=1, max_size=8))
def test_builtins(other_engine: MakeEngine, pairs: list[tuple[Term, Term]]) -> None:
    engines = other_engine(ALL_BUILTINS, WINDOWS), ReferenceEngine(ALL_BUILTINS, WINDOWS)
    for engine in engines:
        for pair in pairs:
            engine.push(Fact("pair", pair), 1)
        engine.advance(1)
    answers, expected = ({str(fact) for fact in engine.facts()} for engine in engines)
    assert answers - expected == set()
    assert expected - answers == set()


@across_engines
@given(st.lists(st.tuples(TERMS, TERMS, TERMS), min_size=1, max_size=8))
def test_known_results(other_engine: MakeEngine, triples: list[tuple[Term, Term, Term]]) -> None:
    engines = other_engine(CHECKED, WINDOWS), ReferenceEngine(CHECKED, WINDOWS)
    for engine in engines:
        for triple in triples:
            engine.push(Fact("triple", triple), 1)
        engine.advance(1)
    answers, expected = ({str(fact) for fact in engine.facts()} for engine in engines)
    assert answers == expected


@given(TERMS, TERMS)
def test_literals_of_one_value_have_one_text(left: Term, right: Term) -> None:
    texts = datatypes.value_text(left), datatypes.value_text(right)
    is_same = datatypes.same_value(left, right) is True
    assert (None not in texts and texts[0] == texts[1]) == is_same
