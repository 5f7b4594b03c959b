"""The LARS notation: what is read, and what is said about what cannot be."""

from __future__ import annotations

import gzip
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.languages.lars import load_lars, parse_lars, show_fact, strata
from ebbtide.languages.lars.formula import CountWindow, show_part
from ebbtide.languages.lars.groups import group_places
from ebbtide.languages.lars.lower import lower
from ebbtide.languages.lars.stream import parse_stream
from ebbtide.languages.lars.ticker import PerhapsPredicate
from ebbtide.languages.lars.unread import Unread
from ebbtide.program import Fact, ProgramError
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.terms import IRI, Literal
from ebbtide.terms.term import XSD

# One rule a line: as it may be written, and as it is printed.
NOTATIONS = {
    "q(X,Y,Z) :- a(X,Y) in [3], b(Y,Z) in [#3].": "q(X,Y,Z) :- a(X,Y) in [3], b(Y,Z) in [#3].",
    "alarm :- always isSteam in [20 s].": "alarm :- always isSteam in [20 s].",
    "@T steam(V) :- @T temp(V) in [20 s], V >= 100.": (
        "@T steam(V) :- @T temp(V) in [20 s], V >= 100."
    ),
    "freeze :- not alarm, not normal.": "freeze :- not alarm, not normal.",
    "b :- k at T, h in [t 5], l always in [# 10].": ("b :- @T k, h in [5], always l in [#10]."),
    "high at T :- alpha(V) at T [300 sec].": "@T high :- @T alpha(V) in [300 sec].",
    "third :- rec(C) [3 #], not rec(C) [2 #].": "third :- rec(C) in [#3], not rec(C) in [#2].",
    "@(T, s(V)) :- time_win(3, 0, 1, @(T, (t(V)))) and COMP(>=, V, 100).": (
        "@T s(V) :- @T t(V) in [3], V >= 100."
    ),
    "z(X) :- time_win(3, 0, 1, box(p(X))) and tuple_win(4, diamond(p(X))) and not(q).": (
        "z(X) :- always p(X) in [3], p(X) in [#4], not q."
    ),
    "@(U, h(X)) :- tuple_win(3, 0, 1, @(T, p(X))) and MATH(+, U, T, 2).": (
        "@U h(X) :- @T p(X) in [#3], U = T + 2."
    ),
    "h(X) :- time_win(2, 0, 1, p(X)) and time_win(1, 0, 1, diamond(not(s(X)))).": (
        "h(X) :- p(X), not always s(X) in [1]."
    ),
    "h(X) :- p(X) and tuple_win(2, box(not(s(X)))).": "h(X) :- p(X), not s(X) in [#2].",
    "h(X) :- tuple_win(3, p(X)) and time_win(2, 0, 1, not(q)).": (
        "h(X) :- p(X), p(X) in [#3], not q."
    ),
    "h(X) :- diamond(p(X)) and box(r(X)) and not(box(q)) and box(not(s(X))).": (
        "h(X) :- p(X) in [ever], always r(X) in [ever], not always q in [ever], not s(X) in [ever]."
    ),
    "h :- always p in [ever], some q in [ever], @T r in [ever].": (
        "h :- always p in [ever], q in [ever], @T r in [ever]."
    ),
    "h(T) :- time_win(3, 0, 1, @(T, q)) and time_win(3, 0, 1, @(T, not(p))) and @(T, not(r)).": (
        "h(T) :- @T q in [3], not @T p in [3], not @T r."
    ),
    "h :- value(V), alpha(V) at T [300 sec], leq(12,V), lt(V,18), neq(V,13), eq(T,V).": (
        "h :- value(V), @T alpha(V) in [300 sec], 12 <= V, V < 18, V != 13, T = V."
    ),
    "h(Z) :- p(X), plus(X,1,Y), times(Y,Y,U), minus(U,X,Z), incr(X,2), leqlt(X,Y,Z).": (
        "h(Z) :- p(X), Y = X + 1, U = Y * Y, Z = U - X, 2 = X + 1, X <= Y, Y < Z."
    ),
    "h(N) :- N = count { X : p(X), gt(X,2) }.": "h(N) :- N = count { X : p(X), X > 2 }.",
    "h :- p(_) not in [t 5], l always not in [3 #], k at 2 not in [1], m not at 3, e.": (
        "h :- not p(_) in [5], not always l in [#3], not @2 k in [1], not @3 m, e."
    ),
    "@-2 q(T) :- @(-3) p, @T e, @(T - 1) e.": "@-2 q(T) :- @-3 p, @T e, @(T - 1) e.",
    "q(X) :- p(X) in [tumbling 10].": "q(X) :- p(X) in [tumbling 10].",
    "q(X) :- p(X) in [#3 of p], r(X,Y) in [#1 per X].": (
        "q(X) :- p(X) in [#3 of p], r(X,Y) in [#1 per X]."
    ),
    "q(X) :- r(X,Y) in [3 per X], always r(X,Y) in [tumbling 2 s per X, Y].": (
        "q(X) :- r(X,Y) in [3], always r(X,Y) in [tumbling 2 s]."
    ),
    "q(Y) :- 3 <= X, p(X), Y = 2 * X + 1.": "q(Y) :- 3 <= X, p(X), Y = 2 * X + 1.",
    "q(Y) :- p(X), Y = -X, Y > -(3).": "q(Y) :- p(X), Y = 0 - X, Y > 0 - 3.",
    "'my flag' :- 'my p'(X) in [#2 of 'my p'], not 'my q'.": (
        "'my flag' :- 'my p'(X) in [#2 of 'my p'], not 'my q'."
    ),
    "q :- 'it''s'(X) in [#2 of 'it''s'].": "q :- 'it''s'(X) in [#2 of 'it''s'].",
    "q(X) :- X = a, p(Y), Y = X.": "q(a) :- p(Y), Y = a.",
    "q(N) :- N = count { X : p(X,_) in [5] }.": "q(N) :- N = count { X : p(X,_) in [5] }.",
    "q :- #sum{V,K:w(K,V) in [5]}>10.": "q :- sum { V, K : w(K,V) in [5] } > 10.",
    "q :- N = count { X : p(X) }, N <= 1, 0 < N.": ("q :- N = count { X : p(X) }, N <= 1, 0 < N."),
    "'été'(X) :- p(X).": "'été'(X) :- p(X).",
    "q :- p(X),X<Y,Y>3,r(Y). % c\n": "q :- p(X), X < Y, Y > 3, r(Y).",
}


@pytest.mark.parametrize("text", NOTATIONS)
def test_a_rule_is_read(text: str) -> None:
    (rule,) = parse_lars(text).rules
    assert str(rule) == NOTATIONS[text]


@pytest.mark.parametrize(
    "text",
    [
        "a :- p(X), 'leq'(X,2).",
        "a :- p(X), leq(X,2). leq(1,2).",
        "a :- p(X), leq(X,2). leq(X,Y) :- b(X,Y).",
        "a :- p(X), leq(X,2) in [3].",
        "a :- p(X), leq(X,2), b(Y), @Y leq(X,Y).",
        "a :- p(X), leq(X).",
        "a :- 'sum'(X,Y,Z), p(Z).",
        "a :- sum(X,Y,Z), p(Z). sum(1,2,3).",
    ],
)
def test_the_name_of_a_comparison_may_be_a_predicate(text: str) -> None:
    program = parse_lars(text)
    assert not program.builtins
    assert len(program.rules[0].positives) > 1 or not program.rules[0].guards[1:]


def test_what_may_be_arithmetic_is_a_predicate_if_the_input_has_it() -> None:
    for text in ("a :- sum(X,Y,Z), p(Z).", "a :- power(M,W,T), W > 3.", "a :- e, not leq(2,1)."):
        with pytest.raises(PerhapsPredicate) as caught:
            parse_lars(text)
        program = parse_lars(text, inputs={caught.value.name})
        assert not program.builtins
        assert caught.value.name in program.arities()


def test_a_variable_that_equals_a_value_is_bound_for_arithmetic() -> None:
    (rule,) = parse_lars("a(Y) :- p, 3 = X, plus(X,1,Y), leq(X,4).").rules
    assert str(rule) == "a(Y) :- p, Y = 3 + 1, 3 <= 4."


def test_predicates_that_no_rule_asks_for_are_said_once() -> None:
    unread = Unread(parse_lars("q(X) :- temp(X) in [3], not busy(X), n(N), N > 1. r :- q(_)."))
    assert not any(map(unread.met, ("temp", "busy", "n")))
    hint = "; did you mean temp?"
    assert unread.met("tmep") == f"no rule asks for tmep, so its atoms have no effect{hint}"
    assert unread.met("tmep") is None
    assert unread.met("wind") == "no rule asks for wind, so its atoms have no effect"
    assert unread.met("triple") == "no rule asks for triples, so they have no effect"
    said = [unread.met(f"other{number}") for number in range(9)]
    assert said[2:] == ["there are more predicates that no rule asks for", *(None,) * 6]


def test_a_predicate_without_its_prefix_is_told_with_it() -> None:
    body = "ex:temp(X,V) in [3], ex:office(X), <http://other/in>(X,_), triple(X,_,_)"
    unread = Unread(parse_lars(f"@prefix ex: <http://e/>. ex:hot(X,V) :- {body}."))
    for name, meant in (
        ("temp", "; did you mean ex:temp?"),
        ("office", "; did you mean ex:office?"),
    ):
        said = f"no rule asks for {name}, so its atoms have no effect"
        assert unread.met(name) == said + meant
    assert unread.met("wind") == "no rule asks for wind, so its atoms have no effect"


def test_a_count_window_over_the_whole_stream_asks_for_all_predicates() -> None:
    for window, is_said in (("[#3]", False), ("[#3 of p]", True), ("[#3 per X]", True)):
        for body in (f"p(X) in {window}", f"e, not p(_) in {window}".replace("per X", "of p")):
            assert bool(Unread(parse_lars(f"q :- {body}.")).met("other")) is is_said


def test_no_stream_states_what_is_read_as_a_comparison() -> None:
    program = parse_lars("a(X) :- p(X), leq(2,X).")
    message = "1:3: leq is read as a comparison or arithmetic in the program; in quotes, 'leq'"
    with pytest.raises(ProgramError, match=re.escape(message)):
        list(parse_stream(["0\tleq(1,2)."], program=program))
    assert program.misfit(Fact.of("leq", 1, 2)) is not None


def test_triples_and_atoms_mix() -> None:
    program = parse_lars(
        """
        @prefix ex: <http://example/>.
        ex:isIn(X,Z) :- triple(X, ex:isIn, Y) in [5], ex:isIn(Y,Z), ex:Room(Z).
        """
    )
    (rule,) = program.rules
    assert {part.atom.relation for part in rule.atoms()} == {"triple"}
    (isin,) = parse_lars('@prefix ex: <http://example/>. ex:isIn(a, "b").').background
    assert show_fact(isin, program.prefixes) == 'ex:isIn(a,"b")'


def test_facts_are_background() -> None:
    program = parse_lars('p(a). p("a"). p(-3.5). p(1e3). alarm. /* no */ %* nor this *%')
    assert [show_fact(fact) for fact in program.background] == [
        "p(a)",
        'p("a")',
        "p(-3.5)",
        "p(1e3)",
        "alarm",
    ]


def test_what_is_printed_is_read_back() -> None:
    true = Literal("true", XSD + "boolean")
    quote = IRI("http://e/it's")
    for fact in (
        Fact("p", (IRI("true"), true, IRI("false"), quote)),
        *(Fact(name, (IRI("a"),)) for name in ("it's", "p'", "'", "''a''", "true", "")),
    ):
        assert parse_lars(f"{show_fact(fact)}.").background == (fact,)
        assert list(parse_stream([f"0\t{show_fact(fact)}."])) == [(0, [fact])]
    assert parse_lars("p('http://e/it''s').").background == (Fact("p", (quote,)),)


def test_prefixes_may_be_empty_and_names_begin_with_digits() -> None:
    text = "@prefix : <http://e/>. @prefix ex: <http://x/>. "
    program = parse_lars(text + "q(:a,ex:7). n(N) :- N = count{X:p(X), :in(X,:7b)}, not :Room(:a).")
    (fact,), (rule,) = program.background, program.rules
    assert fact == Fact.of("q", "<http://e/a>", "<http://x/7>")
    assert show_fact(fact, program.prefixes) == "q(:a,ex:7)"
    assert (
        rule.collected
        == parse_lars("n(N) :- N = count { X : p(X), triple(X,<http://e/in>,<http://e/7b>) }.")
        .rules[0]
        .collected
    )
    assert show_part(rule.denied[0], program.prefixes) == "not :Room(:a)"
    ((_, facts),) = parse_stream(["0\tq(:a,ex:7)."], program=program)
    assert facts == [fact]


@pytest.mark.parametrize(
    ("window", "places"),
    {
        "[#2]": (),
        "[#2 of triple]": (),
        "[#2 of it]": (1,),
        "[#2 of <http://e/in>]": (1,),
        "[#2 per X]": (0, 1),
        "[#2 of triple per X]": (0,),
    }.items(),
)
def test_a_count_window_is_of_the_predicate_of_a_triple(
    window: str, places: tuple[int, ...]
) -> None:
    (rule,) = parse_lars(f"q(X) :- <http://e/in>(X,Y) in {window}.").rules
    (part,) = rule.positives
    assert isinstance(part.window, CountWindow)
    assert group_places(part.atom, part.window) == places
    assert parse_lars(str(rule)).rules == (rule,)


def test_iris_stand_behind_words() -> None:
    for word in ("not ", "always ", "box ", "some ", "diamond ", "p(X) and "):
        (rule,) = parse_lars(f"q(X) :- r(X), {word}<http://e/p>(X,_) in [1], X <7, X<7.").rules
        assert "triple(X,<http://e/p>,_) in [1], X < 7, X < 7." in str(rule)


def test_iris_stand_behind_time_points() -> None:
    text = "@prefix e: <http://e/>. {} e:p(X,Y) :- @U e:q(X,Y), {} e:r(X,Y), U <7, (U + 1) <9."
    for point in ("@U", "@7", "@-1", "@(U + 1)", "@((U))", "@-(U * (1 + U))"):
        short = parse_lars(text.format(point, point))
        in_full = str(short).replace("triple(X,<http://e/", "<http://e/").replace(">,Y)", ">(X,Y)")
        assert parse_lars(in_full).rules == short.rules
        assert "<http://e/r>(X,Y)" in in_full
    for text in ("@(T, p) <- @(T, e).", "@(T, p(X,1)) <-@(T, e(X)),X>1."):
        assert parse_lars(text).rules == parse_lars(text.replace("<-", ":-")).rules


def test_lines_of_comments_are_left_out_of_streams() -> None:
    lines = ["% one", "  % two", "// three", " \t ", "0\tp. % four", "1\tp. // five"]
    assert [at for at, _ in parse_stream(lines)] == [0, 1]


def test_tags_of_languages_have_hyphens_and_no_case() -> None:
    text = 'p("a"@EN). p("a"@en-GB). p("a"@de-CH-1996).'
    shown = ['p("a"@en)', 'p("a"@en-gb)', 'p("a"@de-ch-1996)']
    assert [show_fact(fact) for fact in parse_lars(text).background] == shown
    ((_, facts),) = parse_stream([f"0\t{text}"])
    assert [show_fact(fact) for fact in facts] == shown
    (rule,) = parse_lars('q(X) :- p(X), X != "a"@en-GB, "b"@fr!=X, r(7-2).').rules
    assert str(rule) == 'q(X) :- p(X), X != "a"@en-gb, "b"@fr != X, r(7 - 2).'


ERRORS = {
    "q(X) :- not p(X).": "1:13: X occurs under `not` only",
    "q(X) :- p(Y).": "1:1: X is in the head",
    "@T q :- p.": "1:1: nothing in the body binds the time point T",
    "q(X) :- p(X),\n p(X,X).": "2:2: the predicate p has 2 arguments here and 1 at",
    "p(X) :- q(X).\nr(X) :- p(X) in [#3].": "2:9: a count window counts the atoms of the input",
    "p(a).\n p(a,b).": "2:2: the predicate p has 2 arguments here and 1 at p.lars:1",
    "q(X) :- triple(X,Y).": "1:9: the predicate triple has 2 arguments here and 3 everywhere",
    "@prefix e: <http://e/>.\ne:a(X,1) :- e:b(X,_).\nq :- e:a(_,_) in [#2].": (
        "3:6: a count window counts the atoms of the input, and e:a is concluded by a rule"
    ),
    "@prefix e: <http://e/>.\nq :- e:a(_,_) in [#2 of e:b].": "2:25: expected `of e:a`",
    "a :- :p(X,Y).": "1:6: the prefix : is not declared",
    "q(X :- p(X).": "1:5: expected ), found `:-`",
    "a :- p(X), Y > X.": "1:12: Y is compared or computed with",
    "a :- always p.": "1:13: `always` looks into a window",
    "a :- p in [3 hrs].": "1:14: unknown unit hrs; did you mean hours?",
    "q(X).": "1:1: X is a variable, and a fact has none",
    "a :- ex:p(X).": "1:6: the prefix ex: is not declared",
    "a :- p(X) in [#2 per Y].": "1:22: expected a variable of the atom after `per`",
    "a :- p(X) in [2 s per Y].": "1:23: expected a variable of the atom after `per`",
    "a :- p in [#0].": "1:11: expected a count window of at least 1 atom",
    "a :- b": "1:7: expected a full stop, found the end of the text",
    'a :- "x.': "1:6: this string is not closed on its line",
    'a :- p("x\\q").': "1:8: a backslash in a string begins one of",
    "a :- p(X), X < 99999999999999999999.": "1:12: 99999999999999999999 is no integer of 64 bits",
    "a(Y) :- p(X), Y = X + 9223372036854775808.": "9223372036854775808 is no integer of 64 bits",
    f"a :- p(X), X < {'9' * 5_000}.": "9999 is no integer of 64 bits",
    "a :- p(X), X < 999999999999999999999.5.": "1:12: 999999999999999999999.5 is no decimal of",
    "a :- p(X), 0.1234567890123456789 <= X.": "1:12: 0.1234567890123456789 is no decimal of",
    "a(Y) :- p(X), Y = X * 999999999999999999999.5.": "999999999999999999999.5 is no decimal of",
    'a :- p(X), X > "2023-02-29"^^xsd:date.': '1:12: "2023-02-29"^^<http://www.w3.org/2001/XML'
    "Schema#date> is no day of the calendar",
    'a :-\n p(X), X > "2023-02-28T25:00:00"^^xsd:dateTime.': '2:8: "2023-02-28T25:00:00"^^<http:'
    "//www.w3.org/2001/XMLSchema#dateTime> is no instant",
    'a :- p(X), X > "seven"^^xsd:int.': "is no integer of 64 bits",
    'a :- p(X), X > "seven"^^xsd:double.': "is no double",
    'a :- p(X), X > "yes"^^xsd:boolean.': "is neither true nor false",
    'a :- p(X), "b"@fr<X.': '1:12: "b"@fr has no value to compare: strings with a language',
    'a :- p(X), X < "P1D"^^xsd:duration.': "has no value to compare: literals of its datatype",
    'a(Y) :- p(X), Y = X + "1".': '1:15: "1" is no number to compute with',
    "a :- 99999999999999999999999 < count { X : p(X) }.": "is no integer of 64 bits",
    "a :- b ; c.": "1:8: expected a comma: there is no disjunction",
    "a :- b or c.": "1:8: expected a comma: there is no disjunction",
    "a :- b | c.": "1:8: there is no disjunction",
    "a, b :- c.": "1:2: expected a full stop or `:-`: a rule has one head",
    "a :- \\+ c.": "1:6: `not` denies an atom",
    "a :- p(X), not X = 2.": "1:16: expected an atom: a comparison has an opposite, as X != 2",
    "a :- p(X), not (2 < X).": "1:17: expected an atom: a comparison has an opposite",
    "a(f(X)) :- p(X).": "1:3: expected a term: there are no functions, found `f`",
    "a(N) :- N = count { p(X) }.": "1:21: expected a variable, as in count { X : p(X) }",
    "a :- ?x.": "1:6: a variable begins with a capital letter",
    "a :- N = count { X : p(Y) }.": "1:6: X is not bound by a positive atom within",
    "r(X,N) :- e(X), N = count { Y : p(Y), Y != X }.": (
        "1:39: X is compared or computed with, but no positive atom within the braces binds it"
    ),
    "a(N) :- N = count { M : b(M), M = sum { X : c(X) } }.": "an aggregate cannot stand",
    "a(R) :- r(R), 0 = count { S : p(R,S) in [3] }.": "1:15: a group of nothing has no count",
    "a :- #count { S : p(S) } < 1.": "1:6: a group of nothing has no count, so that one is never",
    "a :- N = count { S : p(S) }, 0 >= N.": "1:30: a group of nothing has no count",
    "été(X) :- p(X).": "1:1: unexpected character 'é': names with other letters than a to z stand",
    "q(X) :- p(X), .": "1:15: expected an atom or a comparison, found `.`",
    "q(X) :- p(X), (r(X)).": "1:15: expected an atom or a comparison: brackets stand around terms",
    "q(X) :- p(X), not (r(X), s(X)).": "1:24: expected ): `not` denies one atom, found `,`",
    "q(X) :- p(X), X =< 3.": "1:18: expected a term (a comparison is <=), found `<`",
    "q(X) :- p(X), X => 3.": "1:18: expected a term (a comparison is >=), found `>`",
    "q(X) :- p(X), X is 3.": "1:17: expected an atom or a comparison, such as X = 3, found `is`",
    "q(X) :- p(X) & r(X).": "1:14: a comma joins the parts of a body",
    "q(X) :- p(X), !.": "1:15: `not` denies an atom, and != says that two terms differ; there is",
    "q(X) :- ~p(X).": "1:9: `not` denies an atom",
    "q :- ⊞3 ◇ p.": "1:6: write p(X) in [3], always p(X) in [3], @T p(X) in [3]",
    "q :- [3] p.": "1:6: expected an atom or a comparison: a window stands behind its atom",
    "q :- always[3] p.": "1:16: expected a full stop or a comma: a window stands behind its atom",
    "q :- p, r in [3] s(1).": "1:18: expected a full stop or a comma: a window stands behind",
    "q :- p in [2 weeks].": "1:14: unknown unit weeks; there are ms, s, min, h and d",
    "@T+1 q :- @T p.": "1:3: expected an atom: arithmetic needs brackets, as in @(T + 1), found",
    "q :- p at T - 1.": "1:13: expected an atom: arithmetic needs brackets, as in @(T + 1), found",
    "q :- @T p, not @(T - 1 min) p.": "1:24: expected ), found `min`; units stand in windows, and",
    "q(N) :- N = count(X : p(X)).": "there are no functions, and braces in count { X : p(X) }",
    "q :- @T p in [3], T = now.": "1:19: T is a time point, a number, and never now; of this time",
    "q(N) :- N = count { T : @T p, now = T }.": "1:31: T is a time point, a number, and never now",
    "q :- p. /* open": "1:9: this comment is not closed",
    "q(V) :- p(V), V > limit.": "1:15: limit is a constant without a value to compare",
    "q(V) :- p(V), limit(V), W = limit * 2, V < W.": "1:25: limit is a constant without a value",
    "a :- time_win(3, 0, 2, box(b)).": "1:6: only time_win(n, 0, 1, ...)",
    "a :- not p not in [3].": "1:10: there is one `not` at most in front of an atom",
    "a :- not tuple_win(3, p).": "1:10: tuple_win(n, p) says two things",
    "a :- tuple_win(3, not(p)).": "1:6: tuple_win(n, p) says two things",
    "a :- q(T), @(T, not(p)).": "1:21: @(T, not(p)) is read where another @(T, ...)",
    "a :- @(T, q), time_win(2, 0, 1, @(T, not(p))).": "1:42: @(T, not(p)) is read where another",
    "@(T, not(p)) :- @T q.": "1:10: a head is p(X) or @T p(X), without not",
    "a :- box(not(not(p))).": "1:10: there is one `not` at most in front of an atom",
    "a :- always not(p) in [3].": "1:13: expected an atom: `not` stands in front of it",
    "import foo.Bar as b\na :- p in [b 3].": "1:1: `import` loads classes of Ticker for windows",
    "a :- p in [bar 5].": "1:12: expected a window, such as [3], [20 s], [tumbling 3], [#3] or",
    "a :- p in [t 3,4,5].": "1:15: expected ]: a window has one size, found `,`",
    "a :- p(X), X = 2 ^ 3.": "1:18: there is no power; X * X is a square",
    "a(Y) :- p(X), Y = X % 2.": "expected a full stop, found the end of the text; % begins a comm",
    "a(Y) :- p(X), Y = X % 2.\nb :- a(1).": "2:1: expected a full stop, found `b`; % begins a",
    "a :- p(X), modulo(X, 2, 0).": "1:12: there is no remainder; in quotes, 'modulo'(...) is a",
    "a :- p(X), power(X, 2, 4).": "1:12: there is no power; X * X is a square; in quotes",
    "a :- p(X), divide(X, 2, 4).": "1:12: there is no division of whole numbers, but Z = X / Y",
    "a :- p(X), not leq(X, 2).": "1:16: a comparison has an opposite, as X != 2, and leq(X, 2) is",
    "a :- p(X), leq(Y, X).": "1:12: Y is compared, but no positive atom binds it; in quotes, 'leq'",
    "a :- p(Z),\n sum(X,Y,Z).": (
        "2:2: X is computed with, but no positive atom binds it; in quotes, 'sum'(...) is"
    ),
    "a(N) :- N = count { Z : p(Z), incr(X,Z) }.": "1:31: X is computed with, but no positive atom",
    "a :- p(X), plus(X,Y,Z), plus(Z,1,Y).": "1:12: Y is computed with, but no positive atom binds",
    "a :- power(M,W,T), W > 3.": "1:6: there is no power; X * X is a square; in quotes, 'power'",
    "a :- p(X), MATH(=, Y, X, 2).": "1:17: expected one of + - * /, found `=`",
    "a(N) :- N = median { X : p(X) }.": "1:13: unknown aggregate median; there are avg, count",
    "a :- #COUNT{ X : p(X) } > 1.": "1:7: unknown aggregate COUNT; there are avg, count",
    ":- p, q.": "1:1: a rule has a head; what must not be is `no :- ..., not no.`",
    "always p in [2] :- e.": "1:1: a head is p(X) or @T p(X), without always",
    "not p :- e.": "1:1: a head is p(X) or @T p(X), without not",
    "a :- b.\np in [2] :- e.": "2:3: a head has no window",
    "a :- p, P(x).": "1:9: expected an atom (predicates begin with a small letter, variables",
    "A(x) :- p(x).": "1:1: expected an atom (predicates begin with a small letter, variables",
    "a :- " + "(" * 200 + "X" + ")" * 200 + " > 1, p(X).": "too many brackets",
}


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_has_its_place_and_a_hint(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse_lars(text, "p.lars")
    assert ERRORS[text] in str(caught.value)
    assert str(caught.value).startswith("p.lars:")


def test_a_file_that_cannot_be_read_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "p.lars").write_bytes(b"a :- p.\nb :- \xff.\n")
    with pytest.raises(ProgramError, match=r"p\.lars:2:6: the text is not UTF-8"):
        load_lars(tmp_path / "p.lars")
    with pytest.raises(ProgramError, match=r"q\.lars:1:1: cannot read the program: No such file"):
        load_lars(tmp_path / "q.lars")
    (tmp_path / "p.lars.gz").write_bytes(gzip.compress(b"a :- p."))
    with pytest.raises(
        ProgramError, match=r"p\.lars\.gz:1:1: the file is gzip'd; unpack the progr"
    ):
        load_lars(tmp_path / "p.lars.gz")


def test_a_long_sum_is_read_in_no_time() -> None:
    started = time.process_time()
    (rule,) = parse_lars(f"q(Y) :- p(X), Y = {' + '.join(['X'] * 2_000)}.").rules
    assert len(rule.guards) == 1_999
    assert time.process_time() - started < 5


def test_a_body_is_not_too_long_for_the_kernel() -> None:
    too_long = " + ".join(["X"] * 20_000)
    with pytest.raises(ProgramError, match=r"^p.lars:1:1: a body has at most 2,500 parts.*20,000"):
        parse_lars(f"q(Y) :- p(X), Y = {too_long}.", "p.lars")
    with pytest.raises(ProgramError, match="a body has at most"):
        parse_lars(f"q(N) :- N = count {{ Y : p(X), Y = {too_long} }}.")
    atoms = ", ".join(f"p{i}(X) in [{i}]" for i in range(1_001))
    with pytest.raises(ProgramError, match=r"^p.lars:2:1: a body has at most 1,000 atoms.*1,001;"):
        parse_lars(f"\nq(X) :- {atoms}.", "p.lars")
    longest = " + ".join(["X"] * 2_500)
    reasoner = LarsReasoner(f"q(Y) :- p(X), Y = {longest}.")
    reasoner.push("p(1).", at=0)
    assert [answer.texts() for answer in reasoner.advance(to=0)] == [["q(2500)"]]


def test_dates_decimals_and_other_terms_are_compared() -> None:
    reasoner = LarsReasoner(
        'q(X) :- p(X), X > "2024-02-29"^^xsd:date. q(X) :- p(X), X > 99999999999999999999.5.'
        ' q(X) :- p(X), X = "2023-02-30"^^xsd:date. q(X) :- p(X), X != X.'
    )
    atoms = [
        *('"2024-03-01"^^xsd:date', '"2024-02-30"^^xsd:date', '"2023-02-30"^^xsd:date'),
        *("99999999999999999999.75", "999999999999999999999.5", "1e30", "oslo"),
    ]
    reasoner.push(" ".join(f"p({atom})." for atom in atoms), at=0)
    (answer,) = reasoner.advance(to=0)
    # What has no value, in data, is compared with nothing but itself.
    assert [text for text in answer.texts() if "Schema" not in text] == [
        "q(1e30)",
        "q(99999999999999999999.75)",
    ]
    assert [text[3:13] for text in answer.texts() if "Schema" in text] == [
        "2023-02-30",
        "2024-03-01",
    ]


def test_a_window_is_not_longer_than_time() -> None:
    for window in ("999999999999 d", "tumbling 999999999999 d", "999999999999"):
        program = parse_lars(f"a :- always p in [{window}].", "p.lars")
        with pytest.raises(ProgramError, match=r"1:13: 999999999999.* is longer than time"):
            lower(program, 0, 10**7, tick=10**7)


def test_a_cycle_through_not_is_printed() -> None:
    with pytest.raises(ProgramError) as caught:
        strata(parse_lars("a :- not b in [3].\nb :- c, not a.", "p.lars"))
    assert "r1 (p.lars:1) depends through `not` on r2 (p.lars:2)" in str(caught.value)


def test_a_cycle_is_printed_in_the_notation_of_the_program() -> None:
    with pytest.raises(ProgramError, match=r"by not b\(_\)"):
        strata(parse_lars("a(X) :- p(X), not b(X).\nb(X) :- p(X), not a(X)."))
    with pytest.raises(ProgramError, match=r"by not b;\n.*by not a$"):
        strata(parse_lars("a :- p, not b.\nb :- p, not a."))


def test_an_aggregate_of_its_own_result_is_refused_where_it_stands() -> None:
    program = parse_lars("a(N) :- N = count { X : b(X) }.\nb(X) :- a(X).", "p.lars")
    with pytest.raises(ProgramError) as caught:
        lower(program, 0)
    assert str(caught.value) == (
        "p.lars:1:9: this count rests on its own result: what it collects depends on a, which it "
        "helps to conclude"
    )


STREAM_ERRORS = {
    "41 p(a).": "1:1: a line of a stream is an instant, a TAB and atoms",
    "1\tp(a).\n0\tp(a).": "2:1: time goes back from 1 to 0",
    "x\tp(a).": "1:1: ",
    "41\tp(a) q(b).": "1:9: expected a full stop",
    "41\tp(X).": "1:4: X is a variable, and a fact has none; constants begin with a small letter",
}


@pytest.mark.parametrize("text", STREAM_ERRORS)
def test_a_bad_line_of_a_stream_has_its_place(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        list(parse_stream(text.splitlines(), "s.atoms"))
    assert f"s.atoms:{STREAM_ERRORS[text]}" in str(caught.value)


PIECES = st.sampled_from(
    (
        *"().,[]{}@#+-*/:;<>=!\"'%_ \n",
        *(":-", "p", "X", "T", "not", "always", "in", "at", "count", "ex:p", "12", "3.5", "of"),
        *("@prefix ex: <http://e/>.", "<http://e/a>", "per", "tumbling", "p(X)", "q(X) :- p(X)."),
        *("not(", "@(", "tuple_win(", "[ever]", "leq(", "sum(", "import ", "^"),
        *("[3]", "[#2]", "time_win(", "box(", "diamond(", "COMP(", "and", "9" * 20),
    )
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=14).map("".join)))
def test_any_text_is_a_program_or_an_error(text: str) -> None:
    for parse in (parse_lars, lambda each: list(parse_stream([f"1\t{each}"]))):
        with suppress(ProgramError):
            parse(text)


def test_a_fingerprint_tells_programs_apart_and_not_their_places() -> None:
    texts = (
        "q(Z) :- p(X), Y = X * 2 + X * 3, Z = Y + 1.",
        "q(Z) :- p(X), Y = X * 3 + X * 2, Z = Y + 1.",
        "q(Z) :- p(X), Y = X * 2 + X * 3, Z = Y + 1. p(a).",
        "q(Z) :- p(X), Y = X * 2 + X * 3, Z = Y + 1. p(b).",
    )
    found = {parse_lars(text).fingerprint for text in texts}
    assert len(found) == len(texts)
    assert {parse_lars(f"% again\n{text}", "p.lars").fingerprint for text in texts} == found
