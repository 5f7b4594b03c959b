"""The maintenance program as joins of DataFrames: what the reference engine says, tick by tick."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from ebbtide.engines.abilities import Unsupported
from ebbtide.engines.dataframe import DataFrameEngine
from ebbtide.engines.protocol import LateFact
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.program import TRIPLE, Fact
from ebbtide.reasoner.intake import as_program
from ebbtide.terms.formats import read_triples
from ebbtide.testing import program
from ebbtide.time import Count, Landmark, Sliding, Tumbling

from .test_shards import CAMPUS, TYPE, e

pytestmark = pytest.mark.spark

IS_IN = program("R: isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).")


def both(spark: SparkSession, rules: Any, window: Any) -> tuple[Any, Any]:
    windows = {"default": window}
    return DataFrameEngine(spark, rules, windows), ReferenceEngine(rules, windows)


def is_in(a: str, b: str) -> Fact:
    return Fact.of("isIn", e(a), e(b))


@pytest.mark.parametrize(
    ("window", "ticks"),
    [(Sliding(10), (4, 9, 12, 20)), (Tumbling(7), (4, 9)), (Landmark(2), (4, 9))],
)
def test_the_papers_example_and_every_time_window(
    spark: SparkSession, window: Any, ticks: tuple[int, ...]
) -> None:
    engines = both(spark, IS_IN, window)
    facts = [("A", "B", 1), ("B", "C", 2), ("C", "D", 3), ("A", "E", 4), ("E", "D", 4)]
    facts.append(("B", "C", 9))
    for engine in engines:
        engine.add(is_in("D", "World"))
    for before, tick in zip((0, *ticks), ticks, strict=False):
        for engine in engines:
            for a, b, at in facts:
                if before < at <= tick:
                    engine.push(is_in(a, b), at)
        found, expected = (engine.advance(tick) for engine in engines)
        assert found == expected
        assert engines[0].facts() == engines[1].facts()
    with pytest.raises(LateFact):
        engines[0].push(is_in("A", "B"), ticks[-1])


def test_rules_with_guards_and_schema(spark: SparkSession) -> None:
    rules = as_program("rdfs-sparkwave")
    engines = both(spark, rules, Sliding(3))
    for engine in engines:
        for triple in read_triples(CAMPUS):
            engine.add(Fact(TRIPLE, triple))
        engine.push(Fact.triple(e("x"), e("teaches"), e("y")), 1)
        engine.push(Fact.triple(e("x"), TYPE, e("Dean")), 2)
    # Both are there; then one is over, and what followed from it.
    for tick in (2, 4):
        found, expected = (engine.advance(tick) for engine in engines)
        assert found == expected


def test_functions_and_tests(spark: SparkSession) -> None:
    rules = as_program(
        "[hot: (?x <a:t> ?X) greaterThan(?X 30) sum(?X 1 ?n) -> (?x <a:next> ?n)]"
        "[loop: (?x <a:p> ?x) -> (?x <a:self> <a:yes>)]"
    )
    engines = both(spark, rules, Sliding(3))
    for engine in engines:
        for number in (20, 31, 40):
            engine.push(Fact.triple(e("s"), "<a:t>", number), 1)
        engine.push(Fact.triple(e("s"), "<a:p>", e("s")), 1)
        engine.push(Fact.triple(e("s"), "<a:p>", e("o")), 1)
    found, expected = (engine.advance(1) for engine in engines)
    assert found == expected
    assert len(found.entered) == 8


def test_frames_of_facts(spark: SparkSession) -> None:
    engine, oracle = both(spark, IS_IN, Sliding(10))
    facts = [(is_in(f"n{n}", f"n{n // 2}"), n) for n in range(2, 9)]
    for fact, at in facts:
        oracle.push(fact, at)
    rows = [(*(term.text for term in fact.terms), at) for fact, at in facts]
    engine.push_frame(spark.createDataFrame(rows, "s string, o string, t long"), "isIn")
    background = spark.createDataFrame([(e("n1"), e("root"))], "s string, o string")
    engine.add_frame(background, "isIn")
    oracle.add(is_in("n1", "root"))
    assert engine.advance(8) == oracle.advance(8)
    assert engine.rounds > 1


def test_what_it_cannot_do_is_said(spark: SparkSession) -> None:
    with pytest.raises(Unsupported, match="count windows"):
        DataFrameEngine(spark, IS_IN, {"default": Count(3)})
    with pytest.raises(Unsupported, match="positive programs"):
        DataFrameEngine(spark, program("R: a(?x) :- b(?x), not c(?x)."), {})
    with pytest.raises(Unsupported, match="cannot retract"):
        DataFrameEngine(spark, IS_IN, {}).retract(is_in("a", "b"), 1)
