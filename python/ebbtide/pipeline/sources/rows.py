"""Rows of JSON or Parquet files, or JSON messages, made into triples by templates, by Spark itself.

A row makes a triple for each template whose columns are not null, all at the row's time. A row that
is no JSON of the schema, or has no time, is a bad line; so is a triple that is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from pyspark.sql.streaming.readwriter import DataStreamReader

from ebbtide.pipeline.file.model import Triple
from ebbtide.pipeline.file.template import Hole, Template

CORRUPT: Final = "_corrupt_record"
#: The number of a row in its file, from 1; of a line in files of JSON.
NUMBER: Final = "_number"
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
    reader = spark.readStream.option("maxFilesPerTrigger", files_a_batch)
    if format == "json":
        rows = _json_lines(reader, folder, schema)
    else:
        files = reader.format(format).schema(schema).load(str(folder))
        source, number = F.col("_metadata.file_name"), F.col("_metadata.row_index") + 1
        rows = files.select("*", source.alias("source"), number.alias(NUMBER))
    return as_facts(rows, time, triples)


def _json_lines(reader: DataStreamReader, folder: Path, schema: str) -> DataFrame:
    """The rows of files of JSON lines.

    A file is read whole, since Spark's own reader of JSON does not know the number of a line.
    """
    files = reader.format("text").option("wholetext", "true").load(str(folder))
    lines = F.posexplode(F.split("value", "\n")).alias("before", "line")
    each = files.select(F.col("_metadata.file_name").alias("source"), lines)
    record = _record("line", schema)
    rows = each.where("trim(line) <> ''").select("source", "before", record.alias("row"))
    return rows.select("source", (F.col("before") + 1).alias(NUMBER), "row.*")


def rows_of_messages(
    messages: DataFrame, *, schema: str, time: str, triples: tuple[Triple, ...]
) -> DataFrame:
    """The facts of JSON messages: source, number and value."""
    source = F.concat_ws("@", "source", "number").alias("source")
    rows = messages.select(source, _record("value", schema).alias("row")).select("source", "row.*")
    return as_facts(rows, time, triples)


def _record(column: str, schema: str) -> Column:
    """What a text of JSON says, or itself if it is none of the schema."""
    return F.from_json(
        F.col(column).cast("string"),
        f"{schema}, {CORRUPT} string",
        {"columnNameOfCorruptRecord": CORRUPT},
    )


def as_facts(rows: DataFrame, time: str, triples: tuple[Triple, ...]) -> DataFrame:
    """Rows with a source as `stages.parse` would give them.

    They may have a number in it, and the text of a corrupt record.
    """
    for name in (CORRUPT, NUMBER):
        if name not in rows.columns:
            rows = rows.withColumn(name, F.lit(None).cast("string"))
    kind = dict(rows.select(F.expr(time).alias("t")).dtypes)["t"]
    instant = F.expr(f"unix_millis({time})" if kind.startswith("timestamp") else f"({time})")
    made = [F.struct(*_terms(each)) for each in triples]
    reason = F.when(F.col(CORRUPT).isNotNull(), "not a row of the schema").when(
        F.col("t").isNull(), "the row has no time"
    )
    none = F.array().cast("array<struct<s: string, p: string, o: string>>")
    shown = [name for name in rows.columns if name != NUMBER]
    each = (
        rows.withColumn("t", instant.cast("long"))
        .withColumn("reason", reason)
        .withColumn("text", F.coalesce(CORRUPT, F.to_json(F.struct(*shown))))
        # A bad row is one row, with no triple.
        .withColumn("triple", F.when(F.col("reason").isNull(), F.array(*made)).otherwise(none))
        .select("source", NUMBER, "t", "reason", "text", F.explode_outer("triple").alias("triple"))
        .select("source", NUMBER, "t", "reason", "text", "triple.*")
    )
    is_whole = F.col("s").isNotNull() & F.col("p").isNotNull() & F.col("o").isNotNull()
    wrong = ~(F.col("s").rlike(IRI) & F.col("p").rlike(IRI)) | (
        F.col("o").startswith("<") & ~F.col("o").rlike(IRI)
    )
    each = each.where(is_whole | F.col("reason").isNotNull()).withColumn(
        "reason", F.coalesce("reason", F.when(wrong, "a term of its triple is no IRI"))
    )
    line, column = F.col(NUMBER).cast("int").alias("line"), F.lit(None).cast("int").alias("column")
    error = F.struct(line, column, F.col("reason"), F.col("text"))
    good = F.col("reason").isNull()
    return each.select(
        "source",
        line,
        *(F.when(good, F.col(name)).alias(name) for name in ("t", "s", "p", "o")),
        F.when(~good, error).cast(ERROR).alias("error"),
    )


def _terms(triple: Triple) -> Iterator[Column]:
    for name, text in (("s", triple.s), ("p", triple.p), ("o", triple.o)):
        yield _term(text).alias(name)


def _term(text: str) -> Column:
    template = Template.parse(text)
    return F.concat(*(_part(part, template.is_iri) for part in template.parts))


def _part(part: str | Hole, is_iri: bool) -> Column:
    if not isinstance(part, Hole):
        return F.lit(part)
    text = F.col(part.column).cast("string")
    if part.raw:
        return text
    if is_iri:
        return F.replace(F.url_encode(text), F.lit("+"), F.lit("%20"))
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = F.replace(text, F.lit(plain), F.lit(escaped))
    return text
