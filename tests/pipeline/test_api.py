"""Reasoning as a step of a Spark program: DataFrames in, DataFrames out."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from ebbtide.pipeline.api import answer, read_rdf, reason, solutions
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.placements.sharded import labels_of
from ebbtide.pipeline.units.rules import Rules
from ebbtide.queries import QueryEngine
from ebbtide.reasoner import Reasoner
from ebbtide.reasoner.intake import as_program
from ebbtide.time import Sliding

from .stream import in_order, rows_of
from .test_shards import CAMPUS, TYPE, e, table_of

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

FACTS = [
    (700 * number, e(f"x{number % 5}"), p, o)
    for number in range(30)
    for p, o in ((e("teaches"), e(f"x{(number + 1) % 7}")), (TYPE, e("Student")))
]
SETTINGS: dict[str, Any] = {"step": 1_000, "lateness": 500}


def whole() -> Rules:
    unit = Rules(
        as_program("rdfs-sparkwave"),
        {"default": Sliding(3_000)},
        background=[CAMPUS],
        **SETTINGS,
    )
    unit.begin()
    return unit


def rows(collected: Any) -> list[dict[str, Any]]:
    return in_order([row.asDict() for row in collected])


def test_static_facts_are_reasoned_over_to_the_end(spark: SparkSession) -> None:
    unit = whole()
    batch = {"default": table_of(FACTS)}
    expected = unit.feed(batch).rows["rules"].to_pylist()
    expected += unit.finish().rows["rules"].to_pylist()
    facts = spark.createDataFrame(FACTS, "t long, s string, p string, o string").repartition(3)
    for shards in (1, 3):
        told = reason(
            facts,
            "rdfs-sparkwave",
            window=Sliding(3_000),
            background=[CAMPUS],
            shards=shards,
            **SETTINGS,
        )
        assert rows(told.collect()) == in_order(expected)


KEYED = """
[t: (?x <http://e/in> ?y), (?y <http://e/in> ?z) -> (?x <http://e/in> ?z)]
[n: (?x <http://e/in> ?y), (?k <http://e/named> ?n) -> (?x <http://e/name> ?n)]
"""


def test_a_declared_key_cuts_what_cannot_be_proved(spark: SparkSession) -> None:
    """Departments are apart, and what has no department is known to all of them."""
    facts = [
        (100 * n + d, e(f"d{d}/x{n}"), e("in"), e(f"d{d}/x{n + 1}"))
        for n in range(8)
        for d in range(5)
    ] + [(250, e("all"), e("named"), '"here"')]
    oracle = Reasoner(KEYED, window=Sliding(500), engine="reference", step=100)
    expected = rows_of(
        [*oracle.run(((s, p, o), t) for t, s, p, o in sorted(facts)), *oracle.finish()]
    )
    frame = spark.createDataFrame(facts, "t long, s string, p string, o string").repartition(2)
    settings: dict[str, Any] = {"window": Sliding(500), "step": 100, "shards": 3}
    with pytest.raises(PipelineError, match=r"global: .*; a key may be declared"):
        reason(frame, KEYED, **settings)
    with pytest.raises(PipelineError, match=r"the key bad\(t\) is no expression over s, p and o"):
        reason(frame, KEYED, key="bad(t)", **settings)
    key = "nullif(regexp_extract(s, '(d[0-9]+)/', 1), '')"
    with pytest.warns(UserWarning, match=r"not proved .* the proof fails for t \(<rules>:2:1\)"):
        told = reason(frame, KEYED, key=key, **settings)
    found = [
        {name: value for name, value in row.asDict().items() if value is not None}
        for row in told.collect()
    ]
    assert in_order(found) == expected


def test_every_shard_has_a_task_of_its_own(spark: SparkSession) -> None:
    for shards in (1, 2, 5):
        labels = labels_of(spark, shards)
        assert labels[0] == 0
        frame = spark.createDataFrame([(label,) for label in labels], "shard int")
        tasks = frame.repartition(shards, "shard").selectExpr("spark_partition_id()").collect()
        assert len(set(tasks)) == shards


FACTS_A_FILE = 20


def stream_of(spark: SparkSession, incoming: Path) -> DataFrame:
    """The facts as a stream, a file a batch."""
    incoming.mkdir()
    for number, first in enumerate(range(0, len(FACTS), FACTS_A_FILE)):
        some = FACTS[first : first + FACTS_A_FILE]
        file = incoming / f"{number}.csv"
        file.write_text("".join("|".join(map(str, fact)) + "\n" for fact in some))
        os.utime(file, (60 * number, 60 * number))
    lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(incoming))
    return lines.selectExpr("split(value, '[|]') AS c").selectExpr(
        "timestamp_millis(CAST(c[0] AS LONG)) AS t", "c[1] AS s", "c[2] AS p", "c[3] AS o"
    )


def written_to_end(frame: DataFrame, folder: Path) -> None:
    """A query like any other, from its start until it has read everything."""
    query = (
        frame.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )
    query.processAllAvailable()
    query.stop()


def test_a_stream_in_shards_says_what_one_reasoner_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    unit = whole()
    expected: list[dict[str, Any]] = []
    for first in range(0, len(FACTS), FACTS_A_FILE):
        batch = {"default": table_of(FACTS[first : first + FACTS_A_FILE])}
        expected += unit.feed(batch).rows["rules"].to_pylist()
    told = reason(
        stream_of(spark, tmp_path / "in"),
        "rdfs-sparkwave",
        window=Sliding(3_000),
        background=[CAMPUS],
        shards=2,
        **SETTINGS,
    )
    written_to_end(told, tmp_path)
    assert rows(spark.read.parquet(str(tmp_path / "out")).collect()) == in_order(expected)


QUERY = """PREFIX ex: <http://e/> REGISTER QUERY taught AS
SELECT ?who ?what FROM STREAM ex:campus [RANGE 2s STEP 1s] WHERE { ?who ex:teaches ?what }"""


def answered(collected: Any) -> list[Any]:
    """Ticks and solutions, which have no order within a tick."""
    found = [(row.t, json.loads(row.answer)["bindings"]) for row in collected]
    return sorted((t, sorted(map(str, bindings))) for t, bindings in found)


def test_queries_answer_in_data_frames(spark: SparkSession, tmp_path: Path) -> None:
    engine = QueryEngine()
    expected: list[Any] = []
    engine.register(QUERY).subscribe(expected.append)
    for t, s, p, o in FACTS:
        engine.push("http://e/campus", (s, p, o), at=t)
    before_the_end = len(expected)
    engine.finish()
    wanted = [(each.tick, sorted(map(str, each.json()["bindings"]))) for each in expected]
    named = "'http://e/campus' AS stream"
    static = spark.createDataFrame(FACTS, "t long, s string, p string, o string")
    assert answered(answer(static.selectExpr(named, "*"), QUERY).collect()) == sorted(wanted)

    streamed = answer(stream_of(spark, tmp_path / "in").selectExpr(named, "*"), QUERY)
    written_to_end(streamed, tmp_path)
    told = spark.read.parquet(str(tmp_path / "out"))
    assert answered(told.collect()) == sorted(wanted[:before_the_end])
    rows = solutions(told, QUERY, {"what": "string"})
    assert rows.schema["what"].dataType.simpleString() == "string"
    found = sorted((row.t, row.who.value, row.what) for row in rows.collect())
    assert found == sorted(
        (each.tick, str(row["who"].value), str(row["what"].value))
        for each in expected[:before_the_end]
        for row in each.bindings
    )


def test_late_facts_are_dead_letters_if_they_are_wanted(
    spark: SparkSession, tmp_path: Path
) -> None:
    late = (100, e("late"), e("teaches"), e("x1"))
    stream = stream_of(spark, tmp_path / "in")
    (tmp_path / "in/late.csv").write_text("|".join(map(str, late)) + "\n")
    facts = stream.selectExpr("'http://e/campus' AS stream", "concat('row of ', s) AS source", "*")
    rules = reason(
        facts.drop("stream"), "rdfs-sparkwave", window=Sliding(3_000), letters=True, **SETTINGS
    )
    answers = answer(facts, QUERY, letters=True)
    for number, frame in enumerate((rules, answers)):
        folder = tmp_path / str(number)
        written_to_end(frame, folder)
        told = spark.read.parquet(str(folder / "out"))
        assert told.where("letter IS NULL").count() > 10
        (row,) = told.where("letter IS NOT NULL").collect()
        assert (row.letter.t, row.letter.source) == (100, f"row of {late[1]}")
        assert row.letter.text == " ".join(late[1:])
        assert (row.t, row.op) == (None, None)


def test_what_is_wrong_with_the_facts_is_said(spark: SparkSession) -> None:
    with pytest.raises(PipelineError, match="the facts lack the columns p, o"):
        reason(spark.createDataFrame([(1, "a")], "t long, s string"), "rdfs")


def test_rdf_files_are_data_frames(spark: SparkSession, tmp_path: Path) -> None:
    lines = "".join(f"<http://e/s{n}> <http://e/p> _:b{n % 3} .\n" for n in range(100))
    (tmp_path / "a.nt").write_text(lines)
    (tmp_path / "b.nq.gz").write_bytes(gzip.compress(b"<a:s> <a:p> <a:o> <a:g> .\n"))
    (tmp_path / "c.ttl").write_text("<a:s> <a:p> 1, 2 .")
    found = read_rdf(spark, *(tmp_path / name for name in ("a.nt", "b.nq.gz", "c.ttl"))).collect()
    assert len(found) == 103
    assert len({row.o for row in found if row.o.startswith("_:")}) == 3
    assert [row.g for row in found if row.g] == ["<a:g>"]
    (tmp_path / "d.nt").write_text("<a:s> <a:p> .\n")
    with pytest.raises(Exception, match=r"d\.nt: "):
        read_rdf(spark, tmp_path / "d.nt").collect()
