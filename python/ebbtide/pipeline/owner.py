"""Whose output a folder holds: a mark in it names the pipeline, and what its runs are known by.

    out/answers/.ebbtide.json    {"pipeline":"commuters","checkpoint":"../../checkpoint"}
    out/answers/.ebbtide.json    {"pipeline":"commuters","file":"../../commuters.toml"}

That is their checkpoint, or without one the pipeline file. Readers of Spark and Arrow do not see
the mark. Paths are as seen from the folder, so that all may be moved together. Invariant: the mark
is there before the first part is; what a folder holds is of the runs that its mark names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.checkpoint.sealed import Damaged, replace_file
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file import Pipeline
from ebbtide.pipeline.outputs import Folder, folders_of

NAME: Final = ".ebbtide.json"


class _Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    pipeline: str
    checkpoint: str | None = None
    file: str | None = None


@dataclass(frozen=True)
class Owner:
    """Who writes to a folder: runs of a pipeline, known by their checkpoint or by their file.

    A name is not enough: whoever copies a file copies the name. (Earlier builds had no more.)

    >>> print(Owner("commuters", checkpoint=Path("/srv/checkpoint")))
    the pipeline commuters with the checkpoint /srv/checkpoint
    >>> print(Owner("commuters", file=Path("/srv/commuters.toml")))
    the pipeline commuters (/srv/commuters.toml) without a checkpoint
    """

    pipeline: str
    checkpoint: Path | None = None
    file: Path | None = None

    @classmethod
    def of(cls, folder: Path) -> Owner | None:
        """Whom the mark in a folder names; None if there is none that can be read."""
        try:
            mark = msgspec.json.decode((folder / NAME).read_bytes(), type=_Mark)
        except (OSError, msgspec.DecodeError):
            return None

        def place(seen: str | None) -> Path | None:
            return None if seen is None else Path(os.path.normpath(folder / seen))

        return cls(mark.pipeline, place(mark.checkpoint), place(mark.file))

    def is_same(self, other: Owner) -> bool:
        """Whether both are the runs of one checkpoint, or without one of one file."""
        return (self.checkpoint, self.file) == (other.checkpoint, other.file)

    def mark(self, folder: Path) -> None:
        """Let a folder be for these runs."""
        if Owner.of(folder) == self:
            return

        def seen(place: Path | None) -> str | None:
            return None if place is None else os.path.relpath(place, folder)

        folder.mkdir(parents=True, exist_ok=True)
        mark = _Mark(self.pipeline, seen(self.checkpoint), seen(self.file))
        replace_file(folder / NAME, msgspec.json.encode(mark))

    def __str__(self) -> str:
        if self.checkpoint is not None:
            return f"the pipeline {self.pipeline} with the checkpoint {self.checkpoint}"
        file = "" if self.file is None else f" ({self.file})"
        return f"the pipeline {self.pipeline}{file} without a checkpoint"


def take_outputs(pipeline: Pipeline, checkpoint: Checkpoint) -> None:
    """Let the folders of outputs be for the runs of a checkpoint."""
    check_outputs(pipeline, checkpoint.folder)
    owner, folders = _owner(pipeline), folders_of(pipeline)
    for each in folders.values():
        owner.mark(each.folder)
    checkpoint.will_write_to(each.folder for each in folders.values())


def check_outputs(pipeline: Pipeline, folder: Path | None) -> None:
    """Refuse folders of outputs that runs of the checkpoint in a folder cannot go on with.

    A run must not mix its files with those of others, nor put them in the place of these.
    """
    owner = _owner(pipeline)
    for key, each in folders_of(pipeline).items():
        is_marked = _refuse_others(key, each, owner, "choose another folder")
        held = _held_of_others(folder, each)
        if held is None:
            continue
        if each.written():
            # Of its own, as when somebody has deleted the checkpoint; or nobody knows whose.
            way = "start anew with --reset, which deletes" if is_marked else "take away"
            raise PipelineError(
                f"{key}.path: {each.folder} holds {held}: choose another "
                f"folder, or {way} that output"
            )
        for other in each.others():
            raise PipelineError(
                f"{key}.path: {each.folder} holds {other.name}, which is not of this pipeline: "
                "choose another folder, or move it away"
            )


def forget(pipeline: Pipeline, folder: Path) -> None:
    """Delete a checkpoint and what its runs wrote; nothing, if an output holds that of others."""
    check_forget(pipeline, folder)
    Checkpoint.reset(folder)
    for each in folders_of(pipeline).values():
        each.reset()
        # Last: whoever is interrupted may reset again.
        (each.folder / NAME).unlink(missing_ok=True)


def check_forget(pipeline: Pipeline, folder: Path | None) -> None:
    """Refuse to delete the output of others."""
    owner = _owner(pipeline)
    ours = (
        "--reset deletes what runs of this checkpoint wrote: choose another folder, or take it away"
    )
    for key, each in folders_of(pipeline).items():
        is_marked = _refuse_others(key, each, owner, ours)
        held = None if is_marked else _held_of_others(folder, each)
        if each.written() and held is not None:
            raise PipelineError(f"{key}.path: {each.folder} holds {held}; {ours}")


def _held_of_others(folder: Path | None, output: Folder) -> str | None:
    """What an output holds, if it is not of the runs of the checkpoint in a folder."""
    try:
        if folder is not None and Checkpoint.writes_to(folder, output.folder):
            return None
    except Damaged as error:
        return f"output, nobody knows whose ({error})"
    return "the output of another run"


def _refuse_others(key: str, each: Folder, owner: Owner, way: str) -> bool:
    """Refuse what a mark says is of others; whether one says that it is ours."""
    found = Owner.of(each.folder)
    if found is None or found.is_same(owner):
        return found is not None
    if each.written():
        raise PipelineError(f"{key}.path: {each.folder} holds the output of {found}; {way}")
    return False


def _owner(pipeline: Pipeline) -> Owner:
    path = pipeline.checkpoint.path
    if path is None:
        return Owner(pipeline.name, file=Path(pipeline.file))
    return Owner(pipeline.name, checkpoint=Path(path))
