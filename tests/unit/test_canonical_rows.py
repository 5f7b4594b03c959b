"""Rows that Spark made into facts: one text a term, and a reason where there is no fact."""

from __future__ import annotations

from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from ebbtide.pipeline.stages.canonical import NO_FACT, NO_TIME, seeing  # noqa: E402
from ebbtide.pipeline.stages.parse import error_type  # noqa: E402
from ebbtide.pipeline.stages.years import NO_INSTANT  # noqa: E402
from ebbtide.time.instant import EARLIEST, LATEST  # noqa: E402

P = "<http://e/p>"
BAD = {"line": 7, "column": None, "reason": "no JSON", "text": "{"}


def rows(*terms: tuple[Any, Any, Any], error: Any = None) -> Any:
    count = len(terms)
    columns = dict(zip("spo", map(list, zip(*terms, strict=True)), strict=True))
    return pa.record_batch(
        {
            "source": ["a.json"] * count,
            "line": pa.array(range(1, count + 1), pa.int32()),
            "t": pa.array([5] * count, pa.int64()),
            **{name: pa.array(column, pa.string()) for name, column in columns.items()},
            "error": pa.array([error] + [None] * (count - 1), error_type()),
        }
    )


def at(batch: Any, instants: list[int | None]) -> Any:
    times = pa.array(instants, pa.int64())
    return batch.set_column(batch.schema.get_field_index("t"), "t", times)


def seen(batch: Any, longest_term: int = 100) -> list[dict[str, Any]]:
    (found,) = seeing(longest_term)([batch])
    assert found.schema == batch.schema
    return list(found.to_pylist())


def test_a_term_has_one_text():
    string = '"x"^^<http://www.w3.org/2001/XMLSchema#string>'
    batch = rows(("<http://e/a>", P, string), ("_:b", P, '"hei"@FI'), ("<http://e/a>", P, P))
    assert [row["o"] for row in seen(batch)] == ['"x"', '"hei"@fi', P]
    assert all(row["error"] is None and row["t"] == 5 for row in seen(batch))


def test_what_is_no_triple_says_why():
    batch = rows((P, P, P), ('"a"', P, P), (P, P, '"a'), (P, "_:b", P), (P, P, None))
    first, *others = seen(batch)
    assert (first["t"], first["error"]) == (5, None)
    assert all(row[name] is None for row in others for name in ("t", "s", "p", "o"))
    reasons = [row["error"]["reason"] for row in others]
    assert reasons[0].startswith("a subject is written as in N-Triples")
    assert reasons[1] == 'not an RDF term: "a'
    assert reasons[2].startswith("a predicate is written as in N-Triples")
    assert reasons[3].startswith("an object is written as in N-Triples")
    assert [row["error"]["line"] for row in others] == [2, 3, 4, 5]
    assert others[1]["error"]["text"] == f'{P} {P} "a'


def test_a_relative_iri_is_a_term_of_lars_alone():
    batch = rows((P, P, "<b>"), (P, P, '"5"^^<int>'), ("<a>", P, P))
    reasons = [row["error"]["reason"] for row in seen(batch)]
    assert [reason.partition(";")[0] for reason in reasons] == [
        f"the IRI <{name}> is relative" for name in ("b", "int", "a")
    ]
    (found,) = seeing(100, relative=True)([batch])
    assert found.equals(batch)


def test_a_term_that_is_too_long():
    (row,) = seen(rows((P, P, '"' + "x" * 100 + '"')))
    assert row["error"]["reason"] == "a term is longer than 100 bytes"


def test_a_time_that_is_no_instant():
    """One such row would end every run that begins with it."""
    instants = [EARLIEST, LATEST, EARLIEST - 1, LATEST + 1]
    found = seen(at(rows(*[(P, P, P)] * 4), instants))
    assert [row["t"] for row in found] == [EARLIEST, LATEST, None, None]
    assert [row["error"] and row["error"]["reason"] for row in found[1:]] == [
        None,
        NO_INSTANT,
        NO_INSTANT,
    ]


def test_bytes_that_are_no_text():
    """Spark hands on whatever it was given as a string."""
    batch = rows((P, P, P), (P, P, P), (P, P, P))
    contents = [P.encode(), b"<http://e/\xff>", "<http://e/\u00e4>".encode()]
    place = batch.schema.get_field_index("o")
    batch = batch.set_column(place, "o", pa.array(contents).view(pa.string()))
    first, second, third = seen(batch)
    assert (first["o"], first["error"]) == (P, None)
    assert (third["o"], third["error"]) == ("<http://e/\u00e4>", None)
    assert second["s"] is second["o"] is None
    assert second["error"]["reason"] == "it has bytes that are not UTF-8"
    assert second["error"]["text"] == f"{P} {P} <http://e/\ufffd>"


def test_an_error_of_before_stays():
    found = seen(rows((None, None, None), (P, P, P), error=BAD))
    assert [row["error"] for row in found] == [None, BAD]


def test_rows_of_strangers_are_told_what_a_fact_needs():
    batch = rows((P, P, P), ("Ada", P, P), (P, P, None), (P, "<http://e/p", P), (P, P, '"a'))
    batch = at(batch, [None, 5, 5, 5, 5])
    (found,) = seeing(100, foreign=True)([batch])
    assert found.schema == batch.schema
    errors = [row["error"] for row in found.to_pylist()]
    assert [error["reason"] for error in errors] == [
        NO_TIME,
        *[NO_FACT] * 3,
        'not an RDF term: "a',
    ]
    assert [error["text"] for error in errors[:3]] == [
        f"{P} {P} {P}",
        f"Ada {P} {P}",
        f"{P} {P} null",
    ]
    for row, reason in enumerate([NO_TIME, NO_FACT, NO_FACT, NO_FACT]):
        with pytest.raises(ValueError, match=f"no fact: {reason}: "):
            list(seeing(100, fail=True, foreign=True)([batch.slice(row, 1)]))
