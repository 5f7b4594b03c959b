"""Cells of a notebook: they run in an event loop, in the main thread, in a session that stays."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PIPELINE = """
[streams.reports]
from = "memory"
lines = ["1000\\t<http://e/Ada> <http://e/isIn> <http://e/Train7> ."]
[outputs.rows]
to = "jsonl"
path = "out"
[run]
ends = "when read"
"""
CELLS = (
    """
from rich.console import Console
from ebbtide.pipeline import reason
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.run import run_pipeline
""",
    """
ada = (1000, "<http://e/Ada>", "<http://e/isIn>", "<http://e/Train7>")
facts = spark.createDataFrame([ada], "t long, s string, p string, o string")
changes = reason(facts, "[has: (?x <http://e/isIn> ?y) -> (?y <http://e/has> ?x)]")
entered = {row.s for row in changes.where("op = '+'").collect()}
""",
    """
said = []
pipeline = load_pipeline(folder / "first.toml")
done = run_pipeline(pipeline, Console(quiet=True), said.append, spark=spark)
left = spark.range(3).count()
""",
)


def test_cells_one_after_the_other(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "first.toml").write_text(PIPELINE)
    names: dict[str, Any] = {"__name__": "__main__", "spark": spark, "folder": tmp_path}

    async def run_cells() -> None:
        for cell in CELLS:
            exec(compile(cell, "<cell>", "exec"), names)

    asyncio.run(run_cells())
    assert names["entered"] == {"<http://e/Ada>", "<http://e/Train7>"}
    assert names["done"].facts == 1
    assert "reading reports" in names["said"]
    assert names["left"] == 3
