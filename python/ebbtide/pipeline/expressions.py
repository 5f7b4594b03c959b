"""What a pipeline file says in Spark's SQL: whether Spark understands it, before anything is read.

    streams.NAME.schema, columns, time, triples      of streams of rows
    run.key                                          over the terms of a fact

Spark analyses each against a table without rows, of the columns that it is about. What it would
refuse of a stream alone, and of a table not, is functions of windows. Invariant: what is wrong is
an `ExpressionError`, `key.path: sentence`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.pipeline.errors import PipelineError, PipelineFileError
from ebbtide.pipeline.failed import sentence_of, untold
from ebbtide.pipeline.file import model
from ebbtide.pipeline.placements.sharded import value_of
from ebbtide.pipeline.session import close_session, open_session
from ebbtide.pipeline.sources.rate import COLUMNS
from ebbtide.pipeline.sources.rows import term_of, with_time


class ExpressionError(PipelineError):
    """An expression that Spark does not understand, and the path of its key."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__(f"{key}: {sentence}")
        self.key = key
        self.sentence = sentence


def check_expressions(pipeline: model.Pipeline, spark: SparkSession) -> None:
    """Refuse an expression that Spark does not understand."""
    for name, stream in pipeline.streams.items():
        at = f"streams.{name}"
        if (rows := _rows(stream, at, spark)) is not None:
            _check_rows(stream, rows, at)
    if pipeline.run.key is not None:
        try:
            value_of(spark, pipeline.run.key)
        except PipelineError as error:
            raise ExpressionError("run.key", str(error)) from None
        facts = spark.createDataFrame([], "s string, p string, o string")
        _row_by_row(facts.select(F.expr(pipeline.run.key)), "run.key")


def check_file(pipeline: model.Pipeline, file: Path) -> None:
    """The same of a file that is not to be run; Spark is started only if it has expressions."""
    streams = pipeline.streams.values()
    if pipeline.run.key is None and not any(getattr(each, "triples", ()) for each in streams):
        return
    # Of what the file sets, how SQL is understood.
    given = pipeline.spark.settings.items()
    settings = {name: value for name, value in given if name.startswith("spark.sql.")}
    spark = open_session(pipeline.name, "local[1]", settings)
    try:
        check_expressions(pipeline, spark)
    except ExpressionError as error:
        raise PipelineFileError(file, error.key, error.sentence) from None
    finally:
        close_session(spark)


def _rows(stream: model.AnyStream, at: str, spark: SparkSession) -> DataFrame | None:
    """No rows, with the columns that a stream of rows has; None of any other stream."""
    match stream:
        case model.Rate(columns=columns):
            rows = spark.createDataFrame([], COLUMNS)
            for name, expression in columns.items():
                with _wrong_with(f"{at}.columns.{name}"):
                    rows = rows.withColumn(name, F.expr(expression))
                _row_by_row(rows, f"{at}.columns.{name}")
            return rows
        case model.Rows(schema=str(schema)) | model.Messages(schema=str(schema)):
            with _wrong_with(f"{at}.schema"):
                return spark.createDataFrame([], schema)
    return None


def _check_rows(stream: model.AnyStream, rows: DataFrame, at: str) -> None:
    assert isinstance(stream, model.Rows | model.Messages | model.Rate)
    # That it is there was checked when the file was loaded.
    assert stream.time is not None
    with _wrong_with(f"{at}.time"):
        timed = with_time(rows, stream.time)
    _row_by_row(timed, f"{at}.time")
    for place, triple in enumerate(stream.triples):
        for name, text in (("s", triple.s), ("p", triple.p), ("o", triple.o)):
            with _wrong_with(f"{at}.triples[{place}].{name}"):
                rows.select(term_of(text))


def _row_by_row(rows: DataFrame, key: str) -> None:
    """Refuse what needs several rows at once: a stream never has them together."""
    plan = rows._jdf.queryExecution().analyzed()
    while plan.children().nonEmpty():
        if plan.nodeName() == "Window":
            raise ExpressionError(key, "a function over rows (OVER) cannot be had of a stream")
        plan = plan.children().head()


@contextmanager
def _wrong_with(key: str) -> Iterator[None]:
    """What Spark does not understand within is wrong with a key."""
    try:
        with untold():
            yield
    except PySparkException as error:
        raise ExpressionError(key, sentence_of(error)) from None
