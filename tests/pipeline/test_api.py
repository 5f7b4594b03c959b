"""Reasoning as a step of a Spark program: DataFrames in, DataFrames out."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.streaming.query import StreamingQuery

from ebbtide.engines.lars_answer import texts
from ebbtide.languages.lars import parse_lars
from ebbtide.pipeline import answer, read_rdf, reason, run_query, solutions
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.placements.sharded import labels_of
from ebbtide.pipeline.session import unchanged
from ebbtide.pipeline.stages.years import NO_YEAR
from ebbtide.pipeline.units.rules import Rules
from ebbtide.program import Fact
from ebbtide.queries import QueryEngine
from ebbtide.reasoner import Reasoner
from ebbtide.reasoner.intake import as_program
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.time import Count, Session, Sliding, Window

from .stream import in_order, rows_of
from .test_shards import CAMPUS, TYPE, e, table_of

pytestmark = pytest.mark.spark

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


@pytest.mark.parametrize("shards", [3, 5])
def test_a_declared_key_cuts_what_cannot_be_proved(spark: SparkSession, shards: int) -> None:
    """Departments are apart, and what has no department is known to all and told by one of them."""
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
    settings: dict[str, Any] = {"window": Sliding(500), "step": 100, "shards": shards}
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
    return stream_again(spark, incoming)


def stream_again(spark: SparkSession, incoming: Path) -> DataFrame:
    """The stream of the files that are there."""
    lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(incoming))
    return lines.selectExpr("split(value, '[|]') AS c").selectExpr(
        "timestamp_millis(CAST(c[0] AS LONG)) AS t", "c[1] AS s", "c[2] AS p", "c[3] AS o"
    )


def written_to_end(frame: DataFrame, folder: Path) -> None:
    """A query like any other, from its start until it has read everything.

    As users start one: on a machine that is too busy Spark does not wait for Python.
    """
    writer = (
        frame.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
    run_query(writer, StreamingQuery.processAllAvailable).stop()


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

    (tmp_path / "in/3.csv").write_text((tmp_path / "in/2.csv").read_text())
    counted = reason(
        stream_again(spark, tmp_path / "in"), "rdfs-sparkwave", window=Count(7), **SETTINGS
    )
    with pytest.raises(PySparkException, match="another query: it was of rules over windows of t"):
        written_to_end(counted, tmp_path)


@pytest.mark.parametrize("window", [Count(7), Session(900, (0,))])
def test_windows_that_are_not_of_time_are_in_one_place(
    spark: SparkSession, tmp_path: Path, window: Window
) -> None:
    """Static, and as a stream whose query ends and goes on; no batch decides what they hold."""
    oracle = Reasoner("rdfs-sparkwave", window=window, engine="reference", **SETTINGS)
    oracle.parse(CAMPUS)
    before_the_end = [*oracle.run(((s, p, o), t) for t, s, p, o in FACTS)]
    expected = [*before_the_end, *oracle.finish()]
    settings: dict[str, Any] = {"window": window, "background": [CAMPUS], **SETTINGS}
    static = spark.createDataFrame(FACTS, "t long, s string, p string, o string").repartition(3)
    assert told_by_rules(reason(static, "rdfs-sparkwave", **settings)) == rows_of(expected)
    with pytest.raises(PipelineError, match=r"count windows and sessions .* no shards and no key"):
        reason(static, "rdfs-sparkwave", shards=2, **settings)

    stream = stream_of(spark, tmp_path / "in")
    last = (tmp_path / "in/2.csv").rename(tmp_path / "2.csv")
    written_to_end(reason(stream, "rdfs-sparkwave", **settings), tmp_path)
    last.rename(tmp_path / "in/2.csv")
    written_to_end(reason(stream, "rdfs-sparkwave", **settings), tmp_path)
    assert told_by_rules(spark.read.parquet(str(tmp_path / "out"))) == rows_of(before_the_end)

    (tmp_path / "in/3.csv").write_text((tmp_path / "in/2.csv").read_text())
    with pytest.raises(PySparkException, match="the window of stream default was "):
        written_to_end(
            reason(stream, "rdfs-sparkwave", **settings | {"window": Count(8)}), tmp_path
        )
    with pytest.raises(PySparkException, match=r"was of queries, .* is of rules over windows of t"):
        written_to_end(
            reason(stream, "rdfs-sparkwave", **settings | {"window": Sliding(900)}), tmp_path
        )


def told_by_rules(frame: DataFrame) -> list[dict[str, Any]]:
    told = (row.asDict().items() for row in frame.collect())
    return in_order([{k: v for k, v in each if v is not None} for each in told])


def test_a_query_that_fails_is_not_started_again(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("no fact")
    lines = spark.readStream.text(str(tmp_path / "in"))
    facts = lines.selectExpr("1000 AS t", "value AS s", "value AS p", "value AS o")
    writer = (
        reason(facts, "rdfs-sparkwave")
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
    )
    said: list[str] = []
    with pytest.raises(StreamingQueryException, match="no fact"):
        run_query(writer, say=said.append)
    assert said == []


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


def test_a_stream_that_no_query_asks_for_is_said(spark: SparkSession) -> None:
    """Streams are IRIs, and not texts of N-Triples as the terms are."""
    facts = spark.createDataFrame(FACTS, "t long, s string, p string, o string")
    said = "there is no stream <http://e/campus>; there are http://e/campus"
    with pytest.raises(PySparkException, match=said):
        answer(facts.selectExpr("'<http://e/campus>' AS stream", "*"), QUERY).collect()


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
    with pytest.raises(PipelineError, match="a shard at least, not 0"):
        reason(
            spark.createDataFrame(FACTS, "t long, s string, p string, o string"), "rdf", shards=0
        )
    with pytest.raises(PipelineError, match="the facts lack the columns p, o"):
        reason(spark.createDataFrame([(1, "a")], "t long, s string"), "rdfs")


def test_what_the_time_may_be(spark: SparkSession) -> None:
    """Milliseconds as numbers or texts, and timestamps; a text that is no number is no fact."""
    facts = spark.createDataFrame(FACTS[:1], "t long, s string, p string, o string")
    for kind in ("int", "double", "decimal(20,3)", "string"):
        (row,) = reason(facts.withColumn("t", F.col("t").cast(kind)), ()).collect()
        assert (row.t, row.s) == FACTS[0][:2]
    noon = facts.withColumn("t", F.lit("noon"))
    (row,) = reason(noon, (), letters=True).collect()
    assert row.letter.reason.startswith("it needs t: a number of milliseconds")
    with pytest.raises(PySparkException, match="no fact: it needs t"):
        reason(noon, "rdf").collect()
    for kind in ("date", "boolean", "array<int>"):
        wrong = facts.withColumn("t", F.lit(None).cast(kind))
        with pytest.raises(PipelineError, match=f"the column is of type {kind}"):
            reason(wrong, "rdf")


def test_timestamps_of_no_year_are_dead_letters_or_fail(spark: SparkSession) -> None:
    """Milliseconds that were taken for seconds, as a pipeline file has it; numbers may be any."""
    seconds = [1_700_000_000, 1_700_000_000_000]
    facts = spark.createDataFrame(
        [(each, "http://e/stream", *FACTS[0][1:]) for each in seconds],
        "t long, stream string, s string, p string, o string",
    )
    rules = "[(?x <http://e/p> ?y) -> (?y <http://e/q> ?x)]"
    asked = (
        "REGISTER QUERY q AS SELECT ?s FROM STREAM <http://e/stream> [RANGE 5s STEP 1s] "
        "WHERE { ?s ?p ?o }"
    )
    lars = parse_lars("known(X) :- triple(X, P, O).")
    alone = facts.drop("stream")
    atoms = alone.select("t", F.lit("temp(a,70).").alias("atoms"))
    of: list[tuple[Callable[[DataFrame, bool], DataFrame], DataFrame]] = [
        (lambda frame, letters: reason(frame, rules, letters=letters), alone),
        (lambda frame, letters: reason(frame, rules, shards=2, key="s", letters=letters), alone),
        (lambda frame, letters: reason(frame, lars, letters=letters), alone),
        (lambda frame, letters: reason(frame, parse_lars(HOT), letters=letters), atoms),
        (lambda frame, letters: answer(frame, asked, letters=letters), facts),
    ]
    for reasoned, frame in of:
        dated = frame.withColumn("t", F.timestamp_seconds("t"))
        found = reasoned(dated, True).collect()
        (letter,) = [row.letter for row in found if row.letter is not None]
        assert letter.reason == NO_YEAR
        text = "temp(a,70)." if frame is atoms else " ".join(FACTS[0][1:])
        assert (letter.t, letter.text) == (None, text)
        assert {row.t // 10**6 for row in found if row.letter is None} == {1_700_000}
        if frame is not facts:
            with pytest.raises(PySparkException, match="its time is not in the years 1 to 9999"):
                reasoned(dated, False).collect()
    far = alone.where(f"t = {seconds[1]}").withColumn("t", 1_000 * F.col("t"))
    assert not reason(far, rules, letters=True).where("letter IS NOT NULL").count()


def test_what_the_background_may_be(spark: SparkSession) -> None:
    facts = spark.createDataFrame(FACTS[:1], "t long, s string, p string, o string")
    many, one, text = (
        rows(reason(facts, "rdfs-sparkwave", background=each).collect())
        for each in ([CAMPUS], CAMPUS, str(CAMPUS))
    )
    assert many == one == text
    with pytest.raises(PipelineError, match="a DataFrame is none"):
        reason(facts, "rdf", background=read_rdf(spark, CAMPUS))  # type: ignore[arg-type]


def test_rdf_files_are_data_frames(spark: SparkSession, tmp_path: Path) -> None:
    lines = "".join(f"<http://e/s{n}> <http://e/p> _:b{n % 3} .\n" for n in range(100))
    (tmp_path / "a.nt").write_text(lines)
    (tmp_path / "b.nq.gz").write_bytes(gzip.compress(b"<a:s> <a:p> <a:o> <a:g> .\n"))
    (tmp_path / "c.ttl").write_text("<a:s> <a:p> 1, 2 .")
    found = read_rdf(spark, *(tmp_path / name for name in ("a.nt", "b.nq.gz", "c.ttl"))).collect()
    assert len(found) == 103
    assert len({row.o for row in found if row.o.startswith("_:")}) == 3
    assert [row.g for row in found if row.g] == ["<a:g>"]
    # Lines are split among tasks, whatever file they are in; other formats are not.
    with unchanged(spark, "spark.sql.files.maxPartitionBytes"):
        spark.conf.set("spark.sql.files.maxPartitionBytes", 1_000)
        assert read_rdf(spark, tmp_path / "a.nt").rdd.getNumPartitions() > 2
        assert read_rdf(spark, tmp_path / "c.ttl").rdd.getNumPartitions() == 1
    # Blank nodes are those of their file, whichever files a task has.
    (tmp_path / "e.nt").write_text(lines)
    nodes = {row.o for row in read_rdf(spark, tmp_path / "[ae].nt").collect()}
    apart = (read_rdf(spark, tmp_path / f"{each}.nt").collect() for each in "ae")
    assert nodes == {row.o for each in apart for row in each}
    assert len(nodes) == 6
    (tmp_path / "d.nt").write_text("<a:s> <a:p> .\n")
    with pytest.raises(Exception, match=r"d\.nt: "):
        read_rdf(spark, tmp_path / "*.nt").collect()
    (tmp_path / "notes.txt").write_text(lines)
    with pytest.raises(Exception, match=r"notes\.txt: there is no format 'txt'; there are nt"):
        read_rdf(spark, tmp_path / "notes.txt").collect()
    with pytest.raises(PipelineError, match=r"\['a\.nt'\] is no path; of several files each is an"):
        read_rdf(spark, ["a.nt"])  # type: ignore[arg-type]
    (tmp_path / "d.nt").write_bytes('<a:s> <a:p> "caf\u00e9" .\n'.encode("latin-1"))
    with pytest.raises(Exception, match=r"d\.nt: the line is not UTF-8: <a:s> <a:p> \"caf"):
        read_rdf(spark, tmp_path / "d.nt").collect()


def test_rows_that_are_no_facts_are_dead_letters_or_fail(spark: SparkSession) -> None:
    good = (1_000, e("x"), e("knows"), '"y"@en')
    bad = [(1_000, "x", e("knows"), e("y")), (None, e("x"), e("knows"), None)]
    bad.append((2**63 - 1, e("x"), e("knows"), e("far")))
    frame = spark.createDataFrame([good, *bad], "t long, s string, p string, o string")
    # Whatever else is called a line.
    frame = frame.withColumn("line", F.lit("7 to Bologna"))
    found = reason(frame, "rdfs-sparkwave", letters=True).collect()
    assert [(row.t, row.s) for row in found if row.letter is None] == [(1_000, e("x"))]
    assert sorted(row.letter.text for row in found if row.letter is not None) == [
        f"{e('x')} {e('knows')} {e('far')}",
        f"{e('x')} {e('knows')} null",
        f"x {e('knows')} {e('y')}",
    ]
    with pytest.raises(PySparkException, match="no fact: it needs three N-Triples terms"):
        reason(frame.where("s = 'x'"), "rdfs-sparkwave").collect()


def test_texts_of_rows_are_those_of_terms(spark: SparkSession) -> None:
    """One term, one text, whatever was written; where a row is no triple, it says why."""
    string = '"x"^^<http://www.w3.org/2001/XMLSchema#string>'
    written = ['"x"', string, '"\\u0078"', '"y"@EN', '"unfinished']
    rows = [(1_000, e(f"s{n}"), e("p"), text) for n, text in enumerate(written)]
    rows += [(1_000, '"no subject"', e("p"), e("o")), (1_000, e("s"), e("p"), "<o>")]
    frame = spark.createDataFrame(rows, "t long, s string, p string, o string")
    rule = f'[r: (?s {e("p")} "x") -> (?s {e("q")} "yes")]'
    found = reason(frame, rule, letters=True).collect()
    concluded = [row.s for row in found if row.p == e("q") and row.op == "+"]
    assert sorted(concluded) == [e("s0"), e("s1"), e("s2")]
    assert {row.o for row in found if row.p == e("p")} == {'"x"', '"y"@en'}
    reasons = sorted(row.letter.reason for row in found if row.letter is not None)
    assert len(reasons) == 3
    assert reasons[0].startswith("a subject is written as in N-Triples")
    assert reasons[1].startswith("not an RDF term")
    assert reasons[2].startswith("the IRI <o> is relative")
    with pytest.raises(PySparkException, match="not an RDF term"):
        reason(frame.where("o LIKE '\"u%'"), rule).collect()


LARS = """
@prefix e: <http://e/>.
busy(X) :- e:teaches(X, Y) in [4], e:teaches(X, Z) in [4], Y != Z.
idle(X) :- e:known(X, e:yes), not busy(X).
"""


def lars_rows(
    program: str, atoms: Iterable[tuple[int, Any]], background: Iterable[Any] = (), *, to_end: bool
) -> list[Any]:
    """What the oracle says: t, op and atom."""
    reasoner = LarsReasoner(
        program, tick=1_000, lateness=500, background=background, engine="reference"
    )
    found = []
    for at, atom in atoms:
        reasoner.push(atom, at)
        found += reasoner.advance()
    if to_end:
        # To the time point of the last atom.
        found += reasoner.advance(max(at for at, _ in atoms) + 999)
    prefixes = parse_lars(program).prefixes
    return sorted(
        (answer.t, op, atom)
        for answer in found
        for op, facts in (("+", answer.entered), ("-", answer.left))
        for atom in texts(facts, prefixes)
    )


def told_by_lars(collected: Any) -> list[Any]:
    return sorted((row.t, row.op, row.atom) for row in collected)


def test_a_program_of_lars_reasons_over_triples(spark: SparkSession, tmp_path: Path) -> None:
    known = [(e(f"x{n}"), e("known"), e("yes")) for n in range(5)]
    (tmp_path / "known.nt").write_text("".join(f"{s} {p} {o} .\n" for s, p, o in known))
    (tmp_path / "busy.lars").write_text(LARS)
    atoms = [(t, Fact.triple(s, p, o)) for t, s, p, o in FACTS]
    background = [Fact.triple(*each) for each in known]
    settings: dict[str, Any] = {**SETTINGS, "background": [tmp_path / "known.nt"]}

    static = spark.createDataFrame(FACTS, "t long, s string, p string, o string").repartition(3)
    told = reason(static, tmp_path / "busy.lars", **settings)
    assert told.columns == ["t", "op", "predicate", "atom"]
    assert told_by_lars(told.collect()) == lars_rows(LARS, atoms, background, to_end=True)

    # The query ends, and another one goes on from its checkpoint.
    stream = stream_of(spark, tmp_path / "in")
    last = (tmp_path / "in/2.csv").rename(tmp_path / "2.csv")
    written_to_end(reason(stream, parse_lars(LARS), **settings), tmp_path)
    last.rename(tmp_path / "in/2.csv")
    written_to_end(reason(stream, parse_lars(LARS), **settings), tmp_path)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert told_by_lars(found) == lars_rows(LARS, atoms, background, to_end=False)
    assert {row.predicate for row in found} == {"busy", "idle"}

    # A checkpoint is of one program.
    (tmp_path / "in/3.csv").write_text((tmp_path / "in/2.csv").read_text())
    said = (
        r"another query: rule hot of program program \(.*:1:1\) is not in the checkpoint; .* gone"
    )
    with pytest.raises(PySparkException, match=said):
        written_to_end(reason(stream, parse_lars(HOT), **settings), tmp_path)


HOT = "hot(X) :- temp(X, V) in [2], V >= 50. quiet :- not hot(a), not hot(b)."


def test_a_program_of_lars_reasons_over_atoms(spark: SparkSession) -> None:
    atoms = [(700 * n, f"temp({'ab'[n % 2]},{7 * n % 13}0).") for n in range(20)]
    rows = [(t, text, f"row {n}", n) for n, (t, text) in enumerate(atoms)]
    # Time goes on without atoms, and one of the texts has several.
    more = [(15_000, None, "end", 0), (9_100, "temp(a,70).\ntemp(b,80). other(x).", "many", 1)]
    frame = spark.createDataFrame([*rows, *more], "t long, atoms string, source string, line int")
    expected = [*atoms, (9_100, "temp(a,70). temp(b,80)."), (15_000, "other(y).")]
    told = reason(frame.repartition(2), parse_lars(HOT), **SETTINGS)
    found = told_by_lars(told.collect())
    assert found == lars_rows(HOT, sorted(expected), to_end=True)

    bad = frame.unionByName(spark.createDataFrame([(500, "temp(", "bad", 7)], frame.schema))
    whole = reason(bad, parse_lars(HOT), letters=True, **SETTINGS)
    assert told_by_lars(whole.where("letter IS NULL").collect()) == found
    (row,) = whole.where("letter IS NOT NULL").collect()
    assert (row.letter.source, row.letter.line, row.letter.stream) == ("bad", 7, "default")
    assert row.letter.reason
    assert row.letter.text == "500\ttemp("
    with pytest.raises(PySparkException, match=r"temp\("):
        reason(bad, parse_lars(HOT), **SETTINGS).collect()
    # Spark's texts may be any bytes.
    bytes_ = frame.withColumn("atoms", F.expr("CAST(X'74FF' AS STRING)")).limit(1)
    (row,) = reason(bytes_, parse_lars(HOT), letters=True, **SETTINGS).collect()
    assert row.letter.reason == "the line is not UTF-8"


MIXED = """@prefix e: <http://e/>.
open(X) :- door(X) in [2]. lit(X) :- e:light(X, e:on) in [1], open(X)."""


def test_streams_of_atoms_and_of_triples_tell_all_that_holds(spark: SparkSession) -> None:
    doors = [(1_000 * n, f"door({'ab'[n % 2]}).") for n in range(0, 9, 2)]
    lights = [(1_000 * n, "<a>", e("light"), e("on")) for n in range(9)]
    columns = "t long, atoms string, s string, p string, o string, stream string"
    both = spark.createDataFrame(
        [(t, atoms, None, None, None, "doors") for t, atoms in doors]
        + [(t, None, s, p, o, "lights") for t, s, p, o in lights],
        columns,
    )
    settings: dict[str, Any] = {**SETTINGS, "streams": ["doors", "lights"], "full": True}
    told = reason(both, parse_lars(MIXED), **settings).collect()

    reasoner = LarsReasoner(MIXED, tick=1_000, lateness=500, engine="reference")
    pushed = [*doors, *((t, Fact.triple(s, p, o)) for t, s, p, o in lights)]
    for t, atom in sorted(pushed, key=lambda each: each[0]):
        reasoner.push(atom, t)
    expected = [
        (answer.t, "=", atom)
        for answer in reasoner.advance(8_000)
        for atom in answer.texts(parse_lars(MIXED).prefixes)
    ]
    assert told_by_lars(told) == sorted(expected)
    assert {row.predicate for row in told} == {"open", "lit"}

    stray = both.withColumn("stream", F.lit("windows"))
    with pytest.raises(PySparkException, match="there is no stream windows; there are doors, lig"):
        reason(stray, parse_lars(MIXED), **settings).collect()


def test_what_a_program_of_lars_cannot_have_is_said(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "a")], "t long, atoms string")
    program = parse_lars(HOT)
    with pytest.raises(PipelineError, match="runs in one place: it has no shards and no key"):
        reason(frame, program, shards=2)
    with pytest.raises(PipelineError, match="it has no shards and no key"):
        reason(frame, program, key="s")
    with pytest.raises(PipelineError, match="a program of LARS has its own windows"):
        reason(frame, program, window=Sliding(5))
    with pytest.raises(PipelineError, match="`streams` is a list of names"):
        reason(frame, program, streams={"default": Sliding(5)})
    with pytest.raises(PipelineError, match="windows by name, not names alone"):
        reason(frame, "rdfs", streams=["default"])
    with pytest.raises(PipelineError, match="full is for programs of LARS"):
        reason(frame, "rdfs", full=True)
    with pytest.raises(PipelineError, match="the facts lack the columns s, p, o"):
        reason(frame.drop("atoms"), program)
