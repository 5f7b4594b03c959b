"""What a pipeline file's tables become: units, sources and sinks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)
from rich.console import Console

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import DeadLetters
from ebbtide.pipeline.file import model
from ebbtide.pipeline.file.duration import milliseconds
from ebbtide.pipeline.file.load import RULES, iris_of, program_of, queries_of, window_of
from ebbtide.pipeline.placements.dataframe import DataFramePlacement
from ebbtide.pipeline.placements.driver import Driver
from ebbtide.pipeline.placements.placement import Placement
from ebbtide.pipeline.placements.shards import ShardedPlacement
from ebbtide.pipeline.progress import Progress
from ebbtide.pipeline.sinks import Sink
from ebbtide.pipeline.sinks.console import AnswersConsole, ConsoleSink
from ebbtide.pipeline.sinks.kafka import KafkaSink
from ebbtide.pipeline.sinks.mqtt import MqttSink
from ebbtide.pipeline.sinks.parts import (
    Parts,
    answer_lines,
    answer_ntriples,
    answer_parquet,
    json_lines,
    ntriples,
    parquet,
)
from ebbtide.pipeline.sinks.selected import Selected
from ebbtide.pipeline.sources.files import read_files
from ebbtide.pipeline.sources.kafka import read_kafka
from ebbtide.pipeline.sources.mqtt import delivered
from ebbtide.pipeline.sources.rows import read_rows, rows_of_messages
from ebbtide.pipeline.sources.socket import received
from ebbtide.pipeline.sources.spool import Piece, Spool
from ebbtide.pipeline.sources.spooled import read_lines, read_spool
from ebbtide.pipeline.sources.workload import paced
from ebbtide.pipeline.stages.messages import parse_messages
from ebbtide.pipeline.stages.parse import parse_files
from ebbtide.pipeline.units import Unit
from ebbtide.pipeline.units.queries import Queries
from ebbtide.pipeline.units.rules import Rules
from ebbtide.testing import workloads


def units_of(pipeline: model.Pipeline) -> list[Unit]:
    """What reasons: rules if their rows go anywhere, and queries if there are any."""
    units: list[Unit] = []
    if any(output.of == RULES for output in pipeline.outputs.values()):
        units.append(rules_of(pipeline))
    if queries := queries_of(pipeline):
        units.append(
            Queries(
                queries,
                iris_of(pipeline),
                program=program_of(pipeline),
                background=map(Path, pipeline.background.files),
                lateness=milliseconds(pipeline.time.lateness),
                start=pipeline.time.start,
                report=pipeline.queries.report,
            )
        )
    return units


def rules_of(pipeline: model.Pipeline) -> Rules:
    """The unit of rules."""
    return Rules(
        program_of(pipeline),
        {name: window_of(stream) for name, stream in pipeline.streams.items()},
        background=map(Path, pipeline.background.files),
        step=milliseconds(pipeline.time.step),
        lateness=milliseconds(pipeline.time.lateness),
        start=pipeline.time.start,
    )


def placement_of(
    pipeline: model.Pipeline,
    units: Sequence[Unit],
    sinks: Sequence[tuple[str, Sink]],
    dead: DeadLetters,
    checkpoint: Checkpoint,
    say: Callable[[str], None],
    spark: SparkSession,
    progress: Progress,
) -> Placement:
    """Where the units are."""
    common: Any = {
        "streams": list(pipeline.streams),
        "sinks": sinks,
        "dead": dead,
        "checkpoint": checkpoint,
        "say": say,
        "progress": progress,
    }
    match pipeline.run.placement:
        case "sharded":
            return ShardedPlacement(**common, unit=rules_of(pipeline), shards=pipeline.run.shards)
        case "dataframe":
            return DataFramePlacement(**common, unit=rules_of(pipeline), spark=spark)
        case "driver":
            snapshot_every = pipeline.checkpoint.snapshot_every
            return Driver(**common, units=units, snapshot_every=snapshot_every)


# ---- streams -----------------------------------------------------------------------------------


def facts_of(pipeline: model.Pipeline, spark: SparkSession, checkpoint: Checkpoint) -> DataFrame:
    """All streams as one DataFrame, each row with its stream's name: they are read together."""
    longest = pipeline.dead_letters.longest_term
    whole: DataFrame | None = None
    for name, stream in pipeline.streams.items():
        facts = _read(stream, spark, checkpoint.spool(name), longest)
        named = facts.select(F.lit(name).alias("stream"), "*")
        whole = named if whole is None else whole.unionByName(named)
    assert whole is not None
    return whole


def _read(
    stream: model.AnyStream, spark: SparkSession, spool: Path, longest_term: int
) -> DataFrame:
    match stream:
        case model.Files():
            return read_files(
                spark,
                Path(stream.path),
                format=stream.format,
                files_a_batch=stream.files_a_batch,
                longest_term=longest_term,
            )
        case model.Rows():
            return read_rows(
                spark,
                Path(stream.path),
                format=stream.format,
                schema=stream.schema,
                time=stream.time,
                triples=stream.triples,
                files_a_batch=stream.files_a_batch,
            )
        case model.Kafka():
            messages = read_kafka(
                spark,
                servers=stream.servers,
                topics=stream.topics,
                starting=stream.starting,
                messages_a_batch=stream.messages_a_batch,
                options=stream.options,
            )
            if stream.format == "json":
                return _rows(stream, messages)
            return parse_messages(messages, stream.format, longest_term)
        case model.Mqtt(format="json"):
            return _rows(stream, read_lines(spark, spool, stream.bytes_a_batch))
        case model.Mqtt() | model.Socket() | model.Generated():
            pieces = read_spool(spark, spool, stream.bytes_a_batch)
            return parse_files(pieces, spool, None, longest_term)


def _rows(stream: model.Messages, messages: DataFrame) -> DataFrame:
    # That they are there was checked when the file was loaded.
    assert stream.schema is not None
    assert stream.time is not None
    return rows_of_messages(
        messages, schema=stream.schema, time=stream.time, triples=stream.triples
    )


def spools_of(pipeline: model.Pipeline, checkpoint: Checkpoint) -> Iterator[Spool]:
    """The threads that keep as files what Spark cannot ask for again."""
    for name, stream in pipeline.streams.items():
        stop = threading.Event()
        pieces: Iterator[Piece]
        match stream:
            case model.Socket(host=host, port=port):
                pieces = received(host, port, stop)
            case model.Mqtt(host=host, port=port, topics=topics, format=format):
                client = stream.client or f"{pipeline.name} {name}"
                pieces = delivered(host, port, topics, client, format, stop)
            case model.Generated(workload="mobility", seconds=seconds, seed=seed):
                pieces = paced(workloads.mobility(seconds=seconds, seed=seed), seconds, stop)
            case model.Generated(seconds=seconds, seed=seed):
                pieces = paced(workloads.lubm(seed=seed), seconds, stop)
            case _:
                continue
        yield Spool(pieces, checkpoint.spool(name), stop)


# ---- outputs -----------------------------------------------------------------------------------


def parts_of(pipeline: model.Pipeline) -> Mapping[str, Parts]:
    """The folders that are written to, by the key's path of each."""
    found = {
        f"outputs.{name}": parts
        for name, output in pipeline.outputs.items()
        if (parts := _parts(output)) is not None
    }
    if pipeline.dead_letters.path is not None:
        found["dead_letters"] = Parts(Path(pipeline.dead_letters.path), "jsonl", json_lines)
    return found


def _parts(output: model.AnyOutput) -> Parts | None:
    of_rules = output.of == RULES
    match output:
        case model.JsonLines(path=path):
            return Parts(Path(path), "jsonl", json_lines if of_rules else answer_lines)
        case model.Parquet(path=path):
            return Parts(Path(path), "parquet", parquet if of_rules else answer_parquet)
        case model.NTriples(path=path, timed=timed):
            encode = partial(ntriples if of_rules else answer_ntriples, timed=timed)
            return Parts(Path(path), "tnt" if timed else "nt", encode)
        case model.Console() | model.KafkaTopic() | model.MqttTopic():
            return None


def sinks_of(
    pipeline: model.Pipeline, console: Console, spark: SparkSession, checkpoint: Checkpoint
) -> Iterator[tuple[str, Sink]]:
    """The outputs, each with the name of its rows and what it asks for of them."""
    parts = parts_of(pipeline)
    for name, output in pipeline.outputs.items():
        of_rules = output.of == RULES
        encode = json_lines if of_rules else answer_lines
        sink: Sink
        match output:
            case model.Console():
                sink = ConsoleSink(console) if of_rules else AnswersConsole(console)
            case model.KafkaTopic(servers=servers, topic=topic, options=options):
                tag = f"{pipeline.name} {name}"
                begun_after = checkpoint.begun_after
                sink = KafkaSink(spark, servers, topic, encode, tag, begun_after, options)
            case model.MqttTopic(host=host, port=port, topic=topic):
                sink = MqttSink(host, port, topic, encode)
            case _:
                sink = parts[f"outputs.{name}"]
        yield output.of, Selected(sink, output.predicates, output.changes) if of_rules else sink


def dead_letters_of(pipeline: model.Pipeline) -> DeadLetters:
    """Where bad lines and late facts go."""
    sink = parts_of(pipeline).get("dead_letters")
    return DeadLetters(sink, fail=pipeline.dead_letters.on_error == "fail")
