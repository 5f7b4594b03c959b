"""A pipeline file read and checked, without Spark.

    file ──► TOML ──► model.Pipeline, its paths absolute, its names whole IRIs

Invariant: what is wrong is a `PipelineFileError`, `file: key.path: sentence`; what comes out has
files that exist, rules that are a program, and windows that can be.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeVar, get_args, get_origin

import msgspec

from ebbtide.pipeline.errors import PipelineFileError
from ebbtide.pipeline.file import model
from ebbtide.pipeline.file.duration import milliseconds
from ebbtide.pipeline.file.template import Template
from ebbtide.program import Program, ProgramError
from ebbtide.program.user_module import UserModule
from ebbtide.program.wording import did_you_mean
from ebbtide.terms.writing import STANDARD_PREFIXES
from ebbtide.time import (
    Count,
    Landmark,
    Session,
    Sliding,
    TimeWindow,
    Tumbling,
    Window,
    WindowError,
)

if TYPE_CHECKING:
    from ebbtide.languages.lars import LarsProgram
    from ebbtide.languages.rspql import ContinuousQuery
    from ebbtide.pipeline.typed import Columns

#: What the rows of rules are called.
RULES: Final = "rules"
#: The masters that Spark knows.
MASTER: Final = r"local(\[.*\])?|local-cluster\[.*\]|(spark|k8s)://.+|yarn"

T = TypeVar("T")


def schema() -> dict[str, Any]:
    """The JSON schema of pipeline files, for editors.

    >>> schema()["$ref"]
    '#/$defs/Pipeline'
    """
    return msgspec.json.schema(model.Pipeline)


def load_pipeline(path: Path) -> model.Pipeline:
    """The pipeline of a file, checked as far as that can be done without running it."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PipelineFileError(path, "", f"not TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise PipelineFileError(path, "", f"not UTF-8: {error}") from None
    return _Loader(path).load(content)


def window_of(stream: model.Stream) -> Window:
    """The window that a stream's key means.

    >>> from ebbtide.pipeline.file.model import Files
    >>> window_of(Files(path="incoming", window="3 s"))
    Sliding(range=3000)
    """
    window = stream.window
    if not isinstance(window, model.Window):
        return Sliding(milliseconds(window))
    given = {name: value for name, value in _fields(window).items() if name != "group"}
    if len(given) != 1:
        raise WindowError("a window is one of sliding, tumbling, landmark, count and session")
    if window.group and given.keys().isdisjoint(("count", "session")):
        raise WindowError("only count windows and sessions have a group")
    group = tuple("spo".index(column) for column in window.group)
    match given:
        case {"sliding": range}:
            return Sliding(milliseconds(range))
        case {"tumbling": width}:
            return Tumbling(milliseconds(width))
        case {"landmark": start}:
            return Landmark(start)
        case {"count": size}:
            return Count(size, group)
        case {"session": gap}:
            return Session(milliseconds(gap), group)
    raise AssertionError(given)


def program_of(pipeline: model.Pipeline) -> Program:
    """The program of a pipeline's rules."""
    if not pipeline.rules.use:
        return Program()
    from ebbtide.regimes import load

    return load(",".join(pipeline.rules.use))


def builtins_of(pipeline: model.Pipeline) -> list[UserModule]:
    """The files and modules of what rules call."""
    return list(map(UserModule.of, pipeline.rules.builtins))


def queries_of(pipeline: model.Pipeline) -> list[ContinuousQuery]:
    """The continuous queries of a pipeline."""
    if not pipeline.queries.use:
        return []
    from ebbtide.languages.rspql import load_continuous_query

    return [load_continuous_query(Path(file)) for file in pipeline.queries.use]


def programs_of(pipeline: model.Pipeline) -> dict[str, LarsProgram]:
    """The LARS programs of a pipeline, by name."""
    if not pipeline.programs.use:
        return {}
    from ebbtide.languages.lars import load_lars

    return {Path(file).stem: load_lars(file) for file in pipeline.programs.use}


def has_atoms(stream: model.AnyStream) -> bool:
    """Whether a stream is one of LARS atoms, and not of triples."""
    return getattr(stream, "format", None) == "atoms"


def columns_of(pipeline: model.Pipeline, output: model.AnyOutput) -> Columns | None:
    """The columns of a query's answers in an output; None if its rows are no answers."""
    from ebbtide.pipeline.typed import Columns

    types = getattr(output, "types", {})
    for query in queries_of(pipeline):
        if query.name == output.of:
            return Columns.of(query, types)
    if types:
        raise ValueError("only a query's answers have types")
    return None


def iris_of(pipeline: model.Pipeline) -> dict[str, str]:
    """What queries call the streams; a stream without an IRI is called by its name."""
    return {
        name: stream.iri or name
        for name, stream in pipeline.streams.items()
        if not has_atoms(stream)
    }


def _fields(table: model.Table) -> dict[str, Any]:
    values = {name: getattr(table, name) for name in table.__struct_fields__}
    return {name: value for name, value in values.items() if value is not msgspec.UNSET}


class _Loader:
    """Reads one file, and knows what to call it in messages."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self, content: dict[str, Any]) -> model.Pipeline:
        content = _with_texts(content)
        # Named tables are read one by one, so that an error can say the name.
        tables: dict[str, dict[str, Any]] = {}
        for name, kind in (("streams", model.AnyStream), ("outputs", model.AnyOutput)):
            if isinstance(content.get(name), Mapping):
                tables[name] = {
                    key: self._convert(value, kind, f"{name}.{key}")
                    for key, value in content[name].items()
                }
        rest = {name: value for name, value in content.items() if name not in tables}
        # Whatever stands for the named tables here, they are put in below.
        stand_ins = {"streams": {"-": {"from": "files", "path": "-"}}}
        stand_ins["outputs"] = {"-": {"to": "console"}}
        found = {name: stand_ins[name] for name, table in tables.items() if table}
        empty: dict[str, Any] = {name: {} for name, table in tables.items() if not table}
        pipeline = self._convert({**rest, **found, **empty}, model.Pipeline, "")
        return self._checked(msgspec.structs.replace(pipeline, **tables))

    def _convert(self, value: Any, kind: Any, prefix: str) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            sentence, _, at = str(error).partition(" - at `$")
            inner = re.sub(r"^\.", "", at.rstrip("`"))
            whole = ".".join(part for part in (prefix, inner) if part)
            said = _said(sentence, value, kind, _last_key(inner))
            raise PipelineFileError(self._file, whole, said) from None

    def _checked(self, pipeline: model.Pipeline) -> model.Pipeline:
        self._try("time.step", lambda: _positive(milliseconds(pipeline.time.step)))
        for name, stream in pipeline.streams.items():
            self._try(f"streams.{name}.window", partial(window_of, stream))
            if isinstance(stream, model.Messages):
                self._check_mapping(stream, f"streams.{name}")
            if isinstance(stream, model.Rate) and pipeline.run.ends == "when read":
                self._refuse(
                    "run.ends", f"the stream {name} is a rate, and is never read to its end"
                )
            if isinstance(stream, model.Rows | model.Messages | model.Rate):
                self._check_templates(stream, f"streams.{name}.triples")
        prefixes = {**STANDARD_PREFIXES, **pipeline.prefixes}
        pipeline = msgspec.structs.replace(
            pipeline,
            streams={
                name: self._with_tls(
                    self._with_path(stream, f"streams.{name}.path", exists=True), f"streams.{name}"
                )
                for name, stream in pipeline.streams.items()
            },
            outputs={
                name: self._output(output, f"outputs.{name}", prefixes)
                for name, output in pipeline.outputs.items()
            },
            background=model.Background(
                files=tuple(
                    self._path(file, f"background.files[{place}]", exists=True)
                    for place, file in enumerate(pipeline.background.files)
                )
            ),
            rules=model.Rules(
                use=tuple(
                    self._rules(name, f"rules.use[{place}]")
                    for place, name in enumerate(pipeline.rules.use)
                ),
                builtins=tuple(
                    self._path(name, f"rules.builtins[{place}]", exists=True)
                    if name.endswith(".py")
                    else name
                    for place, name in enumerate(pipeline.rules.builtins)
                ),
            ),
            queries=msgspec.structs.replace(
                pipeline.queries,
                use=tuple(
                    self._path(file, f"queries.use[{place}]", exists=True)
                    for place, file in enumerate(pipeline.queries.use)
                ),
            ),
            programs=model.Programs(
                use=tuple(
                    self._path(file, f"programs.use[{place}]", exists=True)
                    for place, file in enumerate(pipeline.programs.use)
                )
            ),
            dead_letters=self._with_path(pipeline.dead_letters, "dead_letters.path"),
            checkpoint=self._with_path(pipeline.checkpoint, "checkpoint.path"),
        )
        for place, builtins in enumerate(builtins_of(pipeline)):
            self._try(f"rules.builtins[{place}]", builtins.run)
        self._try("rules.use", lambda: program_of(pipeline))
        self._check_queries(pipeline)
        self._check_programs(pipeline)
        self._check_outputs(pipeline)
        self._check_folders(pipeline)
        self._check_placement(pipeline)
        if re.fullmatch(MASTER, pipeline.spark.master) is None:
            self._refuse(
                "spark.master", "not a master of Spark (such as local[2], spark://HOST:7077, yarn)"
            )
        return pipeline

    def _check_placement(self, pipeline: model.Pipeline) -> None:
        at = "run.placement"
        windows = map(window_of, pipeline.streams.values())
        if pipeline.run.placement in ("auto", "driver"):
            return
        if not all(isinstance(window, TimeWindow) for window in windows):
            placement = pipeline.run.placement
            self._refuse(at, f"a count window or a session needs the driver, not {placement}")
        if pipeline.run.placement == "dataframe":
            from ebbtide.plan.joins import why_no_joins

            if reason := why_no_joins(program_of(pipeline)):
                self._refuse(at, f"only positive programs can be run as joins: {reason}")
            return
        if pipeline.run.key is not None:
            return
        from ebbtide.reasoner import Reasoner

        reasoner = Reasoner(program_of(pipeline))
        for file in pipeline.background.files:
            reasoner.parse(file)
        found = reasoner.sharding()
        if not found.is_proved:
            self._refuse(
                at, f"the program cannot be cut into shards: {found.reason}; a key may be declared"
            )

    def _check_queries(self, pipeline: model.Pipeline) -> None:
        queries = queries_of(pipeline)
        iris = iris_of(pipeline)
        fed = {query.name for query in queries if query.registers == "stream"}
        for query in queries:
            for window in query.streams:
                name = window.stream.value
                if name not in iris.values() and name not in fed:
                    known = ", ".join(iris.values())
                    self._refuse(
                        "queries.use",
                        f'{window.origin}: no stream has iri = "{name}"; there are {known}',
                    )
        if queries:
            from ebbtide.queries import Report

            self._try("queries.report", partial(Report.parse, pipeline.queries.report))
        if queries and pipeline.run.placement not in ("auto", "driver"):
            self._refuse("run.placement", "queries are answered in the driver")

    def _check_programs(self, pipeline: model.Pipeline) -> None:
        names = [Path(file).stem for file in pipeline.programs.use]
        taken = {RULES, *(query.name for query in queries_of(pipeline))}
        for place, name in enumerate(names):
            at = f"programs.use[{place}]"
            if name in taken or name in names[:place]:
                self._refuse(at, f"there is another {name}")
            self._try(at, partial(self._lower, pipeline, name))
        if names and pipeline.run.placement not in ("auto", "driver"):
            self._refuse("run.placement", "LARS programs are evaluated in the driver")
        for name, stream in pipeline.streams.items():
            if has_atoms(stream) and not names:
                self._refuse(f"streams.{name}.format", "atoms are for programs, and there is none")

    def _lower(self, pipeline: model.Pipeline, name: str) -> None:
        from ebbtide.reasoner.lars import LarsReasoner

        program = programs_of(pipeline)[name]
        LarsReasoner(program, tick=milliseconds(pipeline.time.step), start=0)

    def _check_outputs(self, pipeline: model.Pipeline) -> None:
        names = [query.name for query in queries_of(pipeline)]
        programs = programs_of(pipeline)
        for name, output in pipeline.outputs.items():
            at = f"outputs.{name}"
            if output.of not in (RULES, *names, *programs):
                known = ", ".join((RULES, *names, *programs))
                self._refuse(f"{at}.of", f"there is no {output.of}; there are {known}")
            if output.of == RULES and all(map(has_atoms, pipeline.streams.values())):
                self._refuse(f"{at}.of", "rules need a stream of triples, and there is none")
            if output.of not in programs and "=" in output.changes:
                self._refuse(f"{at}.changes", "only programs of LARS tell all that holds (=)")
            if output.of in names and output.predicates:
                self._refuse(f"{at}.predicates", "answers of queries are not chosen by predicate")
            if output.of in programs and isinstance(output, model.NTriples):
                self._refuse(f"{at}.to", "atoms of programs are no N-Triples")
            self._try(f"{at}.types", partial(columns_of, pipeline, output))

    def _check_folders(self, pipeline: model.Pipeline) -> None:
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
            first = taken.setdefault(path, name)
            # Two streams may read the same files.
            if first != name and not isinstance(table, model.Stream):
                self._refuse(f"{name}.path", f"{path} is that of {first}")

    def _check_mapping(self, stream: model.Messages, at: str) -> None:
        """A row of JSON needs all that makes it triples, and nothing else does."""
        for name in ("schema", "time", "triples"):
            given = getattr(stream, name)
            if stream.format == "json" and not given:
                self._refuse(at, f'the key {name} is missing, which format = "json" needs')
            if stream.format != "json" and given:
                self._refuse(f"{at}.{name}", 'only format = "json" has it')

    def _check_templates(self, stream: model.Rows | model.Messages | model.Rate, at: str) -> None:
        for place, triple in enumerate(stream.triples):
            for name, text in (("s", triple.s), ("p", triple.p), ("o", triple.o)):
                self._try(f"{at}[{place}].{name}", partial(Template.parse, text))

    def _output(
        self, output: model.AnyOutput, at: str, prefixes: Mapping[str, str]
    ) -> model.AnyOutput:
        if output.of == RULES:
            predicates = tuple(
                self._iri(name, f"{at}.predicates[{place}]", prefixes)
                for place, name in enumerate(output.predicates)
            )
            output = msgspec.structs.replace(output, predicates=predicates)
        return self._with_tls(self._with_path(output, f"{at}.path"), at)

    def _iri(self, name: str, at: str, prefixes: Mapping[str, str]) -> str:
        if name.startswith("<") and name.endswith(">"):
            return name[1:-1]
        prefix, colon, rest = name.partition(":")
        if colon and prefix in prefixes:
            return prefixes[prefix] + rest
        hint = did_you_mean(prefix, prefixes)
        self._refuse(at, f"the prefix {prefix}: is not among the prefixes{hint}; or write <IRI>")

    def _rules(self, name: str, at: str) -> str:
        """The path of a rule file beside the pipeline's, if there is one; else a regime's name."""
        beside = self._file.parent / name
        is_file = beside.is_file() or "/" in name or "." in name
        return self._path(name, at, exists=True) if is_file else name

    def _with_path(self, table: T, at: str, *, exists: bool = False) -> T:
        path = getattr(table, "path", None)
        if path is None:
            return table
        return msgspec.structs.replace(table, path=self._path(path, at, exists=exists))  # type: ignore[type-var]

    def _with_tls(self, table: T, at: str) -> T:
        tls = getattr(table, "tls", None)
        if not isinstance(tls, model.Tls):
            return table
        paths = {
            name: path and self._path(path, f"{at}.tls.{name}", exists=True)
            for name, path in _fields(tls).items()
        }
        return msgspec.structs.replace(table, tls=model.Tls(**paths))  # type: ignore[type-var]

    def _path(self, path: str, at: str, *, exists: bool = False) -> str:
        whole = (self._file.parent / path).resolve()
        if exists and not whole.exists():
            self._refuse(at, f"there is no {whole}")
        return str(whole)

    def _try(self, at: str, check: Callable[[], object]) -> None:
        try:
            check()
        except ProgramError as error:
            if Path(error.origin.source).is_file():
                # It has a better place than the key's.
                raise
            self._refuse(at, error.message)
        except (ValueError, OSError) as error:
            self._refuse(at, str(error))

    def _refuse(self, at: str, sentence: str) -> NoReturn:
        raise PipelineFileError(self._file, at, sentence) from None


def _positive(number: int) -> None:
    if number <= 0:
        raise ValueError(f"must be positive, not {number}")


def _said(sentence: str, value: Any, kind: Any, key: str) -> str:
    """What the validation library says, in words of ours, with the nearest known key."""
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", sentence)
    if unknown is not None:
        return f"there is no key {unknown[1]}{did_you_mean(unknown[1], _keys(kind))}"
    missing = re.fullmatch(r"Object missing required field `(.*)`", sentence)
    if missing is not None:
        return f"the key {missing[1]} is missing"
    invalid = re.fullmatch(r"Invalid value '(.*)'", sentence)
    if invalid is not None and isinstance(value, Mapping):
        known = ", ".join(_tags(kind))
        return f"{invalid[1]} is none of {known}" if known else sentence
    invalid = re.fullmatch(r"Invalid enum value '(.*)'", sentence)
    if invalid is not None and (known := ", ".join(_choices(kind, key, value))):
        return f"{invalid[1]} is none of {known}"
    if repr(model.COLUMN_TYPE) in sentence:
        return "not a type of a column (such as bigint, double, timestamp, decimal(10,2), string)"
    if "matching regex" in sentence:
        return "not a duration (such as 500 ms, 3 s, 10 min, 2 h)"
    return sentence[0].lower() + sentence[1:]


def _structs(kind: Any) -> list[Any]:
    parts = getattr(kind, "__args__", (kind,))
    return [part for part in parts if isinstance(part, type) and issubclass(part, model.Table)]


def _keys(kind: Any) -> set[str]:
    """Every key of the tables that `kind` may be, and of those within."""
    known: set[str] = set()
    for struct in _structs(kind):
        for each in msgspec.structs.fields(struct):
            known.add(each.encode_name)
            known |= _keys(each.type)
    return known


def _last_key(path: str) -> str:
    """The key that a path ends with.

    >>> _last_key("screen.changes[0]")
    'changes'
    """
    return re.sub(r"\[.*?\]", "", path).rpartition(".")[2]


def _choices(kind: Any, key: str, value: Any) -> list[str]:
    """What a key of a table, or of one within, may be; `value` tells which table it is."""
    found: dict[str, None] = {}
    for struct in _structs(kind):
        config = struct.__struct_config__
        if config.tag and isinstance(value, Mapping) and value.get(config.tag_field) != config.tag:
            continue
        for each in msgspec.structs.fields(struct):
            if each.encode_name == key:
                found |= dict.fromkeys(_literals(each.type))
            else:
                found |= dict.fromkeys(_choices(each.type, key, None))
    return list(found)


def _literals(kind: Any) -> Iterator[str]:
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    else:
        for part in get_args(kind):
            yield from _literals(part)


def _with_texts(content: Any) -> Any:
    """A file in which options and settings, texts to Spark, may be numbers, or true and false.

    >>> _with_texts({"spark": {"settings": {"spark.executor.cores": 2, "spark.ui.enabled": True}}})
    {'spark': {'settings': {'spark.executor.cores': '2', 'spark.ui.enabled': 'true'}}}
    """
    if not isinstance(content, Mapping):
        return content
    return {
        name: {each: _text(given) for each, given in value.items()}
        if name in ("settings", "options") and isinstance(value, Mapping)
        else _with_texts(value)
        for name, value in content.items()
    }


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _tags(kind: Any) -> list[str]:
    return [tag for struct in _structs(kind) if (tag := struct.__struct_config__.tag)]
