"""Lines of N-Triples to columns on executors: in Rust, by Catalyst, row by row in Python."""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.results import Measurement, Results, Say
from ebbtide.pipeline.api import read_rdf
from ebbtide.testing.workloads.lubm import departments

# What is enough for LUBM: it has no escapes.
_LINE: Final = r"^(\S+) (\S+) (.+) \.$"


def measure_parsing(
    settings: Settings, results: Results, spark: SparkSession, folder: Path, say: Say
) -> None:
    """Lines a second, each way three times, the best of them."""
    rows = chain.from_iterable(each.rows for each in departments(1_000, settings.seed))
    file = folder / "lines.nt"
    with file.open("w") as out:
        out.writelines(f"{s} {p} {o} .\n" for s, p, o in islice(rows, settings.parsed))
    lines = spark.read.text(str(file))
    ways: dict[str, DataFrame] = {
        "lines alone": lines,
        "Rust, in columns": read_rdf(spark, file),
        "Catalyst, by regular expression": lines.select(
            *(F.regexp_extract("value", _LINE, place).alias(name)
              for place, name in enumerate("spo", 1))
        ),
        "Python, row by row": lines.select(_by_row()("value").alias("triple")).select("triple.*"),
    }  # fmt: skip
    best: dict[str, float] = {}
    for name, frame in ways.items():
        say(f"parsing: {name}")
        for _ in range(3):
            began = perf_counter()
            frame.write.format("noop").mode("overwrite").save()
            best[name] = min(best.get(name, 1e9), perf_counter() - began)
        results.add(
            Measurement(
                "parsing",
                {"lines": settings.parsed, "way": name},
                settings.parsed / best[name],
                "lines/s",
                ratio=best[name] / best["lines alone"],
                ratio_of="lines alone",
            )
        )


def _by_row() -> Any:
    @F.udf("struct<s: string, p: string, o: string>")
    def parse(line: str) -> tuple[str, ...] | None:
        from ebbtide.terms.formats import read_triples

        for triple in read_triples(line.encode(), "nt", keep_labels=True):
            return tuple(term.text for term in triple)
        return None

    return parse
