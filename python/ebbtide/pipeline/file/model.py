"""What may stand in a pipeline file. Each class is a table of it, each field a key.

A stream says where it comes `from`, an output where it goes `to`; the other keys follow from that.
Durations are milliseconds or texts such as "3 s". Paths are relative to the file. The JSON schema
for editors is made from these classes (`ebbtide run --schema`).
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ebbtide.pipeline.file.duration import PATTERN

#: What a column of answers may be declared to be, by Spark's names.
COLUMN_TYPE = r"^(string|boolean|bigint|double|timestamp|date|decimal\(\d{1,2},\s*\d{1,2}\))$"
NO_COLUMN_TYPE = "not a type of a column (such as bigint, double, timestamp, decimal(10,2), string)"

Positive: TypeAlias = Annotated[int, Meta(gt=0)]
Port: TypeAlias = Annotated[int, Meta(ge=1, le=65_535)]
Duration: TypeAlias = (
    Annotated[int, Meta(ge=0)]
    | Annotated[str, Meta(pattern=PATTERN, description="such as 500 ms, 3 s, 10 min, 2 h")]
)
#: Of a stream's documents: triples, or with "atoms" what LARS programs read.
Format: TypeAlias = Literal["tnt", "trig", "jsonld", "nq", "atoms"]
ColumnType: TypeAlias = Annotated[
    str, Meta(pattern=COLUMN_TYPE, description="such as bigint, double, timestamp, decimal(10,2)")
]


class Table(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Any table of the file: keys nobody knows are errors."""


# ---- time and windows --------------------------------------------------------------------------


class Time(Table, frozen=True, kw_only=True):
    """When ticks come, and how far out of order facts may be."""

    step: Duration = 1_000
    lateness: Duration = 0
    start: int | None = None


class Window(Table, frozen=True, kw_only=True):
    """One of a stream's windows: exactly one of the keys, and `group` with `count` or `session`."""

    sliding: Duration | UnsetType = UNSET
    tumbling: Duration | UnsetType = UNSET
    landmark: int | UnsetType = UNSET
    count: Positive | UnsetType = UNSET
    session: Duration | UnsetType = UNSET
    group: tuple[Literal["s", "p", "o"], ...] = ()


# ---- streams -----------------------------------------------------------------------------------


class Stream(Table, tag_field="from", frozen=True, kw_only=True):
    """What every stream has. A duration as a window is a sliding one; queries bring their own.

    Queries know the stream by its `iri`.
    """

    window: Duration | Window = "10 s"
    iri: str | None = None


class Files(Stream, tag="files", frozen=True, kw_only=True):
    """A folder: every file that appears in it is read once, in the order of time."""

    path: str
    format: Format | None = None
    files_a_batch: Positive = 1_000


class Triple(Table, frozen=True, kw_only=True):
    """A triple made of a row: templates such as `<http://example/{id}>` and `"{name}"`."""

    s: str
    p: str
    o: str


class Rows(Stream, tag="rows", frozen=True, kw_only=True):
    """A folder of JSON lines or Parquet files whose rows become triples.

    `schema` is a schema of Spark, `time` an expression of Spark's SQL: milliseconds or a timestamp.
    """

    path: str
    format: Literal["json", "parquet"]
    schema: str
    time: str
    triples: Annotated[tuple[Triple, ...], Meta(min_length=1)]
    files_a_batch: Positive = 1_000


class Messages(Stream, frozen=True, kw_only=True):
    """A stream of messages, each a document of some lines or graphs, or a row of JSON.

    With `format = "json"` a message becomes triples, by the keys of `rows` streams.
    """

    format: Format | Literal["json"] = "tnt"
    schema: str | None = None
    time: str | None = None
    triples: tuple[Triple, ...] = ()


class Kafka(Messages, tag="kafka", frozen=True, kw_only=True):
    """Topics of Kafka, from where the checkpoint stands or from `starting`.

    `options` are options of Spark's Kafka source, such as "kafka.security.protocol"; `secrets` are
    options whose values are in environment variables, by their names.
    """

    servers: str
    topics: Annotated[tuple[str, ...], Meta(min_length=1)]
    starting: Literal["earliest", "latest"] = "earliest"
    messages_a_batch: Positive = 100_000
    options: dict[str, str] = {}
    secrets: dict[str, str] = {}


class Login(Table, frozen=True, kw_only=True):
    """A user, and the environment variable that the password is in."""

    user: str
    password_from: str


class Tls(Table, frozen=True, kw_only=True):
    """Files in PEM: who vouches for the server, and a client's own certificate and key."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


class Mqtt(Messages, tag="mqtt", frozen=True, kw_only=True):
    """Topics of an MQTT broker. `client` is the name of a session that the broker keeps."""

    host: str = "127.0.0.1"
    port: Port = 1_883
    login: Login | None = None
    tls: Tls | bool = False
    topics: Annotated[tuple[str, ...], Meta(min_length=1)]
    client: str | None = None
    bytes_a_batch: Positive = 33_554_432


class Socket(Stream, tag="socket", frozen=True, kw_only=True):
    """Lines of timed N-Triples, or of atoms, from a TCP server."""

    host: str = "127.0.0.1"
    port: Port
    format: Literal["tnt", "atoms"] = "tnt"
    bytes_a_batch: Positive = 33_554_432


class Generated(Stream, tag="workload", frozen=True, kw_only=True):
    """A synthetic stream, at its own pace: second by second of event time."""

    workload: Literal["mobility", "lubm"]
    seconds: Positive = 60
    seed: int = 0
    bytes_a_batch: Positive = 33_554_432


class Memory(Stream, tag="memory", frozen=True, kw_only=True):
    """Lines that stand here, or documents that a Python program hands over: for tests."""

    lines: tuple[str, ...] = ()
    format: Format = "tnt"
    bytes_a_batch: Positive = 33_554_432


class Rate(Stream, tag="rate", frozen=True, kw_only=True):
    """Rows at a steady rate, made by Spark, with the columns `value` (0, 1, 2...) and `timestamp`.

    `columns` are more of them: expressions of Spark's SQL, by name, that give the same for the same
    row. `time` is an expression, too.
    """

    rows_a_second: Positive = 10
    columns: dict[str, str] = {}
    time: str = "timestamp"
    triples: Annotated[tuple[Triple, ...], Meta(min_length=1)]


AnyStream: TypeAlias = Files | Rows | Kafka | Mqtt | Socket | Generated | Memory | Rate


# ---- outputs -----------------------------------------------------------------------------------


class Output(Table, tag_field="to", frozen=True, kw_only=True):
    """What every output has: whose rows it takes, the rules', a query's or a program's.

    Of rules and programs: which facts, and which changes of them: `+` a fact entered, `-` it left,
    `~` its `until` changed, and of programs alone `=` for all that hold at each tick. No
    predicates: facts of any.
    """

    of: str = "rules"
    predicates: tuple[str, ...] = ()
    changes: Annotated[tuple[Literal["+", "-", "~", "="], ...], Meta(min_length=1)] = ("+", "-")


class Console(Output, tag="console", frozen=True, kw_only=True):
    """The terminal: a table that follows the answers, or a line a change when piped."""


class JsonLines(Output, tag="jsonl", frozen=True, kw_only=True):
    """A folder of JSON lines, a file a batch."""

    path: str


class Parquet(Output, tag="parquet", frozen=True, kw_only=True):
    """A folder of Parquet files, a file a batch. `types` are those of a query's variables."""

    path: str
    types: dict[str, ColumnType] = {}


class SparkWritten(Output, tag="spark", frozen=True, kw_only=True):
    """Whatever Spark can write to: a `format` with its options, in which `{batch}` is the batch.

    With a `path` a folder of a folder a batch. `secrets` are options whose values are in
    environment variables, by their names.
    """

    format: str
    path: str | None = None
    mode: Literal["append", "overwrite"] = "append"
    options: dict[str, str] = {}
    secrets: dict[str, str] = {}
    types: dict[str, ColumnType] = {}


class NTriples(Output, tag="ntriples", frozen=True, kw_only=True):
    """A folder of N-Triples of what entered, a file a batch; timed ones can be a stream again."""

    path: str
    changes: Annotated[tuple[Literal["+"], ...], Meta(min_length=1)] = ("+",)
    timed: bool = False


class KafkaTopic(Output, tag="kafka", frozen=True, kw_only=True):
    """A topic of Kafka: a message a row, in JSON. `options` and `secrets` are as in a stream."""

    servers: str
    topic: str
    options: dict[str, str] = {}
    secrets: dict[str, str] = {}


class MqttTopic(Output, tag="mqtt", frozen=True, kw_only=True):
    """A topic of an MQTT broker: a message a row, in JSON."""

    host: str = "127.0.0.1"
    port: Port = 1_883
    login: Login | None = None
    tls: Tls | bool = False
    topic: str


AnyOutput: TypeAlias = (
    Console | JsonLines | Parquet | NTriples | KafkaTopic | MqttTopic | SparkWritten
)


# ---- the rest ----------------------------------------------------------------------------------


class Background(Table, frozen=True, kw_only=True):
    """What holds for ever: RDF files in any format."""

    files: tuple[str, ...] = ()


class Rules(Table, frozen=True, kw_only=True):
    """Regimes and rule files, as `--rules` takes them, in a list.

    `builtins` are Python files or modules with what rules call.
    """

    use: tuple[str, ...] = ()
    builtins: tuple[str, ...] = ()


class Queries(Table, frozen=True, kw_only=True):
    """Files of continuous queries, in C-SPARQL or RSP-QL, and when they report."""

    use: tuple[str, ...] = ()
    report: str = "window-close"


class Programs(Table, frozen=True, kw_only=True):
    """Files of LARS programs, each known by its name without .lars. A tick is a time point."""

    use: tuple[str, ...] = ()


class DeadLetters(Table, frozen=True, kw_only=True):
    """Bad lines and late facts: where they go, and whether one ends the run."""

    path: str | None = None
    on_error: Literal["keep", "fail"] = "keep"
    longest_term: Positive = 1_048_576


class Checkpoint(Table, frozen=True, kw_only=True):
    """Where the pipeline remembers how far it is; without a path it starts anew each time."""

    path: str | None = None
    snapshot_every: Positive = 20


class Run(Table, frozen=True, kw_only=True):
    """When the run ends, how often a batch begins, and where the rules are evaluated.

    Without a number of `shards` there are as many as cores. `key` is an expression of Spark's SQL
    over s, p and o: a promise that only facts of the same key meet in a rule.
    """

    ends: Literal["never", "when read"] = "never"
    every: Duration = 0
    placement: Literal["auto", "driver", "sharded", "dataframe"] = "auto"
    shards: Positive | None = None
    key: str | None = None
    metrics_port: Port | None = None


class Spark(Table, frozen=True, kw_only=True):
    """Spark's own: the master, and any of its settings by name."""

    master: str = "local[2]"
    settings: dict[str, str] = {}


class Tables(Table, frozen=True, kw_only=True):
    """All that stands in a pipeline file. Without a name it is called as its file is."""

    name: Annotated[str, Meta(min_length=1)] | None = None
    prefixes: dict[str, str] = {}
    time: Time = field(default_factory=Time)
    streams: Annotated[dict[str, AnyStream], Meta(min_length=1)]
    background: Background = field(default_factory=Background)
    rules: Rules = field(default_factory=Rules)
    queries: Queries = field(default_factory=Queries)
    programs: Programs = field(default_factory=Programs)
    outputs: Annotated[dict[str, AnyOutput], Meta(min_length=1)]
    dead_letters: DeadLetters = field(default_factory=DeadLetters)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    run: Run = field(default_factory=Run)
    spark: Spark = field(default_factory=Spark)


class Pipeline(Tables, frozen=True, kw_only=True):
    """A pipeline file that was read: its tables, its name, and the path of the file."""

    name: str
    file: str
