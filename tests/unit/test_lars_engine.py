"""The LARS engine: Arrow in and out, in any mixture with facts and single ticks."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide.engines.lars import EVER_MEMORY, LarsEngine
from ebbtide.engines.protocol import LateFact
from ebbtide.languages.lars import parse_atoms, parse_lars, show_fact
from ebbtide.program import Fact
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.terms import parse_term

pa = pytest.importorskip("pyarrow")

PROGRAM = """
    last(X) :- p(X,_) in [#3].
    when(T) :- @T p(_,_) in [#2].
    own(X) :- p(X,_) in [#1 per X].
    seen(X,Y) :- p(X,Y) in [2].
    copy(X,Y) :- p(X,Y) in [2].
    again(X,Y) :- copy(X,Y).
    steady(X,Y) :- always p(X,Y) in [1].
    @T mark(X) :- @T p(X,_) in [1], not q(X).
    marked(X) :- mark(X) in [1].
    calm(X) :- always p(X,_) in [#2].
    calmer(X,Y) :- always p(X,Y) in [#2 of p].
    calmest(X,Y) :- always p(X,Y) in [#2 per X].
    there(T) :- @T q(z) in [#2].
    q(z).
"""
ATOMS = {
    0: "p(a,b). q(c).",
    1: "p(a,b). p(c,d).",
    2: "q(a).",
    4: "p(c,d). p(c,e). p(d,e). q(d).",
    5: "p(c,d).",
    9: "",
}
LAST = 9


def table(predicate: str, first: int, last: int) -> tuple[Any, list[str]]:
    rows = [
        (at, fact.terms)
        for at, text in ATOMS.items()
        for fact in parse_atoms(text, "", {})
        if first <= at <= last and fact.relation == predicate
    ]
    arity = {"p": 2, "q": 1}[predicate]
    names = [f"c{place}" for place in range(arity)]
    columns = [
        pa.array([terms[place].text for _, terms in rows], pa.string()) for place in range(arity)
    ]
    return pa.table([pa.array([at for at, _ in rows], pa.int64()), *columns], ["t", *names]), names


def by_ticks() -> dict[int, set[str]]:
    engine = LarsEngine(parse_lars(PROGRAM), start=0)
    found = {}
    for at in range(LAST + 1):
        for fact in parse_atoms(ATOMS.get(at, ""), "", {}):
            engine.take(fact, at)
        found[at] = {show_fact(fact) for fact in engine.tick().atoms or ()}
    return found


def rows(predicate: str, answers: Any) -> list[tuple[int, int, str]]:
    found = []
    for row in pa.table(answers).to_pylist():
        at, diff = row.pop("t"), row.pop("diff", 1)
        found.append((at, diff, show_fact(Fact(predicate, tuple(map(parse_term, row.values()))))))
    return found


# How the time points up to each are answered.
@pytest.mark.parametrize(
    "steps",
    [
        [(9, "full")],
        [(0, "full"), (3, "full"), (9, "full")],
        [(2, "full"), (4, "tick"), (9, "full")],
        [(1, "changes"), (5, "full"), (7, "changes"), (9, "full")],
        [(4, "changes"), (9, "changes")],
    ],
)
def test_tables_and_ticks_mix(steps: list[tuple[int, str]]) -> None:
    expected = by_ticks()
    engine = LarsEngine(parse_lars(PROGRAM), start=0)
    held: set[str] = set()
    first = 0
    for last, how in steps:
        for predicate in ("p", "q"):
            data, names = table(predicate, first, last)
            assert engine.feed(data, predicate, "t", names).late == []
        if how == "tick":
            for at in range(first, last + 1):
                held = {show_fact(fact) for fact in engine.tick().atoms or ()}
                assert held == expected[at], at
        else:
            told = [
                row
                for predicate, answers in engine.play(last, full=how == "full").items()
                for row in rows(predicate, answers)
            ]
            for at in range(first, last + 1):
                now = [(diff, atom) for then, diff, atom in told if then == at]
                if how == "full":
                    held = {atom for _, atom in now}
                else:
                    held -= {atom for diff, atom in now if diff < 0}
                    held |= {atom for diff, atom in now if diff > 0}
                assert held == expected[at], at
        first = last + 1


OUTSIDE = "@T early(X) :- p(X), T = X - 1.\nseen(X) :- p(X) in [2]."


@pytest.mark.parametrize("full", [True, False])
def test_tables_know_time_points_without_an_answer(full: bool) -> None:
    atoms = {1: "p(1).", 2: "p(0).", 3: "p(2).", 4: "p(9).", 6: "p(5)."}
    engine = LarsEngine(parse_lars(OUTSIDE), start=0)
    expected = []
    for at in range(8):
        for fact in parse_atoms(atoms.get(at, ""), "", {}):
            engine.take(fact, at)
        expected.append(engine.tick())
    engine = LarsEngine(parse_lars(OUTSIDE), start=0)
    held: set[str] = set()
    for first, last in ((0, 1), (2, 2), (3, 7)):
        points = [at for at in atoms if first <= at <= last]
        numbers = pa.array([int(atoms[at][2:-2]) for at in points], pa.int16())
        engine.feed(pa.table({"t": pa.array(points, pa.int64()), "x": numbers}), "p", "t", ["x"])
        told = [
            row
            for predicate, answers in engine.play(last, full=full).items()
            for row in rows(predicate, answers)
        ]
        for at in range(first, last + 1):
            now = [(diff, atom) for then, diff, atom in told if then == at]
            held = set() if full else held - {atom for diff, atom in now if diff < 0}
            held |= {atom for diff, atom in now if diff > 0}
            answer = expected[at]
            assert held == {show_fact(fact) for fact in answer.atoms or ()}, at
            assert (at in engine.without_answer) == (answer.atoms is None), at
    assert [answer.t for answer in expected if answer.atoms is None] == [2, 4]


@pytest.mark.parametrize("full", [True, False])
def test_terms_that_left_are_forgotten(full: bool) -> None:
    engine = LarsEngine(parse_lars("q(X) :- p(X) in [1]."), start=0)
    sizes = set()
    for first in range(0, 200, 10):
        points = range(first, first + 10)
        terms = [f"<a{point}>" for point in points]
        engine.feed(pa.table({"t": list(points), "x": terms}), "p", "t", ["x"])
        engine.play(first + 9, full=full)
        sizes.add(engine.stats()["terms"])
    assert max(sizes) <= 30


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("others", [0, 500])
def test_tables_name_their_terms_however_many_others_there_are(others: int, full: bool) -> None:
    # Five columns are more than the kernel has at hand in a row.
    program = (
        "q(X,Y) :- p(X,Y) in [1]. wide(X,Y,X,Y,X) :- q(X,Y). twice(X) :- q(X,X). none :- q(_,_)."
    )
    known = " ".join(f"known(k{number})." for number in range(others))
    engine = LarsEngine(parse_lars(f"{program} old(X) :- known(X). {known}"), start=0)
    for first in range(0, 12, 4):
        expected: dict[str, list[tuple[int, ...]]] = {"q": [], "wide": [], "twice": [], "none": []}
        data = pa.table(
            {
                "t": pa.array(range(first, first + 4), pa.int64()),
                "x": [f"<{number}>" for number in range(first, first + 4)],
                "y": [f"<{number // 2 * 2}>" for number in range(first, first + 4)],
            }
        )
        engine.feed(data, "p", "t", ["x", "y"])
        told = {
            name: pa.table(found).to_pydict()
            for name, found in engine.play(first + 3, full=full).items()
        }
        for at in range(first, first + 4):
            for number in (at - 1, at) if full else (at, at - 2):
                if number < 0:
                    continue
                row = (f"<{number}>", f"<{number // 2 * 2}>")
                sign = () if full else (1 if number == at else -1,)
                expected["q"].append((at, *row, *sign))
                expected["wide"].append((at, *row, *row, row[0], *sign))
                if number % 2 == 0:
                    expected["twice"].append((at, row[0], *sign))
            if full or at == 0:
                expected["none"].append((at, *(() if full else (1,))))
        for name, rows in expected.items():
            assert sorted(zip(*told[name].values(), strict=True)) == sorted(rows), name


def test_what_comes_late_is_told() -> None:
    engine = LarsEngine(parse_lars("q(X) :- p(X) in [1]."), start=0)
    engine.tick()
    with pytest.raises(LateFact):
        engine.take(Fact.of("p", 1), at=0)
    data = pa.table({"t": [0, 1], "x": ['"a"', '"b"']})
    assert engine.feed(data, "p", "t", ["x"]) == ([0], 1)
    assert len(engine.tick().atoms or ()) == 1


def test_what_no_stream_can_state_is_refused() -> None:
    engine = LarsEngine(parse_lars("q(X) :- p(X) in [1]."), start=0)
    for fact, message in (
        (Fact.of("q", 1), "concluded by rules"),
        (Fact.of("p"), "1 argument, not 0"),
    ):
        with pytest.raises(ValueError, match=message):
            engine.take(fact, at=0)


def test_a_copy_is_explained_by_its_rule() -> None:
    reasoner = LarsReasoner("again(X) :- copy(X).\ncopy(X) :- p(X) in [2].")
    reasoner.push("p(a).", at=3)
    reasoner.advance(to=4)
    assert reasoner.why("again(a)").splitlines() == [
        "again(a) until 6: by r1 (<text>:1:1)",
        "  copy(a) until 6: by r2 (<text>:2:1)",
        "    p(a) in [2] until 6: input at 3",
    ]


def test_background_is_explained_as_such() -> None:
    program = parse_lars(
        "k(a). q(T) :- @T k(X) in [2]. r(X) :- always k(X) in [#2]. s(T) :- @T k(X) in [#2 of k]."
    )
    engine = LarsEngine(program, start=0)
    engine.tick()
    for atom, part in (
        (Fact.of("q", 0), "@0 k(a) in [2] until 3"),
        (Fact.of("r", "<a>"), "always k(a) in [#2]"),
        (Fact.of("s", 0), "@0 k(a) in [#2 of k]"),
    ):
        assert str(engine.explain_atom(atom)).splitlines()[1] == f"  {part}: background"


def test_a_conclusion_in_the_past_is_explained_with_its_time() -> None:
    reasoner = LarsReasoner(
        "@T hot :- @T temp(V) in [2], V > 30.\nalarm :- always hot in [1], not off."
    )
    reasoner.push("temp(31).", at=1)
    reasoner.push("temp(40).", at=2)
    reasoner.advance(to=2)
    assert reasoner.why("alarm").splitlines() == [
        "alarm: by r2 (<text>:2:1)",
        "  always hot in [1]: at every time point from 1 to 2",
        "  not off: not at 2",
    ]
    assert reasoner.why("hot").splitlines() == [
        "hot until 3: because",
        "  @2 hot until 5: by r1 (<text>:1:1)",
        "    @2 temp(40) in [2] until 5: input",
    ]


def test_a_time_point_at_which_nothing_changes_derives_nothing() -> None:
    engine = LarsEngine(
        parse_lars(
            """
            seen(X) :- p(X) in [100].
            @T warm(X) :- @T p(X) in [100].
            calm(X) :- seen(X), not q(X) in [100].
            known(X) :- always base(X) in [5], seen(X).
            base(a).
            """
        ),
        start=0,
    )
    for fact in parse_atoms("p(a). p(b). q(b).", "", {}):
        engine.take(fact, 0)
    for _ in range(10):
        engine.tick()
    before = engine.stats()
    for _ in range(20):
        answer = engine.tick()
        assert {show_fact(fact) for fact in answer.atoms or ()} == {
            *("seen(a)", "seen(b)", "calm(a)", "known(a)")
        }
        assert not answer.entered
        assert not answer.left
    after = engine.stats()
    assert after["derivations"] == before["derivations"]


def test_a_box_begins_by_itself_and_is_not_derived_again_while_it_lasts() -> None:
    engine = LarsEngine(
        parse_lars("on(X) :- always p(X) in [3], k(X). off :- k(_), not on(_). k(a)."), start=0
    )
    engine.tick()
    derived = []
    for now in range(1, 20):
        if now < 15:
            engine.take(Fact.of("p", "<a>"), now)
        before = engine.stats()["derivations"]
        answer = engine.tick()
        derived.append(engine.stats()["derivations"] - before)
        assert answer.texts() == (["on(a)"] if 4 <= now < 15 else ["off"])
    assert derived == [0, 0, 0, 1, *(0,) * 10, 1, *(0,) * 4]


def test_every_kind_of_window_is_explained_with_its_times() -> None:
    reasoner = LarsReasoner(
        """
        q(X) :- a(X) in [3], a(X) in [tumbling 4], a(X) in [#9], a(X) in [#2 of a],
                a(X) in [#2 per X], always a(X) in [1], @T a(X) in [2], known(X) in [#1], T > 5.
        known(x).
        """
    )
    for at in (5, 6, 7):
        reasoner.push("a(x).", at=at)
        reasoner.advance(to=at)
    assert [line.strip() for line in reasoner.why("q(x)").splitlines()[1:]] == [
        "a(x) in [3] until 11: input at 7",
        "a(x) in [tumbling 4] until 8: input at 5",
        "a(x) in [#9]: input at 5, 6, 7",
        "a(x) in [#2 of a]: input at 6, 7",
        "a(x) in [#2 per X]: input at 6, 7",
        "always a(x) in [1]: at every time point from 6 to 7",
        "@7 a(x) in [2] until 10: input",
        "known(x) in [#1]: background",
    ]


def test_boxes_over_count_windows_are_explained_with_their_times() -> None:
    reasoner = LarsReasoner(
        """
        q(X) :- always a(X) in [#2], always a(X) in [#9], always a(X) in [#2 per X],
                always a(X) in [#2 of a], always known(X) in [#2].
        known(x).
        """
    )
    for at in (5, 6, 7):
        reasoner.push("a(x).", at=at)
    reasoner.advance(to=7)
    assert [line.strip() for line in reasoner.why("q(x)").splitlines()[1:]] == [
        "always a(x) in [#2] until 8: at every time point from 6 to 7",
        "always a(x) in [#9] until 8: at every time point from 5 to 7",
        "always a(x) in [#2 per X] until 8: at every time point from 6 to 7",
        "always a(x) in [#2 of a] until 8: at every time point from 6 to 7",
        "always known(x) in [#2]: background",
    ]


def test_what_ever_held_is_explained_with_the_time_it_came_first() -> None:
    program = "q(X) :- a(X) in [ever], k(X) in [ever]. k(x). k(y)."
    reasoner = LarsReasoner(program, start=0)
    table = pa.table({"t": pa.array([5, 6], pa.int64()), "c0": ["<x>", "<x>"]})
    assert reasoner.push_table(table, "a", columns=["c0"]) == []
    reasoner.play(to=6)
    reasoner = LarsReasoner.restore(reasoner.snapshot(), program, start=0)
    for at in (7, 9_000):
        reasoner.push("a(x). a(y).", at=at)
        reasoner.advance(to=at)
    for name, at in (("x", 5), ("y", 7)):
        assert reasoner.why(f"q({name})").splitlines()[1:] == [
            f"  a({name}) in [ever]: input at {at}",
            f"  k({name}) in [ever]: background",
        ]
    reasoner.push("a(z).", at=EVER_MEMORY + 6)
    for _ in reasoner.answers(to=EVER_MEMORY + 6, changed=True):
        pass
    told = {name: reasoner.why(f"q({name})").splitlines()[1] for name in "xy"}
    assert told == {
        "x": "  a(x) in [ever]: input at a time point from 0 to 10006",
        "y": "  a(y) in [ever]: input at 7",
    }


def test_explanations_say_windows_as_they_are_written() -> None:
    reasoner = LarsReasoner(
        """
        old(X) :- p(X) in [2 s].
        q(X) :- p(X) in [2], @T p(X) in [3000 ms], old(X),
                r(Y,X) in [#2 per X], not s(Y) in [1 min].
        @T late(X,Y) :- @T r(Y,X) in [1 s], N = 1 + 1, not s(N) in [1 s].
        """,
        tick=1000,
    )
    reasoner.push("p(a). r(b,a).", at=3000)
    reasoner.advance(to=3500)
    assert reasoner.why("q(a)").splitlines() == [
        "q(a) until 6000: by r2 (<text>:3:9)",
        "  p(a) in [2] until 6000: input at 3000",
        "  @3000 p(a) in [3000 ms] until 7000: input",
        "  old(a) until 6000: by r1 (<text>:2:9)",
        "    p(a) in [2 s] until 6000: input at 3000",
        "  r(b,a) in [#2 per X]: input at 3000",
        "  not s(b) in [1 min]: not at 3000",
    ]
    assert reasoner.why("late(a,b)").splitlines() == [
        "late(a,b) until 4000: because",
        "  @3000 late(a,b) until 5000: by r3 (<text>:5:9)",
        "    @3000 r(b,a) in [1 s] until 5000: input",
        "    not s(2) in [1 s]: not at 3000",
    ]


def test_a_restart_and_a_new_pane_know_when_an_atom_came() -> None:
    program = "q(X) :- a(X) in [tumbling 4], b(X) in [tumbling 8]."
    reasoner = LarsReasoner(program, start=0)
    for at, atoms in ((1, "a(x)"), (2, "b(x)"), (5, "b(x)"), (6, "a(x)"), (7, "a(x)")):
        reasoner.push(atoms, at=at)
    table = reasoner.play(to=6)
    assert sorted(table) == ["q"]
    reasoner = LarsReasoner.restore(reasoner.snapshot(), program, start=0)
    reasoner.advance(to=7)
    assert reasoner.why("q(x)").splitlines() == [
        "q(x) until 8: by r1 (<text>:1:1)",
        "  a(x) in [tumbling 4] until 8: input at 6",
        "  b(x) in [tumbling 8] until 8: input at 2",
    ]


def test_a_copy_of_a_copy_is_explained_with_both_windows() -> None:
    reasoner = LarsReasoner("first(X) :- p(X) in [1].\nagain(X) :- first(X) in [5].")
    reasoner.push("p(a).", at=3)
    reasoner.advance(to=3)
    assert reasoner.why("again(a)").splitlines() == [
        "again(a) until 5: by r2 (<text>:2:1)",
        "  first(a) until 5: by r1 (<text>:1:1)",
        "    p(a) in [1] until 5: input at 3",
    ]


def test_no_explanation_is_too_deep_or_tells_the_same_twice() -> None:
    depth = 400
    copies = [f"c{n + 1}(X) :- c{n}(X) in [2]." for n in range(depth)]
    doubled = [f"d{n + 1}(X) :- d{n}(X), d{n}(X) in [2], e in [9]." for n in range(depth)]
    first = ["c0(X) :- p(X) in [2].", "d0(X) :- p(X) in [2], e in [9]."]
    reasoner = LarsReasoner("\n".join([*copies, *doubled, *first]))
    reasoner.push("p(a). e.", at=0)
    reasoner.advance(to=0)
    assert len(reasoner.why(f"c{depth}(a)").splitlines()) == depth + 2
    told = reasoner.why(f"d{depth}(a)").splitlines()
    assert len(told) == 3 * depth + 3
    assert told[-2].endswith(", as above")


def test_predicates_that_share_a_count_window_are_told_apart() -> None:
    reasoner = LarsReasoner("q :- e in [#2], @T a(x) in [#2], a(X) in [#2].")
    reasoner.push("a(x). e.", at=3)
    reasoner.advance(to=4)
    assert reasoner.why("q").splitlines() == [
        "q: by r1 (<text>:1:1)",
        "  e in [#2]: input at 3",
        "  @3 a(x) in [#2]: input",
        "  a(x) in [#2]: input at 3",
    ]


DENIED = {
    "not p(b)": "not at 7",
    "not p(b) in [0]": "not at 7",
    "not p(b) in [3]": "at no time point from 4 to 7",
    "not p(b) in [30]": "at no time point from 1 to 7",
    "not p(b) in [tumbling 5]": "at no time point from 5 to 7",
    "not p(b) in [ever]": "at no time point from 1 to 7",
    "not always p(a) in [3]": "not at every time point from 4 to 7",
    "not @5 p(a)": "not at 5",
    "not @9 p(a)": "9 is no time point from 1 to 7",
    "not @2 p(a) in [3]": "2 is no time point from 4 to 7",
    "not @_ p(b) in [2]": "at no time point from 5 to 7",
    "not @_ p(b)": "at no time point from 1 to 7",
    "not p(b) in [#2]": "not at 7 among the last 2",
    "not p(b) in [#3]": "at no time point from 6 to 7 among the last 3",
    "not p(b) in [#2 of p]": "at no time point from 4 to 7 among the last 2",
    "not p(b) in [#20]": "at no time point from 1 to 7 among the last 20",
    "not @_ p(b) in [#2]": "not at 7 among the last 2",
    "not @_ p(b) in [#3]": "at no time point from 6 to 7 among the last 3",
    "not @_ p(b) in [#2 of p]": "at no time point from 4 to 7 among the last 2",
    "not always p(b) in [#2]": "not at 7 among the last 2",
    "not always p(b) in [#3]": "not at every time point from 6 to 7 among the last 3",
    "not always p(a) in [#2 of p]": "not at every time point from 4 to 7 among the last 2",
    "not always p(a) in [#20]": "not at every time point from 1 to 7 among the last 20",
    "not always r(Y,u) in [#2 per Y]": "not at every time point from 3 to 7 among the last 2",
    "not r(_Z,X) in [#2 per _Z]": "at no time point of the window among the last 2",
    "not r(Y,X) in [#2 per Y]": "at no time point from 3 to 7 among the last 2",
    "not old(X)": "not at 7",
}


@pytest.mark.parametrize("part", DENIED)
def test_what_is_denied_is_explained_with_its_times(part: str) -> None:
    reasoner = LarsReasoner(f"q :- e, k(X,Y), {part}. old(X) :- p(X) in [1]. k(x,1).")
    reasoner.push("p(a).", at=1)
    reasoner.push("p(a). r(1,u).", at=3)
    reasoner.push("p(a). r(1,v).", at=4)
    reasoner.push("e. r(2,u).", at=6)
    reasoner.push("p(a). e.", at=7)
    reasoner.advance(to=7)
    *_, last = reasoner.why("q").splitlines()
    shown = part.replace("X", "x").replace("Y", "1").replace("per 1", "per Y")
    assert last == f"  {shown}: {DENIED[part]}"


def test_what_a_count_window_left_out_is_not_denied_at_its_time_point() -> None:
    reasoner = LarsReasoner("q :- not p(a) in [#2]. r :- not always p(b) in [#2 of p].")
    reasoner.push("p(a). p(b). p(c).", at=3)
    reasoner.advance(to=3)
    assert reasoner.why("q").endswith("not p(a) in [#2]: not at 3 among the last 2")
    reasoner.push("p(b).", at=4)
    reasoner.advance(to=4)
    assert reasoner.why("r").endswith("not at every time point from 3 to 4 among the last 2")


def test_explanations_have_the_prefixes_of_the_program() -> None:
    reasoner = LarsReasoner(
        "@prefix e: <http://e/>. q(R,N) :- N = count { X : e:in(X,R) }, not e:Shut(R) in [2].",
        start=0,
    )
    reasoner.push("e:in(a,e:r).", at=0)
    reasoner.advance(to=0)
    assert reasoner.why("q(e:r,1)").splitlines()[1:] == [
        "  1 = count { X : e:in(X,e:r) } until 1: worked out from the atoms that hold",
        "    e:in(a,e:r) until 1: input at 0",
        "  not e:Shut(e:r) in [2]: not at 0",
    ]


def test_aggregates_and_what_is_denied_are_explained_with_their_terms() -> None:
    reasoner = LarsReasoner(
        "@T busy(R) :- @T p(R,_) in [2], N = count { X : p(R,X) in [2] }, N > 1, not off(R) in [1]."
    )
    reasoner.push("p(a,x). p(b,x).", at=3)
    reasoner.push("p(a,y).", at=4)
    reasoner.advance(to=4)
    assert reasoner.why("busy(a)").splitlines() == [
        "busy(a) until 5: because",
        "  @4 busy(a) until 6: by r1 (<text>:1:1)",
        "    @4 p(a,y) in [2] until 7: input",
        "    2 = count { X : p(a,X) in [2] } until 6: worked out from the atoms that hold",
        "      p(a,x) in [2] until 6: input at 3",
        "      p(a,y) in [2] until 7: input at 4",
        "    not off(a) in [1]: at no time point from 3 to 4",
    ]


def test_an_aggregate_is_explained_by_what_it_collects() -> None:
    reasoner = LarsReasoner(
        """
        low(R,V) :- p(R,V) in [2].
        top(N) :- N = max { V : low(R,V), room(R) in [tumbling 9], W = V + 1, not off(R,W) }.
        all(N) :- N = sum { M : top(M) }.
        many(N) :- N = count { V : p(_,V) in [2] }.
        room(a).
        """
    )
    atoms = "".join(f"p(a,{value})." for value in range(5, 30))
    reasoner.push(f"{atoms} p(b,40). off(a,30). room(c).", at=3)
    reasoner.push("p(a,28). off(a,30).", at=4)
    reasoner.advance(to=4)
    assert reasoner.why("all(28)").splitlines() == [
        "all(28) until 7: by r3 (<text>:4:9)",
        "  28 = sum { M : top(M) } until 7: worked out from the atoms that hold",
        "    top(28) until 7: by r2 (<text>:3:9)",
        "      28 = max { V : low(R,V), room(R) in [tumbling 9], W = V + 1, not off(R,W) } until 7:"
        " worked out from the atoms that hold",
        "        low(a,28) until 7: by r1 (<text>:2:9)",
        "          p(a,28) in [2] until 7: input at 4",
        "        room(a) in [tumbling 9]: background",
        "        not off(a,29): not at 4",
    ]
    count, *members, rest = reasoner.why("many(26)").splitlines()[1:]
    assert count.startswith("  26 = count { V : p(_,V) in [2] } until 6: worked out")
    assert len(members) == 20
    assert rest == "    and 6 more like these"


def test_no_chain_of_aggregates_is_too_deep_or_told_twice() -> None:
    rules = (
        f"p{n}(N) :- N = sum {{ X : p{n - 1}(X) }}, M = sum {{ X : p{n - 1}(X) }}, M = N."
        for n in range(1, 400)
    )
    reasoner = LarsReasoner("\n".join(rules))
    reasoner.push("p0(7).", at=0)
    reasoner.advance(to=0)
    assert len(reasoner.why("p399(7)").splitlines()) < 6 * 400
