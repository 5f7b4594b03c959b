"""Numbers and literals as SPARQL counts and writes them, whether or not a query is incremental."""

from __future__ import annotations

import pytest
from tests.unit.queries.test_order import rows, typed

from ebbtide.terms.term import XSD

SUMS = "SELECT (SUM(?y) AS ?sum) (AVG(?y) AS ?mean) $ { ?x :p ?y }"


@pytest.mark.parametrize("incremental", [True, False])
@pytest.mark.parametrize(
    ("values", "sum_", "mean"),
    [
        ([("1.5", "float"), ("2", "float")], ("3.5", "float"), ("1.75", "float")),
        ([("0.1", "float"), ("1.5", "float"), ("2", "float")], ("3.6", "float"), None),
        ([("0.1", "float")], ("0.1", "float"), ("0.1", "float")),
        ([("1.5", "float"), ("2", "integer")], ("3.5", "float"), ("1.75", "float")),
        ([("1.5", "float"), ("2.5", "decimal")], ("4", "float"), ("2", "float")),
        # A float is not what its digits say, and a double can tell.
        ([("0.1", "float"), ("2", "double")], ("2.100000001490116", "double"), None),
        ([("3", "int"), ("4", "byte")], ("7", "integer"), ("3.5", "decimal")),
        ([("INF", "float"), ("1", "float")], ("INF", "float"), ("INF", "float")),
    ],
)
def test_sums_have_the_type_that_addition_gives(
    values: list[tuple[str, str]],
    sum_: tuple[str, str],
    mean: tuple[str, str] | None,
    incremental: bool,
) -> None:
    ((total, average),) = rows(SUMS, [typed(*value) for value in values], incremental)
    assert total == typed(*sum_)
    if mean is not None:
        assert average == typed(*mean)


@pytest.mark.parametrize("incremental", [True, False])
def test_what_has_too_many_digits_has_no_sum(incremental: bool) -> None:
    """Numbers are those of oxsdatatypes; beyond them there is no answer, and not a wrong one."""
    digits = "1234567890123456789"
    for text, datatype in ((f"9{digits}", "integer"), (f"0.{digits}", "decimal")):
        values = [typed(text, datatype), typed("1", "integer")]
        assert rows(SUMS, values, incremental) == [(None, None)]
    most = typed("9223372036854775807", "integer")
    ((total, _),) = rows(SUMS, [most, typed("1", "integer")], incremental)
    assert total is None


WRITTEN = [
    ("01", "integer"),
    ("+2", "int"),
    ("1.50", "decimal"),
    ("1.0E0", "double"),
    ("1", "boolean"),
    ("2020-01-01T00:00:00.000Z", "dateTime"),
    ("x", "integer"),
]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (STR(?y) AS ?text) (DATATYPE(?y) AS ?type) $ { ?x :p ?y }",
        "SELECT ?text ?type $ { ?x :p ?y BIND(STR(?y) AS ?text) BIND(DATATYPE(?y) AS ?type) }",
        "SELECT (STR(?y) AS ?text) (DATATYPE(?y) AS ?type) $ { ?x :p ?y } ORDER BY ?y LIMIT 9",
        "SELECT ?text (SAMPLE(?t) AS ?type) "
        "$ { ?x :p ?y BIND(DATATYPE(?y) AS ?t) } GROUP BY (STR(?y) AS ?text)",
    ],
)
def test_str_and_datatype_are_those_of_the_literal_as_it_is_written(query: str) -> None:
    found = rows(query, [typed(*value) for value in WRITTEN])
    assert sorted(found) == sorted((f'"{text}"', f"<{XSD}{name}>") for text, name in WRITTEN)


def test_filters_see_what_is_written() -> None:
    values = [typed("01", "integer"), typed("1", "integer"), typed("1", "int")]
    for test, wanted in (
        ("STR(?y) = '01'", values[:1]),
        ("DATATYPE(?y) = xsd:int", values[2:]),
        ("sameTerm(?y, 1) || STRLEN(STR(?y)) > 1", values[:2]),
        ("?y = 1", values),
    ):
        query = f"SELECT ?y $ {{ ?x :p ?y FILTER({test}) }}"
        assert sorted(value for (value,) in rows(query, values)) == sorted(wanted)
