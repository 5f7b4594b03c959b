"""What the outputs of a pipeline file become: sinks, each with the name of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession
from rich.console import Console

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.dead import DeadLetters
from ebbtide.pipeline.file import model
from ebbtide.pipeline.file.meaning import RULES, columns_of, queries_of
from ebbtide.pipeline.mqtt import Broker
from ebbtide.pipeline.secrets import with_secrets
from ebbtide.pipeline.sinks import Sink
from ebbtide.pipeline.sinks.console import (
    ConsoleSink,
    LinesConsole,
    lines_of_answers,
    lines_of_atoms,
)
from ebbtide.pipeline.sinks.kafka import KafkaSink
from ebbtide.pipeline.sinks.mqtt import MqttSink
from ebbtide.pipeline.sinks.parts import (
    Parts,
    answer_lines,
    answer_ntriples,
    json_lines,
    ntriples,
    parquet,
)
from ebbtide.pipeline.sinks.selected import Selected
from ebbtide.pipeline.sinks.spark import BatchFolders, SparkSink


class Folder(Protocol):
    """A folder that an output writes to."""

    folder: Path

    def written(self) -> list[Path]:
        """What is there of it."""

    def others(self) -> list[Path]:
        """What is there of others, and would be read with it."""

    def reset(self) -> None:
        """Take that away."""


def folders_of(pipeline: model.Pipeline) -> Mapping[str, Folder]:
    """The folders that are written to, by the key's path of each."""
    found: dict[str, Folder] = {}
    for name, output in pipeline.outputs.items():
        folder = _folder(pipeline, output)
        if folder is not None:
            found[f"outputs.{name}"] = folder
    if (dead := _dead_parts(pipeline)) is not None:
        found["dead_letters"] = dead
    return found


def _folder(pipeline: model.Pipeline, output: model.AnyOutput) -> Folder | None:
    if isinstance(output, model.SparkWritten):
        return None if output.path is None else BatchFolders(Path(output.path))
    return _parts(pipeline, output)


def _gives_answers(pipeline: model.Pipeline, output: model.AnyOutput) -> bool:
    """Whether the rows of an output are answers of a query, and no table."""
    return output.of in [query.name for query in queries_of(pipeline)]


def _parts(pipeline: model.Pipeline, output: model.AnyOutput) -> Parts | None:
    of_query = _gives_answers(pipeline, output)
    match output:
        case model.JsonLines(path=path):
            return Parts(Path(path), "jsonl", answer_lines if of_query else json_lines)
        case model.Parquet(path=path):
            table = _table(pipeline, output)
            return Parts(Path(path), "parquet", lambda rows: parquet(table(rows)))
        case model.NTriples(path=path, timed=timed):
            encode = partial(answer_ntriples if of_query else ntriples, timed=timed)
            return Parts(Path(path), "tnt" if timed else "nt", encode)
    return None


def _table(
    pipeline: model.Pipeline, output: model.Parquet | model.SparkWritten
) -> Callable[[Any], Any]:
    """What makes the rows of an output a table."""
    columns = columns_of(pipeline, output)
    return (lambda rows: rows) if columns is None else columns.of_answers


def sinks_of(
    pipeline: model.Pipeline, console: Console, spark: SparkSession, checkpoint: Checkpoint
) -> Iterator[tuple[str, Sink]]:
    """The outputs, each with the name of its rows and what it asks for of them."""
    for name, output in pipeline.outputs.items():
        sink = _sink(pipeline, name, output, console, spark, checkpoint)
        if output.of == RULES:
            predicates = [f"<{iri}>" for iri in output.predicates]
            sink = Selected(sink, "p", predicates, output.changes)
        elif not _gives_answers(pipeline, output):
            sink = Selected(sink, "predicate", output.predicates, output.changes)
        yield output.of, sink


def _sink(
    pipeline: model.Pipeline,
    name: str,
    output: model.AnyOutput,
    console: Console,
    spark: SparkSession,
    checkpoint: Checkpoint,
) -> Sink:
    of_query = _gives_answers(pipeline, output)
    encode = answer_lines if of_query else json_lines
    match output:
        case model.Console():
            if output.of == RULES:
                return ConsoleSink(console)
            return LinesConsole(console, lines_of_answers if of_query else lines_of_atoms)
        case model.KafkaTopic(servers=servers, topic=topic):
            tag = f"{pipeline.name} {name}"
            options = with_secrets(output.options, output.secrets, f"outputs.{name}")
            begun_after = checkpoint.begun_after
            return KafkaSink(spark, servers, topic, encode, tag, begun_after, options)
        case model.MqttTopic(topic=topic):
            return MqttSink(Broker.of(output, f"outputs.{name}"), topic, encode)
        case model.SparkWritten(format=format, mode=mode, path=path):
            return SparkSink(
                spark,
                f"outputs.{name}",
                format,
                _table(pipeline, output),
                None if path is None else BatchFolders(Path(path)),
                mode,
                with_secrets(output.options, output.secrets, f"outputs.{name}"),
            )
    parts = _parts(pipeline, output)
    assert parts is not None
    return parts


def dead_letters_of(pipeline: model.Pipeline) -> DeadLetters:
    """Where bad lines and late facts go."""
    return DeadLetters(_dead_parts(pipeline), fail=pipeline.dead_letters.on_error == "fail")


def _dead_parts(pipeline: model.Pipeline) -> Parts | None:
    path = pipeline.dead_letters.path
    return None if path is None else Parts(Path(path), "jsonl", json_lines)
