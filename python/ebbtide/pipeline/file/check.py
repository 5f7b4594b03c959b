"""Whether a pipeline can be, as far as that shows without running it.

First each table by itself, then, when paths are absolute and names whole, what tables say of each
other: that streams, rules, queries, programs, outputs and the placement go together.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from ebbtide.pipeline.file import model
from ebbtide.pipeline.file.columns import names_of
from ebbtide.pipeline.file.duration import milliseconds
from ebbtide.pipeline.file.meaning import (
    RULES,
    builtins_of,
    columns_of,
    has_atoms,
    iris_of,
    program_of,
    programs_of,
    queries_of,
    window_of,
)
from ebbtide.pipeline.file.template import Hole, Template
from ebbtide.pipeline.file.wrong import Wrong
from ebbtide.time import TimeWindow

#: A server of Kafka.
SERVER: Final = r"\s*([^\s:/,]+|\[[0-9a-fA-F:]+\]):[0-9]+\s*"
#: Options of Spark's Kafka source and sink that are keys of the file, or that Spark does not take.
KAFKA_KEYS: Final = {
    "kafka.bootstrap.servers": "servers",
    "subscribe": "topics",
    "subscribePattern": "topics",
    "assign": "topics",
    "topic": "topic",
    "startingOffsets": "starting",
    "maxOffsetsPerTrigger": "messages_a_batch",
}
#: What makes a path a pattern for Spark, which then finds other folders, or none.
PATTERN: Final = r"[*?\[\]{}\\]"
#: The masters that Spark knows.
MASTER: Final = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?|local-cluster\[.*\]|(spark|k8s)://.+|yarn"


def check_tables(pipeline: model.Pipeline, wrong: Wrong) -> None:
    """Refuse a table that cannot be, whatever stands beside it."""
    with wrong.within("time.step"):
        step = milliseconds(pipeline.time.step)
    if step <= 0:
        wrong.at("time.step", f"must be positive, not {step}")
    for name, stream in pipeline.streams.items():
        at = f"streams.{name}"
        with wrong.within(f"{at}.window"):
            window_of(stream)
        # It is the name of a folder, too.
        if "/" in name or name.startswith("."):
            wrong.at(at, "a name has no slash, and no dot at its beginning")
        if isinstance(stream, model.Messages):
            _check_mapping(stream, at, wrong)
        if isinstance(stream, model.Rate) and pipeline.run.ends == "when read":
            wrong.at("run.ends", f"the stream {name} is a rate, and is never read to its end")
        if isinstance(stream, model.Rows | model.Messages | model.Rate):
            _check_templates(stream, at, wrong)


def check_together(pipeline: model.Pipeline, wrong: Wrong) -> None:
    """Refuse tables that do not go together."""
    for place, builtins in enumerate(builtins_of(pipeline)):
        with wrong.within(f"rules.builtins[{place}]"):
            builtins.run()
    with wrong.within("rules.use"):
        program_of(pipeline)
    _check_queries(pipeline, wrong)
    _check_programs(pipeline, wrong)
    _check_outputs(pipeline, wrong)
    _check_folders(pipeline, wrong)
    _check_kafka(pipeline, wrong)
    _check_placement(pipeline, wrong)
    if re.fullmatch(MASTER, pipeline.spark.master) is None:
        wrong.at(
            "spark.master", "not a master of Spark (such as local[2], spark://HOST:7077, yarn)"
        )


def _check_mapping(stream: model.Messages, at: str, wrong: Wrong) -> None:
    """A row of JSON needs all that makes it triples, and nothing else does."""
    for name in ("schema", "time", "triples"):
        given = getattr(stream, name)
        if stream.format == "json" and not given:
            wrong.at(at, f'the key {name} is missing, which format = "json" needs')
        if stream.format != "json" and given:
            wrong.at(f"{at}.{name}", 'only format = "json" has it')


def _check_templates(
    stream: model.Rows | model.Messages | model.Rate, at: str, wrong: Wrong
) -> None:
    if isinstance(stream, model.Rate):
        columns = ["value", "timestamp", *stream.columns]
    else:
        with wrong.within(f"{at}.schema"):
            columns = names_of(stream.schema) if stream.schema is not None else []
    # Spark does not tell cases apart.
    known = {column.lower() for column in columns}
    for place, triple in enumerate(stream.triples):
        for name, text in (("s", triple.s), ("p", triple.p), ("o", triple.o)):
            key = f"{at}.triples[{place}].{name}"
            with wrong.within(key):
                parts = Template.parse(text).parts
            for part in parts:
                if isinstance(part, Hole) and part.column.lower().split(".")[0] not in known:
                    there = ", ".join(columns)
                    wrong.at(key, f"there is no column {part.column}; there are {there}")


def _check_queries(pipeline: model.Pipeline, wrong: Wrong) -> None:
    queries = queries_of(pipeline)
    if not queries:
        return
    from ebbtide.languages.rspql import BASE
    from ebbtide.queries import Report

    iris = iris_of(pipeline)
    fed = {query.name for query in queries if query.registers == "stream"}
    for query in queries:
        for window in query.streams:
            name = window.stream.value
            if name not in iris.values() and name not in fed:
                known = ", ".join(iris.values())
                # A text has no place of its own that its relative IRIs could begin with.
                relative = name.removeprefix(BASE)
                read = f", as <{relative}> is read" if relative != name else ""
                wrong.at(
                    "queries.use",
                    f'{window.origin}: no stream has iri = "{name}"{read}; there are {known}',
                )
    with wrong.within("queries.report"):
        Report.parse(pipeline.queries.report)
    if pipeline.run.placement not in ("auto", "driver"):
        wrong.at("run.placement", "queries are answered in the driver")


def _check_programs(pipeline: model.Pipeline, wrong: Wrong) -> None:
    names = [Path(file).stem for file in pipeline.programs.use]
    taken = {RULES, *(query.name for query in queries_of(pipeline))}
    for place, name in enumerate(names):
        at = f"programs.use[{place}]"
        if name in taken or name in names[:place]:
            wrong.at(at, f"there is another {name}")
        with wrong.within(at):
            _check_lowering(pipeline, name)
    if names and pipeline.run.placement not in ("auto", "driver"):
        wrong.at("run.placement", "LARS programs are evaluated in the driver")
    for name, stream in pipeline.streams.items():
        if has_atoms(stream) and not names:
            wrong.at(f"streams.{name}.format", "atoms are for programs, and there is none")


def _check_lowering(pipeline: model.Pipeline, name: str) -> None:
    from ebbtide.reasoner.lars import LarsReasoner

    program = programs_of(pipeline)[name]
    LarsReasoner(program, tick=milliseconds(pipeline.time.step), start=0)


def _check_outputs(pipeline: model.Pipeline, wrong: Wrong) -> None:
    names = [query.name for query in queries_of(pipeline)]
    programs = programs_of(pipeline)
    for name, output in pipeline.outputs.items():
        at = f"outputs.{name}"
        if output.of not in (RULES, *names, *programs):
            known = ", ".join((RULES, *names, *programs))
            wrong.at(f"{at}.of", f"there is no {output.of}; there are {known}")
        if output.of == RULES and all(map(has_atoms, pipeline.streams.values())):
            wrong.at(f"{at}.of", "rules need a stream of triples, and there is none")
        if output.of not in programs and "=" in output.changes:
            wrong.at(f"{at}.changes", "only programs of LARS tell all that holds (=)")
        if output.of in names and output.predicates:
            wrong.at(f"{at}.predicates", "answers of queries are not chosen by predicate")
        if output.of in programs and isinstance(output, model.NTriples):
            wrong.at(f"{at}.to", "atoms of programs are no N-Triples")
        with wrong.within(f"{at}.types"):
            columns_of(pipeline, output)


def _check_folders(pipeline: model.Pipeline, wrong: Wrong) -> None:
    """What one output writes another must not replace, and no stream must bring back."""
    tables = {
        **{f"streams.{name}": each for name, each in pipeline.streams.items()},
        "checkpoint": pipeline.checkpoint,
        **{f"outputs.{name}": each for name, each in pipeline.outputs.items()},
        "dead_letters": pipeline.dead_letters,
    }
    taken: dict[str, str] = {}
    for name, table in tables.items():
        path = getattr(table, "path", None)
        if path is None:
            continue
        if isinstance(table, model.Files | model.Rows):
            if not Path(path).is_dir():
                wrong.at(f"{name}.path", f"{path} is no folder")
            if not os.access(path, os.R_OK | os.X_OK):
                wrong.at(f"{name}.path", f"you may not read {path}")
        elif Path(path).exists() and not Path(path).is_dir():
            wrong.at(f"{name}.path", f"{path} is a file, and a folder is to be written")
        elif not os.access(there := _there(Path(path)), os.W_OK | os.X_OK):
            wrong.at(f"{name}.path", f"you may not write into {there}")
        is_read = isinstance(table, model.Files | model.Rows | model.Checkpoint)
        if is_read and (found := re.search(PATTERN, path)):
            wrong.at(f"{name}.path", f"to Spark {path} is a pattern, because of {found[0]}")
        first = taken.setdefault(path, name)
        # Two streams may read the same files.
        if first != name and not isinstance(table, model.Stream):
            wrong.at(f"{name}.path", f"{path} is that of {first}")


def _there(path: Path) -> Path:
    """A folder, or of those around it the first that is there."""
    return next(each for each in (path, *path.parents) if each.exists())


def _check_kafka(pipeline: model.Pipeline, wrong: Wrong) -> None:
    tables = {
        **{f"streams.{name}": each for name, each in pipeline.streams.items()},
        **{f"outputs.{name}": each for name, each in pipeline.outputs.items()},
    }
    for at, table in tables.items():
        if not isinstance(table, model.Kafka | model.KafkaTopic):
            continue
        for server in table.servers.split(","):
            if re.fullmatch(SERVER, server) is None:
                wrong.at(f"{at}.servers", f"{server.strip() or 'nothing'} is no HOST:PORT")
        for name in (*table.options, *table.secrets):
            if (key := KAFKA_KEYS.get(name)) is not None and hasattr(table, key):
                wrong.at(f"{at}.options.{name}", f"the key {key} says it")


def _check_placement(pipeline: model.Pipeline, wrong: Wrong) -> None:
    at, placement = "run.placement", pipeline.run.placement
    for name in ("shards", "key"):
        if getattr(pipeline.run, name) is not None and placement in ("driver", "dataframe"):
            wrong.at(f"run.{name}", f"the placement {placement} has no shards")
    if placement in ("auto", "driver"):
        return
    if not all(isinstance(window_of(each), TimeWindow) for each in pipeline.streams.values()):
        wrong.at(at, f"a count window or a session needs the driver, not {placement}")
    if placement == "dataframe":
        from ebbtide.plan.joins import why_no_joins

        if reason := why_no_joins(program_of(pipeline)):
            wrong.at(at, f"only positive programs can be run as joins: {reason}")
    elif pipeline.run.key is None:
        from ebbtide.reasoner import Reasoner

        reasoner = Reasoner(program_of(pipeline))
        for file in pipeline.background.files:
            reasoner.parse(file)
        found = reasoner.sharding()
        if not found.is_proved:
            wrong.at(
                at, f"the program cannot be cut into shards: {found.reason}; a key may be declared"
            )
