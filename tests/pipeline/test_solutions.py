"""Solutions in typed columns: the same schema whatever a batch holds."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from ebbtide._kernel import sparql_query
from ebbtide.languages.rspql import ContinuousQuery, parse_continuous_query
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.typed import TERM, Cell, Columns, Solution, known_types
from ebbtide.queries import Answers
from ebbtide.time import FOREVER

XSD = "http://www.w3.org/2001/XMLSchema#"
WHAT = "?room (COUNT(?v) AS ?n) (AVG(?v) AS ?mean) (COUNT(?v) > 3 AS ?many) (NOW() AS ?at)"


def query(select: str = WHAT, rest: str = "GROUP BY ?room") -> ContinuousQuery:
    return parse_continuous_query(
        f"REGISTER QUERY rooms AS SELECT {select} FROM STREAM <a:s> [RANGE 3s STEP 1s] "
        f"WHERE {{ ?room <a:p> ?v }} {rest}"
    )


def literal(lexical: str, kind: str) -> str:
    return f'"{lexical}"^^<{XSD}{kind}>'


def test_what_the_query_computes_has_its_type() -> None:
    columns = Columns.of(query(), {"mean": "decimal(5,1)"})
    answers = Answers(
        3_000,
        "rooms",
        "select",
        ("room", "n", "mean", "many", "at"),
        (
            (
                "<a:kitchen>",
                literal("7", "integer"),
                literal("20.25", "decimal"),
                literal("true", "boolean"),
                literal("1970-01-01T00:00:03Z", "dateTime"),
            ),
            ('"Hall"@en', literal("0", "integer"), None, literal("false", "boolean"), None),
        ),
        until=(5_000, FOREVER),
    )
    table = columns.of_answers([answers])
    assert table.schema == columns.of_answers([]).schema
    first, second = table.to_pylist()
    assert first == {
        "t": 3_000,
        "query": "rooms",
        "op": None,
        "until": 5_000,
        "room": {"value": "a:kitchen", "datatype": None, "language": None},
        "n": 7,
        "mean": Decimal("20.3"),
        "many": True,
        "at": datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC),
    }
    assert second["room"]["language"] == "en"
    assert (second["mean"], second["at"], second["until"]) == (None, None, None)
    assert columns.of_lines([answers.json(until=True)]) == table


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("SELECT ?s { ?s <a:p> ?o BIND(STRLEN(?s) AS ?n) BIND(?n AS ?m) }", {"n", "m"}),
        # Bound in two ways: nobody knows.
        ("SELECT * { { BIND(STRLEN('a') AS ?n) } UNION { ?s <a:p> ?n } }", set()),
        ("SELECT * { { BIND(STRLEN('a') AS ?n) } UNION { BIND(BOUND(?x) AS ?n) } }", set()),
        ("SELECT * { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } VALUES ?n { 'a' } }", set()),
        ("SELECT (SUM(?x) AS ?n) { ?s ?p ?x }", set()),
    ],
)
def test_only_what_is_certain_is_known(text: str, kinds: set[str]) -> None:
    made = {name for name in known_types(sparql_query(text)) if len(name) == 1}
    assert made == kinds


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("bigint", "21.0", 21),
        ("double", "INF", float("inf")),
        ("double", "2.5E1", 25.0),
        ("decimal(4,2)", "3.145", Decimal("3.15")),
        ("boolean", "1", True),
        ("timestamp", "1970-01-01T01:00:00+01:00", datetime(1970, 1, 1, tzinfo=UTC)),
        ("string", "http://e/a", "http://e/a"),
    ],
)
def test_a_declared_type_reads_the_lexical_form(kind: str, text: str, value: object) -> None:
    columns = Columns("q", ("x",), {"x": kind})
    assert columns.table([Solution(0, "+", None, (Cell(text, "a:any"),))])["x"].to_pylist() == [
        value
    ]


@pytest.mark.parametrize(
    ("kind", "text"),
    [("bigint", "2.5"), ("bigint", str(2**63)), ("double", "warm"), ("decimal(3,2)", "10")],
)
def test_what_does_not_fit_is_named(kind: str, text: str) -> None:
    columns = Columns("rooms", ("x",), {"x": kind})
    with pytest.raises(PipelineError) as raised:
        columns.table([Solution(7, None, None, (Cell(text),))])
    assert str(raised.value) == f"rooms: at 7 ?x is {text!r}, which is no {kind}"


def test_types_are_of_variables_there_are() -> None:
    with pytest.raises(PipelineError, match="rooms has no variable v; it has room, n"):
        Columns.of(query("?room (COUNT(?v) AS ?n)"), {"v": "double"})


def test_types_are_types_of_columns() -> None:
    with pytest.raises(PipelineError, match=r"\?mean: float is not a type of a column \(such as"):
        Columns.of(query(), {"mean": "float"})


@pytest.mark.parametrize("taken", ["t", "query", "op", "until", "T"])
def test_a_variable_has_a_column_of_its_own(taken: str) -> None:
    """Two of one name are nothing that Spark could read."""
    with pytest.raises(PipelineError, match=rf"rooms: \?{taken} needs another name, SELECT \(\?"):
        Columns.of(query(f"(?v AS ?{taken})", ""), {})


def test_other_forms_have_columns_too() -> None:
    register = "FROM STREAM <a:s> [RANGE 3s STEP 1s]"
    ask = parse_continuous_query(f"REGISTER QUERY q AS ASK {register} WHERE {{ ?s ?p ?o }}")
    told = Answers(1, "q", "ask", (), ())
    for table in (
        Columns.of(ask, {}).of_answers([told]),
        Columns.of(ask, {}).of_lines([told.json()]),
    ):
        assert table["answer"].to_pylist() == [False]
    made = parse_continuous_query(
        f"REGISTER QUERY q AS CONSTRUCT {{ ?s ?p ?o }} {register} WHERE {{ ?s ?p ?o }}"
    )
    triple = ("<a:s>", "<a:p>", '"two words"')
    told = Answers(1, "q", "construct", ("subject", "predicate", "object"), (triple,))
    columns = Columns.of(made, {})
    assert columns.of_answers([told]) == columns.of_lines([told.json()])
    assert columns.of_answers([told])["object"].to_pylist() == ['"two words"']
    assert TERM not in columns.schema.types
