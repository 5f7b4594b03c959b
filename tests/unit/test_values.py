"""Terms as Python values: only texts that a datatype has become one, and nothing is lost."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from ebbtide.queries import Answers
from ebbtide.terms import Literal, to_python
from ebbtide.terms.term import XSD


@pytest.mark.parametrize(
    ("text", "datatype", "value"),
    [
        ("+7", "integer", 7),
        ("5", "nonNegativeInteger", 5),
        (".5", "decimal", Decimal("0.5")),
        ("-INF", "float", float("-inf")),
        ("1E3", "double", 1000.0),
        ("2026-01-02T03:04:05.500000000Z", "dateTime", datetime(2026, 1, 2, 3, 4, 5, 500_000, UTC)),
        ("2026-01-02", "date", date(2026, 1, 2)),
    ],
)
def test_a_literal_has_a_value(text: str, datatype: str, value: Any) -> None:
    found = to_python(Literal(text, XSD + datatype))
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("1_000", "integer"),
        (" 5", "integer"),
        ("٣", "integer"),
        ("1e5", "decimal"),
        ("NaN", "decimal"),
        ("infinity", "double"),
        ("2026-01-02", "dateTime"),
        ("2026-01-02T03:04:05.123456789Z", "dateTime"),
        ("20260102", "date"),
    ],
)
def test_a_literal_that_python_has_no_value_for_stays_one(text: str, datatype: str) -> None:
    literal = Literal(text, XSD + datatype)
    assert to_python(literal) == literal


def test_instants_without_a_zone_are_not_those_of_one() -> None:
    texts = [Literal(f"2026-01-02T03:04:05{zone}", XSD + "dateTime").text for zone in ("Z", "")]
    answers = Answers(1, "q", "select", ("at",), tuple((text,) for text in texts))
    assert answers.to_arrow()["at"].to_pylist() == texts
