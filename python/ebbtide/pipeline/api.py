"""Reasoning as a step of anybody's Spark program: DataFrames in, DataFrames out.

facts = spark.readStream.format("kafka")...        # anything, made into t, s, p, o
changes = reason(facts, "rdfs-sparkwave", window=Sliding(60_000), background=["campus.ttl"])
changes.where("op = '+'").writeStream...
alarms = reason(readings, "alarms.lars")           # anything, made into t and atoms
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypedDict

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.languages.lars import LarsProgram, load_lars
from ebbtide.languages.lars.terms import WELL_KNOWN
from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.pipeline.closure import materialize
from ebbtide.pipeline.dead import LETTER
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.placements.sharded import PARTITIONS, doubt, reason_in_shards, shards_for
from ebbtide.pipeline.placements.single import Single, reason_in_one_place
from ebbtide.pipeline.stages.atoms import PLACED, row_parser
from ebbtide.pipeline.stages.canonical import canonical_rows, seeing
from ebbtide.pipeline.stages.documents import read_documents
from ebbtide.pipeline.stages.parse import ANY, ERROR, Documents
from ebbtide.pipeline.starts import run_query
from ebbtide.pipeline.typed import Columns
from ebbtide.pipeline.units import lars
from ebbtide.pipeline.units import queries as queries_
from ebbtide.pipeline.units import rules as rules_
from ebbtide.pipeline.units.lars import Lars
from ebbtide.pipeline.units.queries import Queries
from ebbtide.pipeline.units.rules import Rules
from ebbtide.program.user_module import UserModule
from ebbtide.reasoner.intake import Rules as RulesLike
from ebbtide.reasoner.intake import as_program
from ebbtide.reasoner.reasoner import DEFAULT_STREAM, DEFAULT_WINDOW
from ebbtide.terms.formats import TERM_COLUMNS
from ebbtide.time import Instant, TimeWindow, Window

__all__ = ["answer", "materialize", "read_rdf", "reason", "run_query", "solutions"]

#: Facts of LARS programs, some of whose terms are constants.
CONSTANTS: Final = Documents(relative=True)
#: What the rows of a program of LARS are known by, where there is but one.
PROGRAM: Final = "program"
#: The types of a column of milliseconds.
_INSTANTS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string")


class Ticking(TypedDict):
    """When ticks are."""

    step: int
    lateness: int
    start: Instant | None


def reason(
    facts: DataFrame,
    program: RulesLike | LarsProgram,
    *,
    window: Window | None = None,
    streams: Mapping[str, Window] | Collection[str] | None = None,
    full: bool = False,
    step: int = 1_000,
    lateness: int = 0,
    start: Instant | None = None,
    background: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
    builtins: Iterable[str] = (),
    shards: int | None = None,
    key: str | None = None,
    letters: bool = False,
) -> DataFrame:
    """What rules conclude from timed facts, tick by tick: rows of t, op, s, p, o and until.

    `program` is rules (names of regimes, a path, a text, a `Program`), or a program of LARS: the
    path of a `.lars` file, or what `parse_lars` makes of a text.

    `facts`, streaming or not, has the columns t (milliseconds or timestamps), s, p and o
    (N-Triples texts), and with `streams` a column `stream`. A row of the result says that at the
    tick t a fact entered (op +), left (-) or got another `until` (~, null is for ever). Facts that
    do not go on are reasoned over to the end of the last window's tick; of a stream, every tick
    that is complete. `builtins` are Python files, which go to executors
    with the program, or modules, which must be there, with what the rules call.

    Late facts are left out, and a row that is no fact (a null, or a text that is no term, such as
    Ada or <Ada> where <http://example/Ada> is meant, or a timestamp outside the years 1 to 9999,
    as of milliseconds that were taken for seconds) fails the query. With `letters` both are rows,
    too: dead letters, in which the column `letter` has stream, source, line, t, reason and text,
    and all others are null. Columns `source` and `line` of the facts tell where each came from.

    With several `shards` as many kernels share the work, if the program can be cut; if it cannot,
    a `PipelineError` names the rules. Without a number there are as many as Spark has cores, on a
    cluster and if the program can be cut, and one otherwise. Count windows and sessions see the
    facts of a stream in order, in one place, and have neither shards nor a key. The state of a
    stream is in Spark's state store, so the query needs a checkpoint like any other, and must go on
    with as many shards as it began with; let `spark.sql.shuffle.partitions` be their number, for
    that is how many tasks a batch has (there is a warning if it is above the cores). The session is
    told to keep state in RocksDB, which the operator needs.

    A `key`, an expression of SQL over s, p and o, is a promise that only facts of the same key meet
    in a rule, and that a conclusion has the key of what it rests on; nobody proves it, and there is
    a warning. Facts whose key is null go to all shards.

    Of a program of LARS the rows have t, op, predicate and atom (the texts of LARS), and a time
    point is a `step`. What began to hold has op +, and what ceased to -; with `full` there are
    rows of op = instead, for all that holds at each time point. Its facts are triples as above, or
    have the columns t and `atoms`: a text such as `temp(104). door(open).`, or none to say that
    time has come so far; where there are both, a row without s is atoms. A text that is no atoms
    fails the query, or is a dead letter with `letters`. The program has its windows itself, so
    `streams` are names alone, and it has one engine.
    """
    ticking: Ticking = {"step": step, "lateness": lateness, "start": start}
    files = _files(background)
    if (found := _lars(program)) is not None:
        if shards not in (None, 1) or key is not None:
            raise PipelineError("a program of LARS runs in one place: it has no shards and no key")
        if window is not None or isinstance(streams, Mapping) or builtins:
            raise PipelineError(
                "windows and builtins are for rules: a program of LARS has its own windows, and "
                "`streams` is a list of names"
            )
        tells = (lars.HOLDS,) if full else lars.CHANGES
        names = [DEFAULT_STREAM] if streams is None else list(streams)
        lars_unit = Lars(PROGRAM, found, names, background=files, tells=tells, **ticking)
        single = Single(lars_unit, lars.ROWS, lars.table_of)
        _warn_of_tasks(facts, 1)
        return _told(reason_in_one_place(_atoms(facts, found, streams, letters), single), letters)
    assert not isinstance(program, LarsProgram)
    if full:
        raise PipelineError("full is for programs of LARS: rules tell what changes")
    if not (streams is None or isinstance(streams, Mapping)):
        raise PipelineError("the streams of rules are windows by name, not names alone")
    modules = _run(builtins)
    windows = {DEFAULT_STREAM: window or DEFAULT_WINDOW} if streams is None else dict(streams)
    unit = Rules(as_program(program), windows, background=files, builtins=modules, **ticking)
    if not all(isinstance(each, TimeWindow) for each in windows.values()):
        if shards not in (None, 1) or key is not None:
            raise PipelineError(
                "count windows and sessions see the facts of a stream in order, in one place: "
                "they have no shards and no key"
            )
        _warn_of_tasks(facts, 1)
        single = Single(unit, rules_.ROWS, rules_.table_of)
        seen = _seen(facts, _stream_of(facts, streams), letters)
        return _told(reason_in_one_place(seen, single), letters)
    if shards is None:
        shards = shards_for(unit, facts.sparkSession, key)
    if shards < 1:
        raise PipelineError(f"there must be a shard at least, not {shards}")
    _warn_of_tasks(facts, shards)
    stream = _stream_of(facts, streams)
    if key is None:
        prepared = _prepared(facts, stream, letters)
        see = seeing(ANY.longest_term, fail=not letters, foreign=True, dated=_is_dated(facts))
        rows = reason_in_shards(prepared, unit, shards, see=see, letters=letters)
    else:
        seen = _seen(facts, stream, letters)
        rows = reason_in_shards(seen, unit, shards, key, letters=letters)
    if key is not None and shards > 1:
        warnings.warn(doubt(unit, key), stacklevel=2)
    return _told(rows, letters) if letters else rows


def answer(
    facts: DataFrame,
    *queries: str,
    rules: RulesLike = (),
    lateness: int = 0,
    start: Instant | None = None,
    background: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
    builtins: Iterable[str] = (),
    report: str = "window-close",
    letters: bool = False,
) -> DataFrame:
    """What continuous queries, in C-SPARQL or RSP-QL, answer: rows of t, query, op and answer.

    `facts`, streaming or not, is as for `reason`, with the IRIs of the streams, without < and >, in
    the column `stream`; one that no query asks for fails the query. `answer` is the line of JSON
    that `ebbtide query` writes at the tick t, which `get_json_object` and `from_json` take apart,
    and `solutions` too. Late facts are left out, or with `letters` are rows as in `reason`.
    """
    modules = _run(builtins)
    asked = [parse_continuous_query(query) for query in queries]
    fed = {query.name for query in asked if query.registers == "stream"}
    iris = {window.stream.value for query in asked for window in query.streams} - fed
    unit = Queries(
        asked,
        {iri: iri for iri in sorted(iris)},
        program=as_program(rules),
        background=_files(background),
        builtins=modules,
        lateness=lateness,
        start=start,
        report=report,
    )
    single = Single(unit, queries_.ROWS, queries_.table_of)
    # Who asks of no stream has facts for nothing, whatever their stream is called.
    stream = _stream_of(facts, iris or None)
    _warn_of_tasks(facts, 1)
    return _told(reason_in_one_place(_seen(facts, stream, letters), single), letters)


def solutions(answers: DataFrame, query: str, types: Mapping[str, str] | None = None) -> DataFrame:
    """The solutions of one query, a row each: t, query, op, until, and a column for each variable.

    `answers` is what `answer` gives, for this query among others. `types` are types of Spark by
    variable, such as double; what is counted, compared or cast in the query has its type anyway.
    Any other variable is a struct of value, datatype and language. A value that is not of the
    declared type fails the query that reads it.
    """
    columns = Columns.of(parse_continuous_query(query), types or {})

    def typed(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            lines = map(json.loads, batch.column("answer").to_pylist())
            yield from columns.of_lines(lines).to_batches()

    mine = answers.where(F.col("query") == columns.query).select("answer")
    return mine.mapInArrow(typed, columns.spark_schema)


def _told(rows: DataFrame, letters: bool) -> DataFrame:
    """Rows without dead letters, or with them taken apart, and with nothing else in them."""
    if not letters:
        return rows.where("letter IS NULL").drop("letter")
    is_letter = F.col("letter").isNotNull()
    rest = [
        F.when(~is_letter, F.col(name)).alias(name) for name in rows.columns if name != "letter"
    ]
    return rows.select(*rest, F.from_json("letter", LETTER).alias("letter"))


def _lars(program: RulesLike | LarsProgram) -> LarsProgram | None:
    """The program of LARS that is meant, if it is one."""
    if isinstance(program, LarsProgram):
        return program
    if isinstance(program, str | PathLike) and os.fspath(program).endswith(".lars"):
        return load_lars(program)
    return None


def _atoms(
    facts: DataFrame, program: LarsProgram, streams: Collection[str] | None, letters: bool
) -> DataFrame:
    """Facts as `stages.parse` gives them: triples, and atoms if there is a column of them."""
    stream = _stream_of(facts, streams)
    if "atoms" not in facts.columns:
        return _seen(facts, stream, letters, CONSTANTS)
    has_both = set(TERM_COLUMNS) <= set(facts.columns)
    content = ("atoms", *(TERM_COLUMNS if has_both else ()))
    prefixes = {**WELL_KNOWN, **program.prefixes}
    columns = _columns(facts, stream, content)
    parse = row_parser(prefixes, Documents.longest_term, fail=not letters, dated=_is_dated(facts))
    return columns.mapInArrow(parse, PLACED)


def _stream_of(facts: DataFrame, streams: Collection[str] | None) -> Column:
    """The stream of a fact: the only one, or one of several by its column; any other fails."""
    if streams is None:
        return F.lit(DEFAULT_STREAM)
    _need(facts, ["stream"])
    known = ", ".join(sorted(streams))
    named = F.coalesce(F.col("stream"), F.lit("null"))
    wrong = F.raise_error(
        F.concat(F.lit("there is no stream "), named, F.lit(f"; there are {known}"))
    )
    return F.when(F.col("stream").isin(*streams), F.col("stream")).otherwise(wrong)


def _files(background: str | PathLike[str] | Iterable[str | PathLike[str]]) -> list[Path]:
    """The files of a background, one or several."""
    if isinstance(background, DataFrame):
        raise PipelineError("the background is files of RDF, and a DataFrame is none")
    if isinstance(background, str | PathLike):
        background = [background]
    return [Path(file) for file in background]


def _run(builtins: Iterable[str]) -> list[UserModule]:
    """The modules of builtins, run here: rules that call them can be read."""
    modules = list(map(UserModule.of, builtins))
    for each in modules:
        each.run()
    return modules


def _need(facts: DataFrame, columns: Iterable[str]) -> None:
    if missing := [name for name in columns if name not in facts.columns]:
        raise PipelineError(f"the facts lack the columns {', '.join(missing)}")


def _prepared(facts: DataFrame, stream: Column, letters: bool) -> DataFrame:
    """Triples, not yet seen to be facts, with a place for what is wrong if letters are wanted."""
    rows = _columns(facts, stream, TERM_COLUMNS)
    texts = {name: F.col(name).cast("string") for name in TERM_COLUMNS}
    # Spark plans every expression anew with every batch: texts are looked at in Rust alone.
    return rows.withColumns({**texts, "error": F.lit(None).cast(ERROR)} if letters else texts)


def _seen(facts: DataFrame, stream: Column, letters: bool, documents: Documents = ANY) -> DataFrame:
    """Triples as `stages.parse` gives them, with the one text of each term."""
    rows = _prepared(facts, stream, letters)
    dated = _is_dated(facts)
    return canonical_rows(rows, documents, fail=not letters, foreign=True, dated=dated)


def _columns(facts: DataFrame, stream: Column, content: Sequence[str]) -> DataFrame:
    """The columns of facts: their stream and place, t as milliseconds, and what they say."""
    _need(facts, ("t", *content))
    kind = dict(facts.dtypes)["t"]
    if _is_dated(facts):
        time = F.unix_millis("t")
    elif kind.partition("(")[0] in _INSTANTS:
        # A text that is no number is no fact, as a null is.
        time = F.col("t").try_cast("long")
    else:
        raise PipelineError(f"t is milliseconds or timestamps, and the column is of type {kind}")
    source = F.col("source").cast("string") if "source" in facts.columns else F.lit("")
    line = F.col("line").try_cast("int") if "line" in facts.columns else F.lit(None).cast("int")
    columns = (stream.alias("stream"), source.alias("source"), line.alias("line"), time.alias("t"))
    return facts.select(*columns, *content)


def _is_dated(facts: DataFrame) -> bool:
    """Whether t is timestamps."""
    return dict(facts.dtypes)["t"].startswith("timestamp")


def _warn_of_tasks(facts: DataFrame, shards: int) -> None:
    """Every batch of a stateful operator has as many tasks as a shuffle, 200 if nobody says."""
    spark = facts.sparkSession
    tasks = int(spark.conf.get(PARTITIONS) or 200)
    if facts.isStreaming and tasks > max(shards, spark.sparkContext.defaultParallelism):
        warnings.warn(
            f"every batch will have {tasks} tasks for {shards} shard(s): before you start the "
            f'query, spark.conf.set("{PARTITIONS}", {shards})',
            stacklevel=3,
        )


def read_rdf(spark: SparkSession, *paths: str | PathLike[str]) -> DataFrame:
    """The triples of RDF files of any size, as a DataFrame of s, p, o and g.

    N-Triples and N-Quads are split among the executors, line by line; other formats are read file
    by file, and so is a whole folder: `folder/*.nt` is split. A bad line fails the query that reads
    it. g is null outside named graphs.
    """
    if not paths:
        raise PipelineError("which files are to be read?")
    if strange := [path for path in paths if not isinstance(path, str | PathLike)]:
        raise PipelineError(f"{strange[0]!r} is no path; of several files each is an argument")
    return read_documents(spark, [str(path) for path in paths])
