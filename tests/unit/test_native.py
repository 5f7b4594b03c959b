"""The native engine beyond the protocol: Arrow in and out, errors, budgets, snapshots."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide.engines.budget import Budget
from ebbtide.engines.native import BudgetExceeded, NativeEngine, SnapshotError
from ebbtide.engines.protocol import LateFact
from ebbtide.program import Fact, Program
from ebbtide.terms import Literal
from ebbtide.testing import program
from ebbtide.time import FOREVER, Count, Landmark, Sliding

pa = pytest.importorskip("pyarrow")

RULES = program("isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).")
COLUMNS = ["who", "where"]


def engine(rules: Program = RULES, **settings: object) -> NativeEngine:
    return NativeEngine(rules, {"default": Sliding(10)}, **settings)  # type: ignore[arg-type]


def name(letter: str) -> str:
    return f"<http://example/{letter}>"


def is_in(one: str, other: str) -> Fact:
    return Fact.of("isIn", name(one), name(other))


def table(kind: object, pairs: str, times: list[int]) -> object:
    who, where = ([name(pair[place]) for pair in pairs.split()] for place in (0, 1))
    return pa.table({"t": times, "who": pa.array(who, kind), "where": pa.array(where, kind)})


KINDS = pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int64(), pa.large_string()),
    ],
    ids=str,
)


@KINDS
def test_any_arrow_string_is_a_term(kind: object) -> None:
    native = engine()
    assert (
        native.push_arrow(table(kind, "AB BC AB", [1, 2, 3]), "default", "isIn", "t", COLUMNS) == []
    )
    native.advance(3)
    assert native.facts() == {is_in("A", "B"): 13, is_in("B", "C"): 12, is_in("A", "C"): 12}


@KINDS
def test_bytes_that_are_no_text_are_refused(kind: Any) -> None:
    """Whoever brings a column says that they are; Spark does not look."""
    data = table(pa.string(), "AB BC CD", [1, 2, 3])
    contents = pa.array([b"<a:\xc3\xa4>", b"<a:b>", b"<a:\xe4>"])
    # Arrow looks when it makes a dictionary, and a view, of what it was told to be texts.
    texts = contents.view(pa.string())
    if pa.types.is_dictionary(kind):
        numbers = pa.array([0, 1, 2], kind.index_type)
        large = contents.cast(pa.large_binary()).view(pa.large_string())
        is_large = kind.value_type == pa.large_string()
        texts = pa.DictionaryArray.from_arrays(numbers, large if is_large else texts)
    elif kind != pa.string():
        binary = pa.large_binary() if kind == pa.large_string() else pa.binary_view()
        texts = contents.cast(binary).view(kind)
    data = data.set_column(data.column_names.index(COLUMNS[1]), COLUMNS[1], texts)
    said = f'column "{COLUMNS[1]}" has bytes that are not UTF-8 in row'
    with pytest.raises(UnicodeError, match=f"^{said} 1$"):
        engine().push_arrow(data.slice(1), "default", "isIn", "t", COLUMNS)
    if pa.types.is_dictionary(kind):
        # A value of a dictionary is read, whoever has it.
        with pytest.raises(UnicodeError, match=said):
            engine().push_arrow(data.slice(0, 2), "default", "isIn", "t", COLUMNS)
    else:
        engine().push_arrow(data.slice(0, 2), "default", "isIn", "t", COLUMNS)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_any_unit_are_instants(unit: str) -> None:
    native = NativeEngine(RULES, {"default": Sliding(10_000)})
    data = pa.table(
        {"t": pa.array([2], pa.timestamp("s", tz="UTC")), "who": [name("A")], "where": [name("B")]}
    )
    data = data.set_column(0, "t", data["t"].cast(pa.timestamp(unit, tz="UTC")))
    native.push_arrow(data, "default", "isIn", "t", COLUMNS)
    native.advance(2_000)
    assert native.until(is_in("A", "B")) == 12_000


def test_facts_and_changes_come_out_as_arrow() -> None:
    native = engine()
    native.push_arrow(table(pa.string(), "AB BC", [1, 2]), "default", "isIn", "t", COLUMNS)
    native.advance(2)
    facts = pa.table(native.facts_arrow("isIn")).sort_by([("c0", "ascending"), ("c1", "ascending")])
    assert facts.column_names == ["c0", "c1", "until"]
    assert facts["until"].to_pylist() == [11, 11, 12]
    native.push(is_in("A", "B"), at=3)
    native.advance(11)
    changes = pa.table(native.changes_arrow("isIn")).to_pylist()
    assert {(row["c0"], row["c1"]): (row["diff"], row["until"]) for row in changes} == {
        (name("A"), name("B")): (0, 13),
        (name("A"), name("C")): (0, 12),
    }
    assert native.change_counts() == (0, 2, 0)


def test_late_rows_are_named() -> None:
    native = engine()
    native.advance(5)
    data = table(pa.string(), "AB BC CD", [5, 6, 4])
    assert native.push_arrow(data, "default", "isIn", "t", COLUMNS) == [0, 2]
    with pytest.raises(LateFact, match="that tick is over"):
        native.push(is_in("A", "B"), at=5)


def test_bad_columns_are_named() -> None:
    native = engine()
    with pytest.raises(ValueError, match='no column "place"; the columns are t, who, where'):
        native.push_arrow(table(pa.string(), "AB", [1]), "default", "isIn", "t", ["who", "place"])
    with pytest.raises(TypeError, match='column "who" must hold the terms\' texts, not Int64'):
        native.push_arrow(pa.table({"t": [1], "who": [2]}), "default", "isIn", "t", ["who", "who"])
    with pytest.raises(TypeError, match="does not speak Arrow"):
        native.push_arrow([1, 2], "default", "isIn", "t", COLUMNS)
    nothing = pa.table({"t": [1], "who": pa.array([None], pa.string()), "where": [name("A")]})
    with pytest.raises(ValueError, match='column "who" is null in row 0'):
        native.push_arrow(nothing, "default", "isIn", "t", COLUMNS)
    one_column = pa.table({"t": [1], "who": [name("A")]})
    with pytest.raises(ValueError, match="isIn takes 2 terms, not 1"):
        native.push_arrow(one_column, "default", "isIn", "t", ["who"])


def test_unknown_names_are_errors_with_a_sentence() -> None:
    native = engine()
    with pytest.raises(ValueError, match="no relation wasIn; it has triple, isIn"):
        native.push(Fact.of("wasIn", 1, 2), at=1)
    with pytest.raises(ValueError, match="no stream 'side'; there are default"):
        native.push(is_in("A", "B"), at=1, stream="side")
    with pytest.raises(ValueError, match="isIn takes 2 terms, not 1"):
        native.push(Fact.of("isIn", 1), at=1)
    with pytest.raises(ValueError, match="unknown strategy"):
        engine(strategy="hope")


def test_a_huge_term_comes_back_whole() -> None:
    native = engine()
    fact = Fact("isIn", (Literal("x" * 10_000_000), Literal('"\\\n\r')))
    native.push(fact, at=1)
    assert set(native.advance(1).entered) == {fact}


def test_budgets_name_the_rule_and_the_fact() -> None:
    native = engine(budget=Budget(derivations=3))
    for one, other in ("AB", "BC", "CD", "DE"):
        native.push(is_in(one, other), at=1)
    with pytest.raises(BudgetExceeded, match=r"budget of 3 derivations was hit by rule .*isIn\("):
        native.advance(1)
    native.advance(20)
    assert native.facts() == {}


def test_a_budget_of_bytes() -> None:
    native = engine(budget=Budget(bytes=50_000))
    native.push(Fact("isIn", (Literal("x" * 100_000), Literal("y"))), at=1)
    with pytest.raises(BudgetExceeded, match="budget of 50000 bytes was hit by the input"):
        native.advance(1)


def test_an_incomplete_answer_says_so_and_the_next_may_be_complete() -> None:
    native = engine(budget=Budget(facts=4, go_on=True))
    for one, other in ("AB", "BC", "CD"):
        native.push(is_in(one, other), at=1)
    assert not native.advance(1).complete
    native.retract(is_in("C", "D"), at=2)
    assert native.advance(2).complete
    assert len(native) == 3


def test_snapshots_are_of_one_program_and_its_windows() -> None:
    saved = engine().snapshot()
    other_windows = NativeEngine(RULES, {"default": Landmark(0)})
    with pytest.raises(SnapshotError, match="another program"):
        other_windows.restore(saved)
    with pytest.raises(SnapshotError, match="damaged"):
        engine().restore(saved[:-1])
    with pytest.raises(SnapshotError, match="version"):
        engine().restore(saved[:8] + b"\x09" + saved[9:])


def test_a_snapshot_leaves_the_last_delta_readable() -> None:
    native = engine()
    native.push(is_in("A", "B"), at=1)
    native.advance(1)
    native.advance(20)
    native.snapshot()
    left = pa.table(native.changes_arrow("isIn")).to_pylist()
    assert left == [{"c0": name("A"), "c1": name("B"), "until": 11, "diff": -1}]


def test_a_snapshot_keeps_count_windows_and_what_waits() -> None:
    first = NativeEngine(RULES, {"default": Count(2)})
    for at, (one, other) in enumerate(("AB", "BC", "CD"), start=1):
        first.push(is_in(one, other), at=at)
    first.advance(2)
    second = NativeEngine(RULES, {"default": Count(2)})
    second.restore(first.snapshot())
    assert second.advance(3) == first.advance(3)
    assert second.facts() == {
        is_in("B", "C"): FOREVER,
        is_in("C", "D"): FOREVER,
        is_in("B", "D"): FOREVER,
    }


def test_windows_that_grow_are_adopted_beside_one_that_holds_for_ever() -> None:
    # Shrunk from a wider query that came while a plan watched for its schema.
    first = NativeEngine(RULES, {"default": Sliding(10), "schema": Landmark(0)})
    first.push(is_in("A", "B"), at=1)
    first.push(is_in("B", "C"), at=1, stream="schema")
    first.advance(1)
    second = NativeEngine(RULES, {"default": Sliding(12), "schema": Landmark(0)})
    second.adopt(first)
    second.advance(2)
    assert second.facts() == {
        is_in("A", "B"): 13,
        is_in("B", "C"): FOREVER,
        is_in("A", "C"): 13,
    }
    with pytest.raises(ValueError, match="same windows"):
        NativeEngine(RULES, {"default": Sliding(10), "schema": Landmark(1)}).adopt(first)


def test_a_mirror_holds_what_another_engine_does_and_ends_earlier() -> None:
    other = NativeEngine(Program((), {"seen": 1}), {"default": Sliding(10)})
    rules = program("alone(?x) :- here(?x).").rules
    mirror = NativeEngine(Program(rules, {"here": 1}), {})
    a, b = Fact.of("seen", name("A")), Fact.of("seen", name("B"))

    def ends(tick: int, whole: bool = False) -> dict[str, int]:
        other.evaluate(tick)
        mirror.mirror("here", other, "seen", by=4, whole=whole)
        mirror.evaluate(tick)
        found = mirror.facts(["alone"])
        return {fact.terms[0].text[-2]: until for fact, until in found.items()}

    other.push(a, 1)
    assert ends(1) == {"A": 7}
    other.push(b, 3)
    other.push(a, 4)
    assert ends(4) == {"A": 10, "B": 9}
    other.retract(a, 5)
    other.push(a, 5)
    assert ends(5) == {"B": 9}
    other.evaluate(6)  # what this tick changes is not mirrored, so the whole is taken over
    other.push(a, 7)
    assert ends(7, whole=True) == {"A": 13, "B": 9}
    assert ends(9) == {"A": 13}
    assert ends(20) == {}
