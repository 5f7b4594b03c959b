"""A pipeline whose paths are absolute, whose names are whole IRIs, and whose streams are sorted.

Paths are relative to the pipeline file. Invariant: what is read is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from ebbtide.pipeline.file import model
from ebbtide.pipeline.file.meaning import RULES, given_keys
from ebbtide.pipeline.file.wrong import Wrong
from ebbtide.program.wording import did_you_mean
from ebbtide.terms.writing import STANDARD_PREFIXES

T = TypeVar("T")


class Resolver:
    """Resolves the paths and names of one file, which lies in a folder."""

    def __init__(self, folder: Path, wrong: Wrong) -> None:
        self._folder = folder
        self._wrong = wrong

    def resolved(self, pipeline: model.Pipeline) -> model.Pipeline:
        """The pipeline with nothing left that depends on where its file is."""
        prefixes = {**STANDARD_PREFIXES, **pipeline.prefixes}
        return msgspec.structs.replace(
            pipeline,
            # Spark knows its sources by their place, and tables of TOML have none.
            streams={
                name: self._stream(stream, f"streams.{name}")
                for name, stream in sorted(pipeline.streams.items())
            },
            outputs={
                name: self._output(output, f"outputs.{name}", prefixes)
                for name, output in pipeline.outputs.items()
            },
            background=model.Background(
                files=self._files(pipeline.background.files, "background.files")
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
                pipeline.queries, use=self._files(pipeline.queries.use, "queries.use")
            ),
            programs=model.Programs(use=self._files(pipeline.programs.use, "programs.use")),
            dead_letters=self._with_path(pipeline.dead_letters, "dead_letters.path"),
            checkpoint=self._with_path(pipeline.checkpoint, "checkpoint.path"),
        )

    def _stream(self, stream: model.AnyStream, at: str) -> model.AnyStream:
        return self._with_tls(self._with_path(stream, f"{at}.path", exists=True), at)

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
        self._wrong.at(at, f"the prefix {prefix}: is not among the prefixes{hint}; or write <IRI>")

    def _rules(self, name: str, at: str) -> str:
        """The path of a rule file beside the pipeline's, if there is one; else a regime's name."""
        beside = self._folder / name
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
            for name, path in given_keys(tls).items()
        }
        return msgspec.structs.replace(table, tls=model.Tls(**paths))  # type: ignore[type-var]

    def _files(self, paths: Iterable[str], at: str) -> tuple[str, ...]:
        return tuple(
            self._path(path, f"{at}[{place}]", exists=True) for place, path in enumerate(paths)
        )

    def _path(self, path: str, at: str, *, exists: bool = False) -> str:
        whole = (self._folder / path).resolve()
        if exists and not whole.exists():
            self._wrong.at(at, f"there is no {whole}")
        return str(whole)
