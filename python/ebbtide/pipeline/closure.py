"""Closures of any size: facts in DataFrames, rules as joins, and nothing brought to the driver.

    read_rdf ─► facts ─► rounds of joins ─► closure ─► a folder of N-Triples, or any Spark sink
                         engines/dataframe

Each round ends in a checkpoint, so that plans do not grow: on the executors, or, if Spark has a
folder for checkpoints (`SparkContext.setCheckpointDir`), there, where it survives their loss. A
round that counts nothing new is the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.engines.dataframe import DataFrameEngine
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.stages.canonical import canonical_rows
from ebbtide.pipeline.stages.documents import read_documents
from ebbtide.pipeline.stages.parse import ANY
from ebbtide.plan.joins import why_no_joins
from ebbtide.program import TRIPLE, Program, is_event
from ebbtide.program.user_module import UserModule
from ebbtide.reasoner.intake import Rules as RulesLike
from ebbtide.reasoner.intake import as_program
from ebbtide.terms.formats import TERM_COLUMNS


class Closure(NamedTuple):
    """The triples of a closure, how many there are, in how many rounds, and of which events."""

    triples: DataFrame
    size: int
    rounds: int
    #: How often each rule that concludes an inconsistency did.
    events: dict[str, int]


def closure_of(
    facts: DataFrame,
    rules: RulesLike,
    *,
    inferred_only: bool = False,
    builtins: Iterable[str] = (),
) -> Closure:
    """The closure of facts, a DataFrame of s, p and o as `stages.canonical` has them."""
    modules = list(map(UserModule.of, builtins))
    for module in modules:
        module.run()
    stated = facts.select(*TERM_COLUMNS)
    engine = DataFrameEngine(facts.sparkSession, program_of_joins(rules), {}, modules)
    engine.add_frame(stated, TRIPLE)
    engine.changes(0)
    whole = engine.frame(TRIPLE)
    assert whole is not None
    triples = whole.drop("until").toDF(*TERM_COLUMNS)
    if inferred_only:
        triples = triples.join(stated.hint("merge"), list(TERM_COLUMNS), "left_anti")
    events = {name: engine.size(name) for name in engine.program.relations if is_event(name)}
    found = {name: count for name, count in events.items() if count}
    return Closure(triples, engine.size(TRIPLE), engine.rounds, found)


def materialize(
    facts: DataFrame,
    rules: RulesLike,
    *,
    inferred_only: bool = False,
    builtins: Iterable[str] = (),
) -> DataFrame:
    """The closure of facts under positive rules: s, p and o, each fact once.

    `facts` is a static DataFrame with the columns s, p and o (N-Triples texts), as `read_rdf` gives
    it, of any size: nothing is collected. A row that is no fact fails it, as it does `reason`. The
    rules are run as joins, at once, when this is called. `builtins` are Python files or modules
    with what they call, as for `reason`.
    """
    stated = _seen(facts)
    return closure_of(stated, rules, inferred_only=inferred_only, builtins=builtins).triples


def _seen(facts: DataFrame) -> DataFrame:
    """Rows of whoever made them, seen to be facts, with the one text of each term."""
    if missing := [name for name in TERM_COLUMNS if name not in facts.columns]:
        raise PipelineError(f"the facts lack the columns {', '.join(missing)}")
    if facts.isStreaming:
        raise PipelineError("a stream has no closure; `reason` follows it tick by tick")
    texts = [F.col(name).cast("string").alias(name) for name in TERM_COLUMNS]
    # Of no time, which facts of a stream have.
    rows = facts.select(F.lit(0).cast("long").alias("t"), *texts)
    return canonical_rows(rows, ANY, fail=True, foreign=True)


def write_closure(
    spark: SparkSession,
    files: Sequence[str | PathLike[str]],
    rules: RulesLike,
    folder: str | PathLike[str],
    *,
    inferred_only: bool = False,
    builtins: Iterable[str] = (),
) -> Closure:
    """Write the closure of RDF files into a folder, as files of N-Triples.

    What RDF cannot say, facts whose subject is a literal or whose predicate is no IRI, is left out.
    """
    facts = read_documents(spark, [str(file) for file in files])
    found = closure_of(facts, rules, inferred_only=inferred_only, builtins=builtins)
    can_be_said = ~F.col("s").startswith('"') & F.col("p").startswith("<")
    lines = found.triples.where(can_be_said).select(F.concat_ws(" ", *TERM_COLUMNS, F.lit(".")))
    lines.write.text(str(folder))
    return found


def program_of_joins(rules: RulesLike) -> Program:
    """The program of rules that can be run as joins; else a `PipelineError` says why it cannot."""
    program = as_program(rules)
    if reason := why_no_joins(program):
        raise PipelineError(f"only positive programs can be run as joins: {reason}")
    return program
