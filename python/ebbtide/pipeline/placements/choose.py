"""Which placement a pipeline gets if its file says "auto", and why.

The first of these that holds:

    the checkpoint's   there is one: its state is nothing to another placement
    driver             something needs it: queries, a program of LARS, a count window, an operator
    dataframe          the background does not fit into the memory of this machine
    driver             Spark is this machine alone
    sharded            the rules are proved to be cut by their terms, or a key is declared
    driver             otherwise; the rules that are global are named

A cluster and a program that can be cut are what shards are for. On one machine they would share
its cores, and every batch would pay for a stateful operator.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ebbtide.pipeline.file import model
from ebbtide.pipeline.units import Unit
from ebbtide.pipeline.units.rules import Rules
from ebbtide.plan.joins import why_no_joins
from ebbtide.time import TimeWindow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Bytes of memory that a byte of N-Triples takes in a kernel, conclusions included (LUBM: three).
MEMORY_PER_BYTE: Final = 4
#: How many times smaller gzip makes RDF, at the least that is common.
GZIP: Final = 10
#: Shards, where nobody knows how many cores there are.
FEWEST_SHARDS: Final = 2


@dataclass(frozen=True)
class Choice:
    """A placement, and the reason; `shards` only if it is sharded."""

    placement: str
    why: str
    shards: int | None = None

    @property
    def identity(self) -> dict[str, str]:
        """The state of one placement, or of so many shards, is nothing to another."""
        shards = {} if self.shards is None else {"shards": str(self.shards)}
        return {"placement": self.placement, **shards}

    def __str__(self) -> str:
        shards = "" if self.shards is None else f" ({self.shards} shards)"
        return f"{self.placement}{shards}: {self.why}"


def choose(
    pipeline: model.Pipeline,
    units: Sequence[Unit],
    *,
    master: str,
    cores: int,
    known: Mapping[str, str],
) -> Choice:
    """The placement of a pipeline; `known` is the identity of its checkpoint, if there is one."""
    kept = known.get("shards", "")
    shards = pipeline.run.shards or (int(kept) if kept.isdecimal() else max(cores, FEWEST_SHARDS))

    def chosen(placement: str, why: str) -> Choice:
        return Choice(placement, why, shards if placement == "sharded" else None)

    if pipeline.run.placement != "auto":
        return chosen(pipeline.run.placement, "as the pipeline file says")
    if "placement" in known:
        return chosen(known["placement"], "as the checkpoint has it")
    rules = [unit for unit in units if isinstance(unit, Rules)]
    if len(rules) < len(units) or not rules:
        return chosen("driver", "queries and programs of LARS are answered there")
    unit = rules[0]
    if not all(isinstance(window, TimeWindow) for window in unit.windows.values()):
        return chosen("driver", "count windows and sessions see the facts of a stream in order")
    if unit.program.operators:
        return chosen("driver", "an operator sees all facts of its relation")
    needed = memory_needed(pipeline.background.files)
    if needed > _memory() and why_no_joins(unit.program) is None:
        return chosen("dataframe", f"the background may need {needed >> 30} GB of memory")
    if is_one_machine(master):
        return chosen("driver", f"Spark is this machine alone ({master})")
    if pipeline.run.key is not None:
        return chosen("sharded", f"a key is declared, {pipeline.run.key}")
    unit.begin()
    found = unit.detached().reasoner.sharding()
    if found.is_proved:
        return chosen("sharded", "no rule is global")
    return chosen("driver", f"the program cannot be cut into shards: {found.reason}")


def is_one_machine(master: str) -> bool:
    """Whether a master of Spark runs everything in the process of the driver.

    >>> is_one_machine("local[*]"), is_one_machine("local-cluster[2,1,1024]")
    (True, False)
    """
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def master_of(spark: SparkSession) -> str:
    """The master of a session: it always has one."""
    master = spark.sparkContext.master
    assert master is not None
    return master


def cores_of(master: str, settings: Mapping[str, str]) -> int:
    """How many cores Spark will have, as far as that is known before it starts; 0 if it is not.

    >>> cores_of("local[4]", {}), cores_of("local-cluster[3,2,1024]", {})
    (4, 6)
    >>> cores_of("spark://ada:7077", {"spark.cores.max": "12"}), cores_of("yarn", {})
    (12, 0)
    """
    if found := re.fullmatch(r"local\[(\d+|\*)(,\d+)?\]", master):
        return os.cpu_count() or 1 if found[1] == "*" else int(found[1])
    if found := re.fullmatch(r"local-cluster\[(\d+),(\d+),\d+\]", master):
        return int(found[1]) * int(found[2])
    if "spark.cores.max" in settings:
        return int(settings["spark.cores.max"])
    executors = int(settings.get("spark.executor.instances", 0))
    return executors * int(settings.get("spark.executor.cores", 1))


def memory_needed(files: Sequence[str]) -> int:
    """A guess at the bytes that a background takes in one process, from the sizes of its files."""
    return sum(
        Path(file).stat().st_size * MEMORY_PER_BYTE * (GZIP if file.endswith(".gz") else 1)
        for file in files
    )


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
