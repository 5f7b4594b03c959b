"""The face of LARS: lateness, snapshots, tables before the first time point, budgets."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from ebbtide.engines.abilities import Unsupported
from ebbtide.engines.budget import Budget
from ebbtide.engines.lars_answer import texts
from ebbtide.engines.native import BudgetExceeded
from ebbtide.languages.lars import parse_lars
from ebbtide.languages.lars.unread import UnreadPredicate
from ebbtide.program import Fact
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.reasoner.snapshot import SnapshotError

pa = pytest.importorskip("pyarrow")

SEEN = "q(X) :- p(X) in [1]."


def said(reasoner: LarsReasoner, to: int | None = None) -> dict[int, list[str]]:
    return {answer.t: answer.texts() for answer in reasoner.advance(to)}


def test_a_time_point_is_due_when_something_later_than_the_lateness_came() -> None:
    reasoner = LarsReasoner(SEEN, lateness=2)
    reasoner.push("p(a).", at=5)
    reasoner.push("p(b).", at=3)
    assert said(reasoner) == {}
    reasoner.push((), at=7)
    assert said(reasoner) == {3: ["q(b)"], 4: ["q(b)"]}
    reasoner.push("p(c).", at=4)
    assert [(late.at, str(late.fact), late.reason) for late in reasoner.take_late()] == [
        (4, "p(<c>)", "the time point 4 was due when it arrived")
    ]
    assert said(reasoner, to=7) == {5: ["q(a)"], 6: ["q(a)"], 7: []}
    assert (reasoner.late, reasoner.take_late()) == (1, [])


def test_what_is_before_the_first_time_point_is_late() -> None:
    reasoner = LarsReasoner(SEEN, start=3, lateness=9)
    reasoner.push("p(a).", at=2)
    (late,) = reasoner.take_late()
    assert late.reason == "it happens before the first time point, 3"
    assert said(reasoner, to=3) == {3: []}


def test_late_rows_of_tables_are_told() -> None:
    reasoner = LarsReasoner(SEEN, start=0)
    reasoner.advance(to=1)
    data = pa.table({"t": [1, 2, 0, 3], "x": ["<a>", "<b>", "<c>", "<d>"]})
    assert reasoner.push_table(data, "p", columns=["x"]) == [0, 2]
    assert reasoner.late == 2
    assert said(reasoner) == {2: ["q(b)"]}
    assert said(reasoner, to=3) == {3: ["q(b)", "q(d)"]}


@pytest.mark.parametrize("start", [None, 3])
def test_tables_need_no_first_time_point(start: int | None) -> None:
    reasoner = LarsReasoner(SEEN, start=start)
    reasoner.push_table(pa.table({"t": [4, 3], "x": ["<a>", "<b>"]}), "p", columns=["x"])
    reasoner.push_table(pa.table({"t": [4], "x": [-7]}), "p", columns=["x"])
    answers: dict[str, Any] = reasoner.play(to=4, full=True)
    rows = [tuple(row.values()) for row in pa.table(answers["q"]).to_pylist()]
    seven = '"-7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert sorted(rows) == [(3, "<b>"), (4, seven), (4, "<a>"), (4, "<b>")]
    assert said(reasoner, to=5) == {5: ["q(-7)", "q(a)"]}


@pytest.mark.parametrize("start", [None, 0])
def test_tables_take_atoms_wider_than_the_program(start: int | None) -> None:
    """A count window counts them, each as one."""
    program = "q(X) :- p(X) in [#3]. r(T) :- @T p(_) in [#2]."
    rows = [(2, "<a>", 1), (2, "<b>", 1), (0, "<b>", 2), (3, "<b>", 2)]
    by_row = LarsReasoner(program, start=start)
    by_table = LarsReasoner(program, start=start)
    for reasoner in (by_row, by_table):
        reasoner.push("p(a).", at=0)
        reasoner.advance(to=0)
    late = by_table.push_table(
        pa.table(dict(zip("txy", zip(*rows, strict=True), strict=True))), "wide", columns=[*"xyxyx"]
    )
    assert late == [2]
    for at, x, y in rows:
        by_row.push(Fact.of("wide", x, y, x, y, x), at=at)
    assert by_table.late == by_row.late == 1
    expected = {1: ["q(a)", "r(0)"], 2: ["q(a)"], 3: []}
    assert said(by_table, to=3) == said(by_row, to=3) == expected


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("start", [-25, 5, 15])
def test_panes_begin_with_multiples_of_their_width(engine: str, start: int) -> None:
    """Also where those are no time points.

    #   0        30        60        90
    #   [---------)         [---------)        5, 15, 25   35, 45, 55   65, 75, 85
    #             [---------)
    """
    program = """
        some(X) :- p(X) in [tumbling 3].
        at(T) :- @T p(_) in [tumbling 3].
        all(X) :- always p(X) in [tumbling 3].
        @T c(X) :- @T p(X) in [9].
        @T c(e) :- @T p(_) in [tumbling 3], always c(X) in [tumbling 3], X != e.
        each :- always c(e) in [tumbling 3].
    """
    reasoner = LarsReasoner(program, start=start, tick=10, engine=engine)
    for at, atom in ((25, "p(a)."), (35, "p(b)."), (45, "p(b)."), (65, "p(a).")):
        reasoner.push(atom, at=at)
    found = said(reasoner, to=75)
    told = {at: [atom for atom in atoms if atom[0] != "c"] for at, atoms in found.items()}
    assert told[25] == ["at(25)", "some(a)"]
    assert told[35] == ["all(b)", "at(35)", "each", "some(b)"]
    assert told[45] == ["all(b)", "at(35)", "at(45)", "each", "some(b)"]
    assert told[55] == ["at(35)", "at(45)", "some(b)"]
    assert told[65] == ["all(a)", "at(65)", "each", "some(a)"]
    assert told[75] == ["at(65)", "some(a)"]


def test_the_first_time_point_of_a_pane_is_explained() -> None:
    reasoner = LarsReasoner("all(X) :- always p(X) in [tumbling 3].", start=5, tick=10)
    for at in (25, 35, 45):
        reasoner.push("p(a).", at=at)
    reasoner.advance(to=45)
    assert "at every time point from 35 to 45" in reasoner.why("all(a)")


def test_a_program_is_refused_at_its_first_atom() -> None:
    with pytest.raises(ValueError, match="q is concluded by rules"):
        LarsReasoner(SEEN).push("q(a).", at=0)


@pytest.mark.parametrize(
    "text", ["p(a). % a fact", "q(X) ← p(X). % a rule", "% nothing\n", "", "p."]
)
def test_a_text_is_not_taken_for_a_path(text: str) -> None:
    assert LarsReasoner(text).program == parse_lars(text)


def test_a_path_is_not_taken_for_a_text(tmp_path: Path) -> None:
    path = tmp_path / "my program.v2.lars"
    path.write_text("p(a).")
    assert LarsReasoner(str(path)).program == LarsReasoner(path).program == parse_lars("p(a).")


def test_atoms_are_texts_or_facts_one_or_many() -> None:
    reasoner = LarsReasoner(SEEN, start=0)
    reasoner.push("p(a). p(b)", at=0)
    reasoner.push(["p(c)", Fact.of("p", "<d>"), "p(e). p(f)."], at=0)
    assert said(reasoner, to=0) == {0: [f"q({name})" for name in "abcdef"]}


def test_background_must_fit() -> None:
    with pytest.raises(ValueError, match="the predicate p has 1 argument, not 2"):
        LarsReasoner(SEEN).add("p(a,b)")
    with pytest.raises(ValueError, match="the predicate p has 1 argument, not 0"):
        LarsReasoner(SEEN, background=[Fact.of("p")])


def test_a_snapshot_of_a_solver_goes_on() -> None:
    choice = "a :- p in [1], not b. b :- p in [1], not a."
    reasoner = LarsReasoner(choice, solve="all")
    reasoner.push("p.", at=0)
    reasoner.advance(to=0)
    again = LarsReasoner.restore(reasoner.snapshot(), choice, solve="all")
    (answer,) = again.advance(to=1)
    assert sorted(map(texts, answer.every or ())) == [["a"], ["b"]]


def test_a_snapshot_keeps_what_waits_and_the_background() -> None:
    program = "q(X) :- p(X), r(X)."
    reasoner = LarsReasoner(program, lateness=5, background=[Fact.of("r", "<a>")])
    reasoner.push("p(a).", at=7)
    again = LarsReasoner.restore(reasoner.snapshot(), program, lateness=5)
    again.push("p(a).", at=6)
    assert said(again, to=7) == {6: ["q(a)"], 7: ["q(a)"]}
    with pytest.raises(SnapshotError, match="another background"):
        LarsReasoner.restore(
            reasoner.snapshot(), program, lateness=5, background=[Fact.of("r", "<b>")]
        )


def test_a_snapshot_of_something_else_is_refused() -> None:
    reasoner = LarsReasoner(SEEN, start=0)
    reasoner.advance(to=0)
    data = reasoner.snapshot()
    with pytest.raises(SnapshotError, match="another program"):
        LarsReasoner.restore(data, "q(X) :- p(X) in [2].", start=0)
    with pytest.raises(SnapshotError, match="another lateness: 0, not 3"):
        LarsReasoner.restore(data, SEEN, start=0, lateness=3)
    with pytest.raises(SnapshotError, match="another start"):
        LarsReasoner.restore(data, SEEN)
    with pytest.raises(SnapshotError, match="checksum"):
        LarsReasoner.restore(data[:-1], SEEN, start=0)
    with pytest.raises(SnapshotError, match="another version"):
        LarsReasoner.restore(data[:7] + b"\xff" + data[8:], SEEN, start=0)


def test_a_time_point_beyond_its_budget_is_over() -> None:
    reasoner = LarsReasoner("q(X,Y) :- p(X), p(Y).", start=0, budget=Budget(derivations=10))
    reasoner.push("p(a). p(b). p(c). p(d).", at=0)
    reasoner.push("p(a).", at=1)
    with pytest.raises(BudgetExceeded):
        reasoner.advance(to=0)
    assert said(reasoner, to=1) == {1: ["q(a,a)"]}


@pytest.mark.parametrize(
    ("program", "atoms", "budget", "place"),
    [
        (
            "q(X,Y) :- p(X), p(Y).",
            "p(a).",
            Budget(derivations=0),
            "rule r1 (<text>:1:1), at q(a,a)",
        ),
        ("q(X) :- p(X) in [2].", "p(a). p(b).", Budget(facts=1), "the input, at p(b) in [2]"),
        (
            "@T q :- @T p(X) in [9].",
            "p(a).",
            Budget(derivations=0),
            "rule r1 (<text>:1:1), at @0 q",
        ),
        (
            "@T q(X) :- @T p(X) in [9].\nr :- q(a) in [2].",
            "p(a).",
            Budget(derivations=1),
            "rule r2 (<text>:2:1), at q(a) in [2]",
        ),
        (
            "p(k).\nq(X,T) :- @T p(X) in [3].",
            "p(k).",
            Budget(derivations=1),
            "rule r1 (<text>:2:1), at q(k,0)",
        ),
        (
            "n(N) :- N = count { X : p(X) in [9] }.",
            "p(a).",
            Budget(derivations=0),
            "rule r1 (<text>:1:1)",
        ),
        ("q(X) :- p(X) in [#2].", "g. h.", Budget(facts=1), "the input, at h in [#2]"),
        ("q(X) :- p(X) in [#2].", "g. h(a,b).", Budget(facts=1), "the input, at h(a,b) in [#2]"),
        (
            "q(X) :- p(X) in [#2].",
            "g. triple(a,b,<>).",
            Budget(facts=1),
            "the input, at triple(a,b,<>) in [#2]",
        ),
        ("z(1).\nn(X) :- z(X), X < 9.", "p(a).", Budget(derivations=0), "r1 (<text>:2:1), at n(1)"),
    ],
)
def test_a_budget_names_rules_and_atoms_as_they_are_written(
    program: str, atoms: str, budget: Budget, place: str
) -> None:
    for play in (False, True):
        reasoner = LarsReasoner(program, start=0, budget=budget)
        reasoner.push(atoms, at=0)
        with pytest.raises(BudgetExceeded) as hit:
            reasoner.play(to=0) if play else reasoner.advance(to=0)
        assert str(hit.value).endswith(place)
    with pytest.raises(Unsupported, match="budget"):
        LarsReasoner(program, engine="reference", budget=budget)
    with pytest.raises(Unsupported, match="budget"):
        LarsReasoner(program, solve="all", budget=budget)


def test_answers_beyond_a_budget_are_marked_incomplete() -> None:
    budget = Budget(derivations=3, go_on=True)
    for play in (False, True):
        reasoner = LarsReasoner("q(X,Y) :- p(X), p(Y).", start=0, budget=budget)
        reasoner.push("p(a). p(b).", at=1)
        if play:
            reasoner.play(to=2)
            assert reasoner.incomplete == [1]
        else:
            assert [answer.complete for answer in reasoner.advance(to=2)] == [True, False, True]


@pytest.mark.parametrize("odd", ["<a b>", "<a>b>", "<a<b>", "<a\\u0041>", "<a{b>", "_:", "_:a b"])
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_texts_of_tables_that_are_no_terms_are_refused(odd: str, kind: str) -> None:
    reasoner = LarsReasoner("q(X) :- p(X) in [1].", start=0)
    texts = pa.array(["<a>", "_:b", odd, "<c>"], getattr(pa, kind)())
    with pytest.raises(ValueError, match=r'column "c0" holds .* in row 2'):
        reasoner.push_table(pa.table({"t": [0, 0, 0, 0], "c0": texts}), "p", columns=["c0"])
    with pytest.raises(ValueError, match=r'column "c0" holds .* in row 0'):
        reasoner.push_table(pa.table({"t": [0], "c0": texts[2:3]}), "p", columns=["c0"])


def test_what_holds_is_told_in_full_when_a_restart_leaps_at_once() -> None:
    program = "q(X) :- p(X) in [100]."
    reasoner = LarsReasoner(program, start=0)
    reasoner.push("p(a).", at=0)
    reasoner.advance(to=3)
    again = LarsReasoner.restore(reasoner.snapshot(), program, start=0)
    told = pa.table(again.play(10, full=True)["q"])
    assert told["t"].to_pylist() == [4, 5, 6, 7, 8, 9, 10]
    assert set(told["c0"].to_pylist()) == {"<a>"}


def test_pauses_are_leapt_over() -> None:
    program = "q(X) :- p(X) in [3]. r :- always p(a) in [1]. n(N) :- N = count { X : p(X) in [5] }."
    far = 10**15
    reasoner = LarsReasoner(program, start=0)
    for at, atoms in ((0, "p(a)."), (far, "p(a). p(b)."), (far + 1, "p(a).")):
        reasoner.push(atoms, at)
    found = {one.t: one.texts() for one in reasoner.answers(to=2 * far, changed=True)}
    assert found == {
        0: ["n(1)", "q(a)", "r"],
        1: ["n(1)", "q(a)"],
        4: ["n(1)"],
        6: [],
        far: ["n(2)", "q(a)", "q(b)"],
        far + 1: ["n(2)", "q(a)", "q(b)", "r"],
        far + 2: ["n(2)", "q(a)", "q(b)"],
        far + 4: ["n(2)", "q(a)"],
        far + 5: ["n(2)"],
        far + 6: ["n(1)"],
        far + 7: [],
    }
    tables = reasoner.play(to=3 * far)
    assert {len(table) for table in tables.values()} == {0}


def test_only_the_kernel_has_tables() -> None:
    reasoner = LarsReasoner(SEEN, start=0, engine="reference")
    with pytest.raises(Unsupported):
        reasoner.play(to=3)
    assert list(said(reasoner)) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["'a\"b'", r"'a\b'"])
def test_a_solver_takes_predicates_of_any_name(name: str) -> None:
    program = f"q :- {name}(X) in [3], not r. r :- {name}(X) in [3], not q."
    reasoner = LarsReasoner(program, solve="all")
    reasoner.push(f"{name}(1).", at=0)
    (answer,) = reasoner.advance(to=0)
    assert answer.every is not None
    assert {str(fact) for facts in answer.every for fact in facts} == {"q()", "r()"}


def test_after_a_budget_was_hit_answers_are_those_of_the_input() -> None:
    reasoner = LarsReasoner("q(X) :- p(X) in [0].", start=0, budget=Budget(facts=2))
    found = {}
    for at, atoms in enumerate(("p(1).", "p(2). p(3). p(4).", "p(5).", "r.", "p(6).")):
        reasoner.push(atoms, at=at)
        try:
            found |= said(reasoner, to=at)
        except BudgetExceeded:
            found[at] = ["too much"]
    assert found == {0: ["q(1)"], 1: ["too much"], 2: ["q(5)"], 3: [], 4: ["q(6)"]}


@pytest.mark.parametrize("text", ['"x"@EN', '"x"^^<http://www.w3.org/2001/XMLSchema#string>', '"x'])
def test_texts_of_tables_are_those_that_identify_terms(text: str) -> None:
    """Any other text would be another term to the kernel."""
    reasoner = LarsReasoner(SEEN, start=0)
    with pytest.raises(ValueError, match="in row 1: "):
        reasoner.push_table(pa.table({"t": [0, 0], "x": ["<a>", text]}), "p", columns=["x"])


def test_a_predicate_that_no_rule_asks_for_is_warned_of_once() -> None:
    reasoner = LarsReasoner("hot(X) :- temp(X) in [3].", start=0)
    with pytest.warns(UnreadPredicate, match="asks for tmep.*did you mean temp") as caught:
        reasoner.push("tmep(a). temp(b). tmep(c).", at=0)
    assert [Path(each.filename) for each in caught] == [Path(__file__)]
    table = pa.table({"t": pa.array([2], pa.int64()), "c0": ["<a>"]})
    with pytest.warns(UnreadPredicate, match="no rule asks for wind"):
        reasoner.push_table(table, "wind", columns=["c0"])
    with warnings.catch_warnings(action="error"):
        reasoner.push_table(table, "wind", columns=["c0"])
        reasoner.push_table(table, "temp", columns=["c0"])


def test_background_makes_a_predicate_of_what_may_be_arithmetic() -> None:
    program = "q(Z) :- sum(X,Y,Z), p(Z)."
    reasoner = LarsReasoner(program, background=[Fact.of("sum", 1, 2, 3)])
    reasoner.push("p(3).", at=0)
    assert [answer.texts() for answer in reasoner.advance(to=0)] == [["q(3)"]]
    reasoner = LarsReasoner.restore(reasoner.snapshot(), program)
    reasoner.push("p(3).", at=1)
    assert [answer.texts() for answer in reasoner.advance(to=1)] == [["q(3)"]]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_numbers_may_have_any_number_of_digits(engine: str) -> None:
    reasoner = LarsReasoner("q(X) :- p(X), X < 7. r :- p(X), X > 6.", engine=engine)
    reasoner.push(f"p(1). p({'9' * 5_000}). p({'0' * 5_000}2). p({'0' * 5_000}2.5).", at=0)
    (answer,) = reasoner.advance(to=0)
    assert len(answer.texts()) == 3
    assert "r" not in answer.texts()
