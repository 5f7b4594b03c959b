"""What the streams of a pipeline file become: one DataFrame of facts, and threads that spool."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.languages.lars.terms import WELL_KNOWN
from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file import model
from ebbtide.pipeline.mqtt import Broker
from ebbtide.pipeline.secrets import with_secrets
from ebbtide.pipeline.sources.files import read_files
from ebbtide.pipeline.sources.here import Home
from ebbtide.pipeline.sources.kafka import read_kafka
from ebbtide.pipeline.sources.memory import remembered
from ebbtide.pipeline.sources.mqtt import delivered
from ebbtide.pipeline.sources.rate import read_rate
from ebbtide.pipeline.sources.rows import read_rows, rows_of_messages
from ebbtide.pipeline.sources.socket import BYTES_A_PIECE, received
from ebbtide.pipeline.sources.spool import Arrival, Piece, Spool
from ebbtide.pipeline.sources.spooled import read_lines, read_spool
from ebbtide.pipeline.sources.workload import paced
from ebbtide.pipeline.stages.canonical import canonical_rows
from ebbtide.pipeline.stages.messages import parse_messages
from ebbtide.pipeline.stages.parse import Documents, parse_files, parser
from ebbtide.pipeline.waiting import Waiting
from ebbtide.testing import workloads


def facts_of(
    pipeline: model.Pipeline, spark: SparkSession, checkpoint: Checkpoint, *, parcels: bool
) -> DataFrame:
    """All streams as one DataFrame, each row with its stream's name: they are read together.

    The facts come in parcels, if whoever takes them wants that.
    """
    whole: DataFrame | None = None
    for name, stream in pipeline.streams.items():
        documents = _documents(pipeline, stream, parcels)
        facts = _read(name, stream, spark, checkpoint.spool(name), documents)
        named = facts.select(F.lit(name).alias("stream"), "*")
        whole = named if whole is None else whole.unionByName(named)
    assert whole is not None
    return whole


def homes_of(pipeline: model.Pipeline, checkpoint: Checkpoint) -> list[Home]:
    """Where the documents of streams are that this process can read, each its own folder."""
    homes = []
    for name, stream in pipeline.streams.items():
        match stream:
            case model.Files(path=path):
                folder = Path(path)
            case model.Mqtt(format="json"):
                continue
            case model.Mqtt() | model.Socket() | model.Generated() | model.Memory():
                folder = checkpoint.spool(name)
            case _:
                continue
        parse = parser(str(folder), _documents(pipeline, stream, parcels=False))
        homes.append(Home(name, folder, parse))
    # Of a folder that two streams read nobody knows whose a document is.
    folders = Counter(home.folder for home in homes)
    return [home for home in homes if folders[home.folder] == 1]


def _documents(pipeline: model.Pipeline, stream: model.AnyStream, parcels: bool) -> Documents:
    return Documents(
        getattr(stream, "format", None),
        pipeline.dead_letters.longest_term,
        {**WELL_KNOWN, **pipeline.prefixes},
        parcels,
        relative=bool(pipeline.programs),
    )


def _read(
    name: str, stream: model.AnyStream, spark: SparkSession, spool: Path, documents: Documents
) -> DataFrame:
    match stream:
        case model.Files():
            return read_files(
                spark, Path(stream.path), documents, files_a_batch=stream.files_a_batch
            )
        case model.Rows():
            rows = read_rows(
                spark,
                Path(stream.path),
                format=stream.format,
                schema=stream.schema,
                time=stream.time,
                triples=stream.triples,
                files_a_batch=stream.files_a_batch,
            )
            return canonical_rows(rows, documents)
        case model.Kafka():
            messages = read_kafka(
                spark,
                servers=stream.servers,
                topics=stream.topics,
                starting=stream.starting,
                messages_a_batch=stream.messages_a_batch,
                options=with_secrets(stream.options, stream.secrets, f"streams.{name}"),
            )
            if stream.format == "json":
                return canonical_rows(_rows(stream, messages), documents)
            return parse_messages(messages, documents)
        case model.Mqtt(format="json"):
            rows = _rows(stream, read_lines(spark, spool, stream.bytes_a_batch))
            return canonical_rows(rows, documents)
        case model.Rate():
            rows = read_rate(
                spark, stream.rows_a_second, stream.columns, stream.time, stream.triples
            )
            return canonical_rows(rows, documents)
        case model.Mqtt() | model.Socket() | model.Generated() | model.Memory():
            pieces = read_spool(spark, spool, stream.bytes_a_batch)
            return parse_files(pieces, spool, documents)


def _rows(stream: model.Messages, messages: DataFrame) -> DataFrame:
    # That they are there was checked when the file was loaded.
    assert stream.schema is not None
    assert stream.time is not None
    return rows_of_messages(
        messages, schema=stream.schema, time=stream.time, triples=stream.triples
    )


def waiting_of(pipeline: model.Pipeline, checkpoint: Checkpoint) -> Iterator[tuple[str, Waiting]]:
    """What tells of the streams that are folders how many files wait."""
    for place, (name, stream) in enumerate(pipeline.streams.items()):
        if isinstance(stream, model.Files | model.Rows):
            # Spark numbers its sources in the order in which they are read together.
            yield name, Waiting(Path(stream.path), checkpoint.spark / "sources" / str(place))


def spools_of(
    pipeline: model.Pipeline, checkpoint: Checkpoint, feeds: Mapping[str, Iterable[str]]
) -> Iterator[Spool]:
    """The threads that keep as files what Spark cannot ask for again.

    `feeds` are the documents of streams from memory.
    """
    for name in feeds:
        if not isinstance(pipeline.streams.get(name), model.Memory):
            raise PipelineError(f'no stream {name} is from = "memory"')
    for name, stream in pipeline.streams.items():
        stop = threading.Event()
        pieces: Iterator[Piece] | Iterator[Arrival]
        match stream:
            case model.Socket(host=host, port=port, format=format, bytes_a_batch=most):
                most = min(most, BYTES_A_PIECE)
                pieces = received(f"streams.{name}", host, port, stop, format, most)
            case model.Mqtt(topics=topics, format=format):
                client = stream.client or f"{pipeline.name} {name}"
                broker = Broker.of(stream, f"streams.{name}")
                pieces = delivered(broker, topics, client, format, stop)
            case model.Generated(workload="mobility", seconds=seconds, seed=seed):
                pieces = paced(workloads.mobility(seconds=seconds, seed=seed), seconds, stop)
            case model.Generated(seconds=seconds, seed=seed):
                pieces = paced(workloads.lubm(seed=seed), seconds, stop)
            case model.Memory(lines=lines, format=format):
                whole = "".join(f"{line}\n" for line in lines)
                pieces = remembered(chain([whole], feeds.get(name, ())), format, stop)
            case _:
                continue
        yield Spool(pieces, checkpoint.spool(name), stop)
