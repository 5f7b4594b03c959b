"""Closures in DataFrames: what the kernel says, and nothing of it passes the driver."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ebbtide.pipeline.api import materialize, read_rdf
from ebbtide.pipeline.closure import write_closure
from ebbtide.pipeline.errors import PipelineError
from ebbtide.reasoner import Reasoner

from .test_shards import CAMPUS, TYPE, e

pytestmark = pytest.mark.spark

IS_IN = "[t: (?x <http://e/in> ?y), (?y <http://e/in> ?z) -> (?x <http://e/in> ?z)]"
CHAIN = 5


@pytest.fixture
def narrow(spark: SparkSession) -> Iterator[SparkSession]:
    """A driver to which no more than 400 kilobytes of results may come."""
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    settings = spark._jsc.sc().conf()
    settings.set("spark.driver.maxResultSize", "400k")
    yield spark
    settings.remove("spark.driver.maxResultSize")


def closure(rules: str, *files: Path) -> set[str]:
    """The lines of the closure, by the kernel."""
    reasoner = Reasoner(rules)
    for file in files:
        reasoner.parse(file)
    reasoner.settle()
    return {f"{' '.join(term.text for term in fact.terms)} ." for fact in reasoner}


def written(folder: Path) -> list[str]:
    return [line for part in folder.glob("part-*") for line in part.read_text().splitlines()]


def test_nothing_passes_the_driver(narrow: SparkSession, tmp_path: Path) -> None:
    """Chains of names that cannot be packed, so that they are as large as they look."""
    names = [e(hashlib.md5(str(n).encode()).hexdigest()) for n in range(24_000)]
    links = (n for n in range(len(names)) if (n + 1) % (CHAIN + 1))
    lines = [f"{names[n]} {e('in')} {names[n + 1]} .\n" for n in links]
    assert len(lines) == 20_000
    data = tmp_path / "data.nt"
    data.write_text("".join(lines))
    found = write_closure(narrow, [data], IS_IN, tmp_path / "out")
    told = written(tmp_path / "out")
    assert len(told) == found.size == len(lines) * (CHAIN + 1) // 2
    assert set(told) == closure(IS_IN, data)
    assert found.rounds == 4
    # It is not for want of trying that nothing passed the driver.
    with pytest.raises((PySparkException, Py4JJavaError), match="maxResultSize"):
        read_rdf(narrow, data).toArrow()


def test_schema_and_what_is_inferred(narrow: SparkSession, tmp_path: Path) -> None:
    facts = [
        f"{e(f'x{n}')} {p} {o} .\n"
        for n in range(4_000)
        for p, o in (
            (e("teaches"), e(f"x{7 * n % 4_000}")),
            (e("heads"), e(f"y{n % 50}")),
            (TYPE, e("Student") if n % 3 else e("Dean")),
        )
    ]
    data = tmp_path / "data.nt"
    data.write_text("".join(facts))
    found = write_closure(
        narrow, [data, CAMPUS], "rdfs-sparkwave", tmp_path / "out", inferred_only=True
    )
    stated = closure("[none: (<a:x> <a:x> <a:y>) -> (<a:x> <a:x> <a:y>)]", data, CAMPUS)
    expected = closure("rdfs-sparkwave", data, CAMPUS)
    assert found.size == len(expected)
    told = written(tmp_path / "out")
    assert len(told) == len(set(told))
    assert set(told) == expected - stated


def test_rounds_can_survive_executors(spark: SparkSession, tmp_path: Path) -> None:
    """With a folder for checkpoints every round is in it."""
    facts = spark.createDataFrame(
        [(e(f"n{n}"), e("in"), e(f"n{n + 1}")) for n in range(9)], "s string, p string, o string"
    )
    spark.sparkContext.setCheckpointDir(str(tmp_path / "rounds"))
    try:
        assert materialize(facts, IS_IN).count() == 45
    finally:
        spark.sparkContext._jsc.sc().setCheckpointDir(None)
    assert any((tmp_path / "rounds").rglob("part-*"))


def test_what_it_cannot_do_is_said(spark: SparkSession) -> None:
    facts = spark.createDataFrame([(e("a"), e("in"))], "s string, p string")
    with pytest.raises(PipelineError, match="lack the columns o"):
        materialize(facts, IS_IN)
    whole = spark.createDataFrame([(e("a"), e("in"), e("b"))], "s string, p string, o string")
    with pytest.raises(ValueError, match="positive"):
        materialize(whole, "[n: (?x <a:p> ?y) noValue(?x <a:q> ?y) -> (?x <a:r> ?y)]")


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "in.rules").write_text(IS_IN)
    (tmp_path / "data.nt").write_text(
        "".join(f"{e(f'n{n}')} {e('in')} {e(f'n{n + 1}')} .\n" for n in range(4))
    )
    command = ["materialize", "data.nt", "--rules", "in.rules", "--into", "out"]
    ended = subprocess.run(
        [Path(sys.executable).with_name("ebbtide"), *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "10 facts after 3 rounds of joins" in ended.stderr
    assert set(written(tmp_path / "out")) == closure(IS_IN, tmp_path / "data.nt")


def test_rows_are_the_facts_that_they_say(spark: SparkSession) -> None:
    """One term, one text, as for `reason`; and what is no fact is not passed through."""
    string = '"x"^^<http://www.w3.org/2001/XMLSchema#string>'
    frame = spark.createDataFrame([(e("a"), e("p"), string)], "s string, p string, o string")
    found = materialize(frame, f'[r: (?s {e("p")} "x") -> (?s {e("q")} "yes")]').collect()
    assert sorted(found) == [(e("a"), e("p"), '"x"'), (e("a"), e("q"), '"yes"')]
    for text in ("NULL", "'Ada'", "7"):
        with pytest.raises(PySparkException, match="no fact: it needs three N-Triples terms"):
            materialize(frame.selectExpr(f"{text} AS s", "p", "o"), IS_IN).collect()
