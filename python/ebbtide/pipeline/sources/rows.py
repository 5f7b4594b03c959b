"""Rows of JSON or Parquet files, or JSON messages, made into triples by templates, by Spark itself.

A row makes a triple for each template whose columns are not null, all at the row's time. A row that
is no JSON of the schema, or has no time, is a bad line; so is a triple that is none, and a row of
the year 57,000: there its milliseconds were taken for seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from ebbtide.pipeline.file.model import Triple
from ebbtide.pipeline.file.template import Hole, Template
from ebbtide.pipeline.sources.files import folder_reader
from ebbtide.pipeline.stages.years import NO_YEAR, YEARS

#: How our own columns begin, beside which a user's may have any name.
OURS: Final = "__ebbtide_"
SOURCE: Final = f"{OURS}source"
#: The number of a row in its file, from 1; of a line in files of JSON.
NUMBER: Final = f"{OURS}number"
#: The text of what is no row of the schema.
CORRUPT: Final = f"{OURS}corrupt"
TIME: Final = f"{OURS}time"
REASON: Final = f"{OURS}reason"
ERROR: Final = "struct<line: int, column: int, reason: string, text: string>"
# What an IRI may be: absolute, and without what N-Triples forbids.
IRI: Final = r'^<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\]*>$'


def read_rows(
    spark: SparkSession,
    folder: Path,
    *,
    format: str,
    schema: str,
    time: str,
    triples: tuple[Triple, ...],
    files_a_batch: int = 1_000,
) -> DataFrame:
    """The facts of the rows of the files of a folder, those of the future included."""
    reader = folder_reader(spark, files_a_batch)
    if format == "json":
        rows = _json_lines(reader, folder, schema)
    else:
        files = reader.format(format).schema(schema).load(str(folder))
        place = files.metadataColumn("_metadata")
        source, number = place["file_name"], place["row_index"] + 1
        rows = files.select("*", source.alias(SOURCE), number.alias(NUMBER))
    return as_facts(rows, time, triples)


def _json_lines(reader: DataStreamReader, folder: Path, schema: str) -> DataFrame:
    """The rows of files of JSON lines.

    A file is read whole, since Spark's own reader of JSON does not know the number of a line.
    """
    files = reader.format("text").option("wholetext", "true").load(str(folder))
    lines = F.posexplode(F.split("value", "\n")).alias("before", "line")
    each = files.select(F.col("_metadata.file_name").alias(SOURCE), lines)
    # Lines may end with a carriage return, and a file begin with a mark of its byte order.
    is_blank = F.btrim("line", F.lit(" \t\r\ufeff")) == ""
    number = (F.col("before") + 1).alias(NUMBER)
    return _parsed(each.where(~is_blank).select(SOURCE, number, "line"), "line", schema)


def rows_of_messages(
    messages: DataFrame, *, schema: str, time: str, triples: tuple[Triple, ...]
) -> DataFrame:
    """The facts of JSON messages: source, number and value."""
    source = F.concat_ws("@", "source", "number").alias(SOURCE)
    texts = messages.select(source, F.col("value").cast("string"))
    return as_facts(_parsed(texts, "value", schema), time, triples)


def _parsed(texts: DataFrame, column: str, schema: str) -> DataFrame:
    """What a column of JSON says instead of it, and its text if it is no row of the schema.

    Spark reads the first value of a text, and does not look at what follows: so a text is put into
    an object, which has an end only if nothing else is there.
    """
    whole = StructType(
        [
            StructField("row", StructType.fromDDL(schema)),
            StructField("end", BooleanType()),
            StructField(CORRUPT, StringType()),
        ]
    )
    # A mark of the byte order is fine at the beginning of a text only.
    text = F.ltrim(column, F.lit("\ufeff"))
    wrapped = F.concat(F.lit('{"row":'), text, F.lit(',"end":true}'))
    said = F.from_json(wrapped, whole, {"columnNameOfCorruptRecord": CORRUPT})
    others = [name for name in texts.columns if name != column]
    is_whole = F.col(f"said.{CORRUPT}").isNull() & F.col("said.end").isNotNull()
    shown = F.rtrim(column, F.lit("\r"))
    return texts.select(*others, column, said.alias("said")).select(
        *others, F.when(~is_whole, shown).alias(CORRUPT), "said.row.*"
    )


def as_facts(rows: DataFrame, time: str, triples: tuple[Triple, ...]) -> DataFrame:
    """Rows with a SOURCE as `stages.parse` would give them.

    They may have a NUMBER in it, and the text of a CORRUPT record.
    """
    for name in (CORRUPT, NUMBER):
        if name not in rows.columns:
            rows = rows.withColumn(name, F.lit(None).cast("string"))
    made = [F.struct(*_terms(each)) for each in triples]
    reason = F.when(F.col(CORRUPT).isNotNull(), "not a row of the schema").when(
        F.col(TIME).isNull(), "the row has no time"
    )
    if _is_timestamp(rows, time):
        first, end = YEARS
        reason = reason.when((F.col(TIME) < first) | (F.col(TIME) >= end), NO_YEAR)
    none = F.array().cast("array<struct<s: string, p: string, o: string>>")
    shown = [F.col(_quoted(name)) for name in rows.columns if not name.startswith(OURS)]
    each = (
        with_time(rows, time)
        .withColumn(REASON, reason)
        # From here on there are only columns of ours.
        .select(
            F.col(SOURCE).alias("source"),
            F.col(NUMBER).cast("int").alias("line"),
            F.col(TIME).alias("t"),
            F.col(REASON).alias("reason"),
            F.coalesce(CORRUPT, F.to_json(F.struct(*shown))).alias("text"),
            # A bad row is one row, with no triple.
            F.when(F.col(REASON).isNull(), F.array(*made)).otherwise(none).alias("triples"),
        )
        .select("source", "line", "t", "reason", "text", F.explode_outer("triples").alias("triple"))
        .select("source", "line", "t", "reason", "text", "triple.*")
    )
    is_whole = F.col("s").isNotNull() & F.col("p").isNotNull() & F.col("o").isNotNull()
    wrong = ~(F.col("s").rlike(IRI) & F.col("p").rlike(IRI)) | (
        F.col("o").startswith("<") & ~F.col("o").rlike(IRI)
    )
    each = each.where(is_whole | F.col("reason").isNotNull()).withColumn(
        "reason", F.coalesce("reason", F.when(wrong, "a term of its triple is no IRI"))
    )
    column = F.lit(None).cast("int").alias("column")
    error = F.struct("line", column, "reason", "text")
    good = F.col("reason").isNull()
    return each.select(
        "source",
        "line",
        *(F.when(good, F.col(name)).alias(name) for name in ("t", "s", "p", "o")),
        F.when(~good, error).cast(ERROR).alias("error"),
    )


def with_time(rows: DataFrame, time: str) -> DataFrame:
    """Rows with the TIME that an expression says, in milliseconds; null where it raises."""
    instant = F.expr(time)
    if _is_timestamp(rows, time):
        instant = F.unix_millis(instant)
    return rows.withColumn(TIME, _attempt(rows.sparkSession, instant.cast("long")))


def _is_timestamp(rows: DataFrame, time: str) -> bool:
    ((_, kind),) = rows.select(F.expr(time)).dtypes
    return kind.startswith("timestamp")


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _attempt(spark: SparkSession, column: Column) -> Column:
    """A column that is null where another one raises.

    Spark has this expression, but no function for it: only for some, as try_cast and try_add.
    """
    sql = spark._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    expression = sql.classic.ExpressionUtils.expression(column._jc)
    tried = sql.catalyst.expressions.TryEval(expression)
    return Column(sql.classic.ExpressionUtils.column(tried))


def _terms(triple: Triple) -> Iterator[Column]:
    for name, text in (("s", triple.s), ("p", triple.p), ("o", triple.o)):
        yield term_of(text).alias(name)


def term_of(text: str) -> Column:
    """What a template makes of a row: the text of a term."""
    template = Template.parse(text)
    return F.concat(*(_part(part, template.is_iri) for part in template.parts))


def _part(part: str | Hole, is_iri: bool) -> Column:
    if not isinstance(part, Hole):
        return F.lit(part)
    column = F.col(part.column)
    # What has no end is written otherwise in RDF.
    infinite = F.typeof(column).isin("float", "double") & column.cast("string").endswith("Infinity")
    text = column.cast("string")
    text = F.when(infinite, F.replace(text, F.lit("Infinity"), F.lit("INF"))).otherwise(text)
    if part.raw:
        return text
    if is_iri:
        return F.replace(F.url_encode(text), F.lit("+"), F.lit("%20"))
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = F.replace(text, F.lit(plain), F.lit(escaped))
    return text
