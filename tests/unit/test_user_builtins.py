"""Builtins that users write in Python."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.conftest import MakeEngine

import ebbtide
from ebbtide.languages.jena import parse_rules
from ebbtide.program import BuiltinError, Fact, Program, ProgramError, builtin, guard
from ebbtide.reasoner import Reasoner
from ebbtide.terms import IRI, Literal, Term
from ebbtide.terms.term import XSD
from ebbtide.time import Sliding

WINDOWS = {"default": Sliding(10)}


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = dict(guard._registered)
    yield
    guard._registered.clear()
    guard._registered.update(before)


def answers(make: MakeEngine, rules: str, *facts: Fact) -> set[str]:
    engine = make(parse_rules(rules, "site.rules"), WINDOWS)
    for fact in facts:
        engine.push(fact, 1)
    engine.advance(1)
    return {str(fact) for fact in engine.facts() if fact not in facts}


def temperatures(*values: object) -> list[Fact]:
    return [Fact.of("at", f"<r{i}>", value) for i, value in enumerate(values)]


def test_a_test_and_a_function(engine: MakeEngine) -> None:
    @ebbtide.builtin
    def near(a: float, b: float) -> bool:
        return abs(a - b) <= 1

    @ebbtide.builtin
    def celsius(fahrenheit: float) -> Decimal | None:
        return Decimal(round((fahrenheit - 32) / 1.8)) if fahrenheit > -459 else None

    rules = "@relation at/2 . [r: at(?r ?f), celsius(?f ?c), near(?c, 20) -> warm(?r ?c)]"
    facts = temperatures(68, 70, Decimal("67.5"), 68.0, 90, -1000, "68", IRI("a"), True)
    assert answers(engine, rules, *facts) == {
        f'warm(<r{i}>, "{value}"^^<{XSD}decimal>)' for i, value in enumerate((20, 21, 20, 20))
    }


def test_arguments_are_what_their_annotations_say(engine: MakeEngine) -> None:
    seen: list[object] = []

    @builtin
    def kind(value: IRI | int | str, *rest) -> str:  # type: ignore[no-untyped-def]
        seen.append(value)
        return f"{type(value).__name__} {len(rest)}"

    rules = "@relation at/2 . [r: at(?r ?x), kind(?x ?r 5 ?k) -> kind_of(?r ?k)]"
    facts = temperatures(IRI("a"), 7, "x", 1.5, True, Literal("x", language="en"))
    assert answers(engine, rules, *facts) == {
        'kind_of(<r0>, "IRI 2")',
        'kind_of(<r1>, "int 2")',
        'kind_of(<r2>, "str 2")',
    }
    assert {type(value) for value in seen} == {IRI, int, str}


def test_what_is_raised_stops_the_tick_and_says_where(engine: MakeEngine) -> None:
    @builtin
    def risky(value: int) -> bool:
        return 10 // value > 1

    program = parse_rules(
        "@relation at/2 .\n[safe: at(?r ?x) -> q(?r)]\n[bad: at(?r ?x),\n  risky(?x) -> p(?r)]", "s"
    )
    made = engine(program, WINDOWS)
    made.push(Fact.of("at", "<r>", 2), 1)
    made.advance(1)
    made.push(Fact.of("at", "<r>", 0), 2)
    with pytest.raises(BuiltinError) as caught:
        made.advance(2)
    assert str(caught.value) == (
        f's:4:3: risky("0"^^<{XSD}integer>), asked by the rule bad, raised '
        "ZeroDivisionError: integer division or modulo by zero"
    )
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert isinstance(caught.value, ProgramError)
    # The fact is still in the window, and so is what is wrong with it; then it is not.
    with pytest.raises(BuiltinError):
        made.advance(3)
    made.advance(12)
    made.push(Fact.of("at", "<r>", 3), 13)
    delta = made.advance(13)
    assert Fact.of("p", "<r>") in delta.entered


def test_a_result_that_is_no_term(engine: MakeEngine) -> None:
    @builtin
    def strange(value: object) -> object:
        return object()

    with pytest.raises(BuiltinError, match="raised TermError: cannot make a term of object"):
        answers(engine, "@relation at/2 . [at(?r ?x), strange(?x ?y) -> p(?y)]", *temperatures(1))


def test_a_known_result_is_compared_by_value(engine: MakeEngine) -> None:
    @builtin
    def double(value: int) -> int:
        return 2 * value

    rules = "@relation at/2 . [at(?r ?x), double(?x 4.0) -> p(?r)]"
    assert answers(engine, rules, *temperatures(1, 2, 3)) == {"p(<r1>)"}


def test_proofs_ask_again() -> None:
    @builtin
    def near(a: float, b: float) -> bool:
        return abs(a - b) <= 1

    reasoner = Reasoner("@relation at/2 . [r: at(?r ?x), near(?x, 20) -> warm(?r)]")
    reasoner.push(Fact.of("at", "<r>", 20), at=1)
    reasoner.finish()
    assert str(reasoner.why(Fact.of("warm", "<r>"))).startswith("warm(<r>) until 10001: by r")


def test_plans_say_its_name() -> None:
    @builtin
    def near(a: float, b: float) -> bool:
        return abs(a - b) <= 1

    reasoner = Reasoner("@relation at/2 . [r: at(?r ?x), near(?x, 20) -> warm(?r)]")
    assert "near(?1, " in reasoner.engine.explain()  # type: ignore[attr-defined]


def test_programs_know_it_by_name() -> None:
    @builtin
    def near(a: float, b: float) -> bool:
        return True

    program = parse_rules("@relation at/2 . [r: at(?r ?x), near(?x, 20) -> warm(?r)]")
    assert pickle.loads(pickle.dumps(program)) == program


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("[(?x ?p ?y), near(?y) -> q(?x)]", "1:14: near takes 2 arguments, not 1"),
        ("[(?x ?p ?y), nea(?y 1) -> q(?x)]", "1:14: unknown builtin or relation nea; did you mean"),
        ("[(?x ?p ?y) -> near(?x ?y)]", "1:16: near is a builtin, so a head cannot conclude it"),
        ("@relation near/2", "1:11: near is a builtin, so it cannot be a relation"),
        ("[(?x ?p ?y), near(?z 1) -> q(?x)]", "1:14: ?z is an input of near, but no positive"),
    ],
)
def test_rules_that_misuse_it(rules: str, message: str) -> None:
    @builtin
    def near(a: float, b: float) -> bool:
        return True

    with pytest.raises(ProgramError) as caught:
        parse_rules(rules, "s")
    assert str(caught.value).startswith(f"s:{message}")


def test_a_name_that_jena_has() -> None:
    def makeTemp(value: int) -> int:  # noqa: N802
        return value

    builtin(makeTemp)
    with pytest.raises(ProgramError, match="1:14: makeTemp is a builtin of Jena; give the one in"):
        parse_rules("[(?x ?p ?y), makeTemp(?y ?z) -> q(?z)]")


def test_functions_that_cannot_be_builtins() -> None:
    def sum(a: int, b: int) -> int:
        return a + b

    def now() -> int:
        return 0

    def silent(a: int):  # type: ignore[no-untyped-def]
        return a

    def named(*, a: int) -> int:
        return a

    def listed(a: list[int]) -> int:
        return len(a)

    for function in (sum, now):
        with pytest.raises(ValueError, match="has a meaning already"):
            builtin(function)
    with pytest.raises(TypeError, match="silent: say what it returns"):
        builtin(silent)
    with pytest.raises(TypeError, match="named: a rule cannot give a by name"):
        builtin(named)
    with pytest.raises(TypeError, match="listed: a can be one of bool, int"):
        builtin(listed)


def test_a_later_one_takes_the_place_of_an_earlier_one(engine: MakeEngine) -> None:
    def answer(value: Term) -> str:
        return "first"

    builtin(answer)

    def answer(value: Term) -> str:  # type: ignore[no-redef]
        return "second"

    builtin(answer)
    program = Program(parse_rules("@relation at/2 . [at(?r ?x), answer(?x ?y) -> p(?y)]").rules)
    made = engine(program, WINDOWS)
    made.push(temperatures(1)[0], 1)
    assert Fact.of("p", "second") in made.advance(1).entered
