"""What the tables of a pipeline file mean: windows, programs, queries, columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ebbtide.pipeline.file import model
from ebbtide.pipeline.file.duration import milliseconds
from ebbtide.program import Program
from ebbtide.program.user_module import UserModule
from ebbtide.time import Count, Landmark, Session, Sliding, Tumbling, Window, WindowError

if TYPE_CHECKING:
    from ebbtide.languages.lars import LarsProgram
    from ebbtide.languages.rspql import ContinuousQuery
    from ebbtide.pipeline.typed import Columns

#: What the rows of rules are called.
RULES: Final = "rules"


def window_of(stream: model.Stream) -> Window:
    """The window that a stream's key means.

    >>> from ebbtide.pipeline.file.model import Files
    >>> window_of(Files(path="incoming", window="3 s"))
    Sliding(range=3000)
    """
    window = stream.window
    if not isinstance(window, model.Window):
        return Sliding(milliseconds(window))
    given = {name: value for name, value in given_keys(window).items() if name != "group"}
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
    """The LARS programs of a pipeline, by name; snapshots have them in this order, of names."""
    if not pipeline.programs.use:
        return {}
    from ebbtide.languages.lars import load_lars

    files = sorted(map(Path, pipeline.programs.use), key=lambda file: file.stem)
    return {file.stem: load_lars(file) for file in files}


def has_atoms(stream: model.AnyStream) -> bool:
    """Whether a stream is one of LARS atoms, and not of triples."""
    return getattr(stream, "format", None) == "atoms"


def columns_of(pipeline: model.Pipeline, output: model.AnyOutput) -> Columns | None:
    """The columns of a query's answers in an output; None if it has none, or no answers."""
    from ebbtide.pipeline.typed import Columns

    if not isinstance(output, model.Parquet | model.SparkWritten):
        return None
    for query in queries_of(pipeline):
        if query.name == output.of:
            return Columns.of(query, output.types)
    if output.types:
        raise ValueError("only a query's answers have types")
    return None


def iris_of(pipeline: model.Pipeline) -> dict[str, str]:
    """What queries call the streams; a stream without an IRI is called by its name."""
    return {
        name: stream.iri or name
        for name, stream in pipeline.streams.items()
        if not has_atoms(stream)
    }


def given_keys(table: model.Table) -> dict[str, Any]:
    """The keys of a table that have a value."""
    values = {name: getattr(table, name) for name in table.__struct_fields__}
    return {name: value for name, value in values.items() if value is not msgspec.UNSET}
