"""Rows made into triples by templates: whatever their columns are called, and none is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ebbtide.pipeline.file.columns import names_of
from ebbtide.pipeline.file.model import Triple
from ebbtide.pipeline.sources.rate import read_rate
from ebbtide.pipeline.sources.rows import SOURCE, as_facts, read_rows, rows_of_messages
from ebbtide.pipeline.stages.years import NO_YEAR

pytestmark = pytest.mark.spark

#: Names that columns of ours have, at some step.
NAMES = ["source", "number", "line", "t", "s", "p", "o", "text", "reason", "triple", "triples"]
NAMES += ["row", "value", "before", "_metadata"]
NAMED = {name: f"a {name}" for name in NAMES}
SCHEMA = "at bigint, " + ", ".join(f"{name} string" for name in NAMES)


def made_of(column: str) -> Triple:
    return Triple(s="<http://e/s>", p=f"<http://e/{column}>", o=f'"{{{column}}}"')


def rows_of(frame: DataFrame) -> list[dict[str, Any]]:
    """What a stream of files has, or a DataFrame."""
    if not frame.isStreaming:
        return frame.toArrow().to_pylist()
    found: list[dict[str, Any]] = []
    writer = frame.writeStream.foreachBatch(
        lambda batch, _: found.extend(batch.toArrow().to_pylist())
    )
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return found


def read_json(spark: SparkSession, folder: Path, text: str, **keys: Any) -> list[dict[str, Any]]:
    folder.mkdir(exist_ok=True)
    (folder / "0.json").write_bytes(text.encode())
    return rows_of(read_rows(spark, folder, format="json", **keys))


@pytest.mark.parametrize("kind", ["json", "parquet", "messages"])
def test_a_column_may_have_any_name(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    triples = tuple(map(made_of, NAMES))
    keys: dict[str, Any] = {"schema": SCHEMA, "time": "at", "triples": triples}
    row = {"at": 1000, **NAMED}
    if kind == "messages":
        message = [("topic", 7, json.dumps(row))]
        messages = spark.createDataFrame(message, "source string, number long, value string")
        found = rows_of(rows_of_messages(messages, **keys))
        place = ("topic@7", None)
    elif kind == "json":
        found = read_json(spark, tmp_path, f"{json.dumps(row)}\n", **keys)
        place = ("0.json", 1)
    else:
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / "0.parquet")
        found = rows_of(read_rows(spark, tmp_path, format=kind, **keys))
        place = ("0.parquet", 1)
    assert {(each["source"], each["line"]) for each in found} == {place}
    assert [(each["t"], each["error"]) for each in found] == [(1000, None)] * len(NAMES)
    objects = {each["p"]: each["o"] for each in found}
    assert objects == {f"<http://e/{name}>": f'"{text}"' for name, text in NAMED.items()}


def test_fields_of_structs_and_numbers_without_end(spark: SparkSession) -> None:
    place, number, text = ("place.x", "n", "s")
    kinds = f"{SOURCE} string, t long, place struct<x: double, y: int>, n float, s string"
    rows = [("a", 1000, (1.5, 2), float("-inf"), "Infinity"), ("a", 1000, None, None, None)]
    frame = spark.createDataFrame(rows, kinds)
    found = rows_of(as_facts(frame, "t", tuple(map(made_of, (place, number, text)))))
    assert [each["o"] for each in found] == ['"1.5"', '"-INF"', '"Infinity"']


def test_a_letter_shows_the_row_as_it_is(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a", "b", None)], f"{SOURCE} string, source string, t long")
    (letter,) = rows_of(as_facts(rows, "t", (made_of("source"),)))
    assert letter["source"] == "a"
    assert letter["error"]["reason"] == "the row has no time"
    assert json.loads(letter["error"]["text"]) == {"source": "b"}


def test_a_column_of_a_rate_may_have_any_name(spark: SparkSession) -> None:
    columns = {"source": "value % 3", "t": "value", "value": "'x'"}
    facts = read_rate(spark, 1, columns, "timestamp", tuple(map(made_of, columns)))
    assert facts.columns == ["source", "line", "t", "s", "p", "o", "error"]


@pytest.mark.parametrize(
    ("time", "good"),
    [
        ("at", "1000"),
        ("cast(at as bigint)", "1000"),
        ("to_timestamp(at)", "1970-01-01T00:00:01Z"),
        ("cast(at as timestamp) + interval 0 seconds", "1970-01-01T00:00:01Z"),
        ("cast(at as double) * 1000", "1"),
        ("to_unix_timestamp(at, 'yyyy-MM-dd HH:mm:ssX') * 1000", "1970-01-01 00:00:01Z"),
        ("if(at = 'yesterday', raise_error(at), 1000)", "today"),
    ],
)
def test_a_time_that_cannot_be_is_none(spark: SparkSession, time: str, good: str) -> None:
    bad = ["yesterday", "1e300", ""] if good != "today" else ["yesterday"]
    texts = [*bad, good]
    rows = spark.createDataFrame([("a", text) for text in texts], f"{SOURCE} string, at string")
    found = rows_of(as_facts(rows, time, (made_of("at"),)))
    assert [(row["t"], row["o"]) for row in found if not row["error"]] == [(1000, f'"{good}"')]
    letters = [row["error"] for row in found if row["error"]]
    assert [json.loads(letter["text"])["at"] for letter in letters] == bad
    assert {letter["reason"] for letter in letters} == {"the row has no time"}


def test_milliseconds_that_spark_takes_for_seconds_are_told(
    spark: SparkSession, tmp_path: Path
) -> None:
    # Seconds, milliseconds, and microseconds, of which Spark's own count is too large by far.
    seconds = 1_700_000_000
    instants = [seconds, 1000 * seconds, 10**6 * seconds, -1000 * seconds]
    text = "".join(f'{{"at": {each}}}\n' for each in instants)
    keys: dict[str, Any] = {"time": "at", "triples": (made_of("at"),)}
    good, *bad = read_json(spark, tmp_path, text, schema="at timestamp", **keys)
    assert good["t"] == 1000 * seconds
    assert [each["error"]["line"] for each in bad] == [2, 3, 4]
    assert {each["error"]["reason"] for each in bad} == {NO_YEAR}
    found = read_json(spark, tmp_path, text, schema="at bigint", **keys)
    assert [each["t"] for each in found] == instants


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_are_nothing(spark: SparkSession, tmp_path: Path, end: str) -> None:
    lines = ["\ufeff", '{"at": 1}', "", " \t ", '{"at": 2} ', ""]
    keys: dict[str, Any] = {"schema": "at bigint", "time": "at", "triples": (made_of("at"),)}
    found = read_json(spark, tmp_path, end.join(lines), **keys)
    assert [(row["line"], row["t"], row["error"]) for row in found] == [(2, 1, None), (5, 2, None)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_is_one_row(spark: SparkSession, tmp_path: Path, end: str) -> None:
    good = ['\ufeff{"at": 1}', ' {"at": 2, "more": {"at": 5}} \r', "{'at': 3, 'more': NaN}"]
    bad = ['{"at": 4} {"at": 5}', '{"at": 4},', '{"at": 4}, {"at": 5}', '{"at": 4}} {"at": 5}']
    bad += ['{"at": 4} x', '{"at": 4', '[{"at": 4}]', '{"at": "x"}', '"x"', '{"at": 4}}']
    keys: dict[str, Any] = {"schema": "at bigint", "time": "at", "triples": (made_of("at"),)}
    found = read_json(spark, tmp_path, end.join([*good, *bad, "{}", "null"]), **keys)
    assert [row["t"] for row in found[: len(good)]] == [1, 2, 3]
    letters = [(row["error"]["line"], row["error"]["text"]) for row in found if row["error"]]
    assert letters[: len(bad)] == list(enumerate(bad, len(good) + 1))
    reasons = [row["error"]["reason"] for row in found if row["error"]]
    assert reasons == ["not a row of the schema"] * len(bad) + ["the row has no time"] * 2


TYPES = "boolean tinyint byte smallint short int integer bigint long float real double decimal dec"
TYPES += " numeric date time timestamp timestamp_ntz timestamp_ltz string binary void variant"


@pytest.mark.parametrize(
    "schema",
    [
        ", ".join(f"c{place} {kind}" for place, kind in enumerate(TYPES.split())),
        "a: int, b :string,c   long, D STRING",
        "struct<a: int, b: struct<c: int, d: array<int>>>",
        "a decimal(10, 2) NOT NULL, b char(3) COMMENT 'x, y (', c varchar(7)",
        "`a b` int, `c``d`: int, `e,f` int, 1st int, _x int",
        "a timestamp without time zone, b interval day to second, c interval year, t time(3)",
        "a string collate UTF8_LCASE, date date, map map<string, array<int>>, struct struct<a int>",
        "a geometry(4326), b geography(4326)",
        "a int,\n  b string\n",
    ],
)
def test_a_schema_has_the_columns_that_spark_finds(spark: SparkSession, schema: str) -> None:
    assert names_of(schema) == StructType.fromDDL(schema).names


NO_SCHEMAS = ["at bigint id string", "a int,", ", a int", "a", "a-b int", "1 int", "a bigin"]
NO_SCHEMAS += ["a struct<b: int", "a decimal(10, 2", "a int)", "a array<int)>", "a int; b int"]


@pytest.mark.parametrize("schema", NO_SCHEMAS)
def test_what_spark_takes_for_no_schema_is_none(spark: SparkSession, schema: str) -> None:
    with pytest.raises(ValueError, match="schema"):
        names_of(schema)
    with pytest.raises(ParseException):
        StructType.fromDDL(schema)
