"""A pipeline file read and checked, without Spark.

    file ──► TOML ──► tables of `model` ──► paths absolute, names whole ──► checked
             here                           resolve                        check

Invariant: what is wrong is a `PipelineFileError`, `file: key.path: sentence`; what comes out has
files that exist, rules that are a program, and windows that can be.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from ebbtide.pipeline.file import model
from ebbtide.pipeline.file.check import check_tables, check_together
from ebbtide.pipeline.file.resolve import Resolver
from ebbtide.pipeline.file.said import said
from ebbtide.pipeline.file.wrong import Wrong

#: The tables of tables, and something right to stand for what is in them.
NAMED: Final[Mapping[str, tuple[Any, Mapping[str, str]]]] = {
    "streams": (model.AnyStream, {"from": "files", "path": "-"}),
    "outputs": (model.AnyOutput, {"to": "console"}),
}
#: The keys of tables whose values are texts to Spark, and may be written as what they mean.
TEXTS: Final = ("settings", "options")


def schema() -> dict[str, Any]:
    """The JSON schema of pipeline files, for editors.

    >>> schema()["$ref"]
    '#/$defs/Tables'
    """
    made = msgspec.json.schema(model.Tables)
    for table in made["$defs"].values():
        for name in table["properties"].keys() & TEXTS:
            types = {"type": ["string", "number", "boolean"]}
            table["properties"][name]["additionalProperties"] = types
    return made


def load_pipeline(path: Path) -> model.Pipeline:
    """The pipeline of a file, checked as far as that can be done without running it."""
    wrong = Wrong(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        wrong.at("", f"not TOML: {error}")
    except UnicodeDecodeError as error:
        wrong.at("", f"not UTF-8: {error}")
    pipeline = _pipeline(_tables(_with_texts(content), wrong), path)
    check_tables(pipeline, wrong)
    pipeline = Resolver(path.parent, wrong).resolved(pipeline)
    check_together(pipeline, wrong)
    return pipeline


def _tables(content: dict[str, Any], wrong: Wrong) -> model.Tables:
    """The tables of a file. Named ones are read one by one, so that an error can say the name."""
    named: dict[str, dict[str, Any]] = {}
    for name, (kind, _) in NAMED.items():
        if isinstance(content.get(name), Mapping):
            named[name] = {
                key: _converted(value, kind, f"{name}.{key}", wrong)
                for key, value in content[name].items()
            }
    stand_ins = {name: {"-": NAMED[name][1]} if tables else {} for name, tables in named.items()}
    tables: model.Tables = _converted({**content, **stand_ins}, model.Tables, "", wrong)
    return msgspec.structs.replace(tables, **named)


def _pipeline(tables: model.Tables, path: Path) -> model.Pipeline:
    file = path.resolve()
    given = {name: getattr(tables, name) for name in tables.__struct_fields__}
    return model.Pipeline(**{**given, "name": tables.name or file.stem, "file": str(file)})


def _converted(value: Any, kind: Any, prefix: str, wrong: Wrong) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        inner, sentence = said(error, value, kind)
        wrong.at(".".join(part for part in (prefix, inner) if part), sentence)


def _with_texts(content: Any) -> Any:
    """A file in which options and settings, texts to Spark, may be numbers, or true and false.

    >>> _with_texts({"spark": {"settings": {"spark.executor.cores": 2, "spark.ui.enabled": True}}})
    {'spark': {'settings': {'spark.executor.cores': '2', 'spark.ui.enabled': 'true'}}}
    """
    if not isinstance(content, Mapping):
        return content
    return {
        name: {each: _text(given) for each, given in value.items()}
        if name in TEXTS and isinstance(value, Mapping)
        else _with_texts(value)
        for name, value in content.items()
    }


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value
