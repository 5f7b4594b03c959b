"""The builtins of the reference engine, by hand."""

from __future__ import annotations

import pytest

from ebbtide.engines.reference.builtins import FUNCTIONS, TESTS
from ebbtide.terms import IRI, BlankNode, Literal, Term
from ebbtide.terms.term import XSD


def term(text: str) -> Term:
    """`decimal:2.5`, `fi@hei`, `<iri>`, `_:b`, or a plain string."""
    if text.startswith("<"):
        return IRI(text[1:-1])
    if text.startswith("_:"):
        return BlankNode(text[2:])
    if "@" in text:
        language, _, lexical = text.partition("@")
        return Literal(lexical, language=language)
    datatype, found, lexical = text.partition(":")
    return Literal(lexical, XSD + datatype) if found else Literal(text)


@pytest.mark.parametrize(
    ("test", "left", "right", "holds"),
    [
        ("equal", "integer:2", "decimal:2.0", True),
        ("equal", "int:02", "double:2E0", True),
        ("equal", "integer:2", "2", False),
        ("equal", "integer:two", "integer:two", True),  # no value, but identical
        ("equal", "integer:two", "integer:Two", False),
        ("equal", "boolean:1", "boolean:true", True),
        ("equal", "double:NaN", "double:NaN", False),
        ("equal", "fi@hei", "fi@hei", True),
        ("equal", "fi@hei", "hei", False),
        ("equal", "<a>", "<a>", True),
        ("notEqual", "<a>", "integer:2", True),
        ("notEqual", "double:NaN", "double:NaN", True),
        ("lessThan", "integer:2", "decimal:2.5", True),
        ("lessThan", "<a>", "integer:2", False),
        ("lessThan", "a", "b", True),
        ("lessThan", "fi@a", "fi@b", False),
        ("lessThan", "boolean:false", "boolean:true", True),
        ("le", "decimal:2.50", "double:2.5", True),
        ("ge", "double:NaN", "integer:1", False),
        ("greaterThan", "double:INF", "integer:9223372036854775807", True),
        ("equal", "dateTime:2024-01-01T00:00:00Z", "dateTime:2024-01-01T02:00:00+02:00", True),
        ("equal", "dateTime:2023-12-31T24:00:00", "dateTime:2024-01-01T00:00:00", True),
        ("lessThan", "dateTime:2024-01-01T00:00:00.25", "dateTime:2024-01-01T00:00:00.5", True),
        # Without a zone the instant may lie 14 hours to either side.
        ("lessThan", "dateTime:2024-01-01T00:00:00", "dateTime:2024-01-01T13:00:00Z", False),
        ("lessThan", "dateTime:2024-01-01T00:00:00", "dateTime:2024-01-01T14:00:01Z", True),
        ("lessThan", "date:2024-02-28", "date:2024-02-29", True),
        ("lessThan", "date:2023-02-28", "date:2023-02-29", False),  # there is no such day
        ("lessThan", "date:2024-01-01", "dateTime:2024-01-02T00:00:00", False),
        ("strStarts", "<http://e/a>", "http", True),
        ("strEnds", "fi@hei", "ei", True),
        ("strContains", "_:b", "b", False),
        ("regex", "train 7", "[0-9]", True),
        ("regex", "train", "(", False),
    ],
)
def test_comparisons_and_texts(test: str, left: str, right: str, holds: bool) -> None:
    assert TESTS[test](term(left), term(right)) is holds


@pytest.mark.parametrize(
    ("test", "of"),
    [
        ("isLiteral", {"2", "fi@hei"}),
        ("notLiteral", {"<a>", "_:b"}),
        ("isURI", {"<a>"}),
        ("isBNode", {"_:b"}),
        ("notBNode", {"2", "fi@hei", "<a>"}),
    ],
)
def test_kinds(test: str, of: set[str]) -> None:
    assert {text for text in ("2", "fi@hei", "<a>", "_:b") if TESTS[test](term(text))} == of


@pytest.mark.parametrize(
    ("function", "left", "right", "result"),
    [
        ("sum", "integer:2", "byte:3", "integer:5"),
        ("sum", "integer:2", "decimal:0.5", "decimal:2.5"),
        ("sum", "decimal:2.5", "decimal:0.5", "decimal:3"),
        ("sum", "decimal:2.5", "double:0.5", "double:3"),
        ("sum", "integer:9223372036854775807", "integer:1", None),
        ("sum", "integer:1", "1", None),
        ("difference", "integer:-9223372036854775808", "integer:1", None),
        ("difference", "decimal:0.1", "decimal:0.3", "decimal:-0.2"),
        ("product", "decimal:0.000000001", "decimal:0.000000001", "decimal:0.000000000000000001"),
        ("product", "decimal:0.0000000001", "decimal:0.0000000001", None),
        ("product", "integer:0", "decimal:0.5", "decimal:0"),
        ("product", "double:1e300", "double:1e300", "double:INF"),
        ("quotient", "integer:6", "integer:2", "decimal:3"),
        ("quotient", "integer:-2", "integer:3", "decimal:-0.666666666666666666"),
        ("quotient", "integer:0", "decimal:0.5", "decimal:0"),
        ("quotient", "integer:1", "integer:0", None),
        ("quotient", "double:1", "double:0", None),
        ("min", "integer:2", "decimal:1.50", "decimal:1.50"),
        ("min", "integer:2", "decimal:2.0", "integer:2"),
        ("max", "integer:2", "decimal:2.0", "integer:2"),
        ("max", "a", "b", "b"),
        ("max", "integer:2", "<a>", None),
        ("max", "double:NaN", "double:1", None),
        ("strConcat", "<http://e/>", "integer:7", "http://e/7"),
        ("strConcat", "a", "_:b", None),
    ],
)
def test_functions_of_two(function: str, left: str, right: str, result: str | None) -> None:
    expected = Literal("http://e/7") if result == "http://e/7" else result and term(result)
    assert FUNCTIONS[function](term(left), term(right)) == expected


def test_a_length_counts_characters() -> None:
    assert FUNCTIONS["strLength"](Literal("hä\U0001d538")) == term("integer:3")
    assert FUNCTIONS["strLength"](BlankNode("b")) is None
