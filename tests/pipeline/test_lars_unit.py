"""The unit of a LARS program: batches of atoms and triples in, changes out, also over a restart."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.languages.lars import parse_lars
from ebbtide.languages.lars.unread import UnreadPredicate
from ebbtide.pipeline.dead import letters_of
from ebbtide.pipeline.stages.parse import ATOMS, Documents, parse_document
from ebbtide.pipeline.units.lars import Lars
from ebbtide.reasoner.lars import LarsReasoner

PROGRAMS = {
    "windows": "hot(X) :- temp(X, V) in [3], V >= 50. calm :- not hot(a), not hot(b).",
    "boxes": "@T warm(X) :- @T temp(X, V) in [2], V >= 20. steady(X) :- always warm(X) in [2].",
    "counts": "last(X) :- temp(X, V) in [#2]. many(N) :- N = count { X : temp(X, V) in [4] }.",
}


def table(lines: str | bytes, name: str = "0.atoms") -> Any:
    """What the parse stage makes of some lines, as the driver hands it on."""
    documents = Documents(ATOMS, prefixes={"ex": "http://e/"})
    content = lines if isinstance(lines, bytes) else lines.encode()
    batches = list(parse_document(name, content, documents))
    return pa.Table.from_batches(batches) if batches else None


def unit(text: str, streams: Iterable[str] = ("s",), **settings: Any) -> Lars:
    made = Lars("p", parse_lars(text), streams, step=1, **settings)
    made.begin()
    return made


def said(fed: Any) -> list[tuple[int, str, str]]:
    rows = fed.rows["p"].to_pylist()
    return sorted((row["t"], row["op"], row["atom"]) for row in rows)


def expected(text: str, readings: list[tuple[int, str]]) -> list[tuple[int, str, str]]:
    """What the oracle says of the atoms in order."""
    reasoner = LarsReasoner(text, tick=1, engine="reference")
    found = []
    for at, atom in sorted(readings):
        reasoner.push(atom, at)
        found += reasoner.advance()
    found += reasoner.advance(max(at for at, _ in readings))
    return sorted(
        (answer.t, op, atom)
        for answer in found
        for op, facts in (("+", answer.entered), ("-", answer.left))
        for atom in type(answer)(answer.t, facts).texts()
    )


readings = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from("ab"), st.integers(0, 9)),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
@settings(max_examples=40)
@given(given_=readings, cuts=st.sets(st.integers(0, 12)), restored=st.sets(st.integers(0, 12)))
def test_any_batches_and_restarts_say_what_the_oracle_says(
    text: str, given_: list[Any], cuts: set[int], restored: set[int]
) -> None:
    atoms = sorted((at, f"temp({name},{10 * value}).") for at, name, value in given_)
    whole = unit(text)
    found = []
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), 13], strict=True):
        lines = [f"{at}\t{atom}" for at, atom in reversed(atoms) if first <= at < last]
        if not lines:
            continue
        found += said(whole.feed({"s": table("\n".join(lines))}))
        if last in restored:
            snapshot = whole.snapshot()
            whole = unit(text)
            whole.restore(snapshot)
    found += said(whole.finish())
    assert sorted(found) == expected(text, atoms)


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize("first", ["", "calm."])
def test_time_begins_with_a_line_that_states_nothing(first: str, cut: int) -> None:
    """Wherever a batch ends."""
    text = "calm :- not p in [1]. back(a)."
    lines = [f"3\t{first}", "6\t", "9\tp.", "9\t"]
    made = unit(text, tells=["="])
    found = [
        row
        for some in (lines[:cut], lines[cut:])
        for row in said(made.feed({"s": table("\n".join(some))}))
    ]
    found += said(made.finish())
    assert [t for t, _, atom in found if atom == "calm"] == [*range(3, 9)]


def test_triples_are_atoms_and_streams_wait_for_each_other() -> None:
    text = "@prefix ex: <http://e/>. alarm(X) :- ex:isIn(X, ex:hall) in [5], smoke in [5]."
    both = unit(text, ("places", "sensors"))
    triple = {
        "source": ["x"], "line": [1], "t": [3], "s": ["<http://e/ada>"], "p": ["<http://e/isIn>"],
        "o": ["<http://e/hall>"],
    }  # fmt: skip
    places, sensors = pa.table(triple), table("4\tsmoke.\n9\t")
    assert said(both.feed({"places": places, "sensors": sensors})) == []
    more = {"places": places.slice(1), "sensors": table("1\tsmoke.\n12\tsmoke.")}
    assert both.feed(more).late == {"places": [], "sensors": []}
    later = places.set_column(2, "t", pa.array([9]))
    fed = both.feed({"places": later, "sensors": sensors.slice(2)})
    assert said(fed) == [(3, "+", "alarm(ex:ada)")]
    assert len(both) == 1
    assert fed.last_tick == 8


def test_what_cannot_be_input_is_a_dead_letter() -> None:
    made = unit("q(X) :- p(X) in [1].")
    fed = made.feed({"s": table("5\tp(a). q(b).\n6\tp(a,b).\n9\tp(c).")})
    reasons = [letter["reason"] for letter in fed.refused.to_pylist()]
    assert sorted(reasons) == [
        "q is concluded by rules, so no stream can state it",
        "the predicate p has 1 argument, not 2",
    ]
    assert [letter["line"] for letter in fed.refused.to_pylist()] == [2, 1]
    assert fed.late == {"s": []}
    assert said(fed) == [(5, "+", "q(a)"), (7, "-", "q(a)")]
    # Of predicates that no rule mentions nothing follows, and nothing is wrong with them.
    fed = made.feed({"s": table("10\tother(x,y). alarm.\n11\tp(d).\n13\t")})
    assert fed.refused.num_rows == 0
    assert said(fed) == [(9, "+", "q(c)"), (11, "+", "q(d)"), (11, "-", "q(c)")]
    batch = {"s": table("% late\n3\tp(z).\n3\t\n", "7.atoms")}
    fed = made.feed(batch)
    assert fed.late == {"s": [0, 1]}
    # A line that only tells the time is nothing that could be lost.
    (late,) = letters_of(batch, [(made.title, fed)]).to_pylist()
    assert (late["source"], late["line"], late["t"]) == ("7.atoms", 2, 3)
    assert late["text"] == "p(z)"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_bad_lines_of_atoms_have_a_place(end: str) -> None:
    lines = ["5\tp(a).", "% a comment", "noon\tp(b).", "6\tp(", "7 p(c).", "8\tex:near(a,ex:b)."]
    rows = table("".join(f"{line}{end}" for line in lines)).to_pylist()
    assert [(row["p"], row["o"]) for row in rows if row["error"] is None] == [
        ("p", "<a>"),
        ("triple", "<a>\n<http://e/near>\n<http://e/b>"),
    ]
    assert [row["error"]["line"] for row in rows if row["error"]] == [3, 4, 5]
    assert [row["error"]["text"] for row in rows if row["error"]] == lines[2:5]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_that_are_no_text_are_bad_and_no_others(end: bytes) -> None:
    lines = [b"5\tp(a).", '6\tp("ä'.encode() + b'\xe4").', b"7\tp(b)."]
    rows = table(end.join(lines)).to_pylist()
    good = [row for row in rows if row["error"] is None]
    bad = [row["error"] for row in rows if row["error"] is not None]
    assert [(row["line"], row["t"], row["o"]) for row in good] == [(1, 5, "<a>"), (3, 7, "<b>")]
    reason = "the line is not UTF-8"
    assert bad == [{"line": 2, "column": 7, "reason": reason, "text": '6\tp("ä\ufffd").'}]


def test_a_damaged_archive_of_atoms_is_one_letter() -> None:
    packed = gzip.compress(b"5\tp(a).\n" * 1_000)
    (row,) = table(packed[:-9]).to_pylist()
    assert row["error"]["reason"] == "it cannot be read: it is gzip'd, and damaged"


@pytest.mark.filterwarnings("error")
def test_what_another_program_reads_is_not_warned_of() -> None:
    made, lines = unit("hot :- temp(X) in [3]."), "1\ttemp(a). door(b).\n9\ttemp(a).\n"
    assert said(made.feed({"s": table(lines)})) == [(1, "+", "hot"), (5, "-", "hot")]
    with pytest.warns(UnreadPredicate, match="door"):
        LarsReasoner("hot :- temp(X) in [3].").push("door(b)", at=1)
