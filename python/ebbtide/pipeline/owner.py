"""Whose output a folder holds: a mark in it names the pipeline, and the checkpoint of its runs.

    out/answers/.ebbtide.json    {"pipeline":"commuters","checkpoint":"../../checkpoint"}

Readers of Spark and Arrow do not see it. The checkpoint is named as seen from the folder, so that
both may be moved together. Invariant: the mark is there before the first part is; what a folder
holds is of the runs that its mark names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.checkpoint.sealed import replace_file
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file import Pipeline
from ebbtide.pipeline.outputs import Folder, folders_of

NAME: Final = ".ebbtide.json"


class _Mark(msgspec.Struct, frozen=True):
    pipeline: str
    checkpoint: str | None


@dataclass(frozen=True)
class Owner:
    """Who writes to a folder: runs of a pipeline, known by their checkpoint if they have one.

    >>> print(Owner("commuters", Path("/srv/checkpoint")))
    the pipeline commuters with the checkpoint /srv/checkpoint
    """

    pipeline: str
    checkpoint: Path | None

    @classmethod
    def of(cls, folder: Path) -> Owner | None:
        """Whom the mark in a folder names; None if there is none that can be read."""
        try:
            mark = msgspec.json.decode((folder / NAME).read_bytes(), type=_Mark)
        except (OSError, msgspec.DecodeError):
            return None
        if mark.checkpoint is None:
            return cls(mark.pipeline, None)
        return cls(mark.pipeline, Path(os.path.normpath(folder / mark.checkpoint)))

    def is_same(self, other: Owner) -> bool:
        """Whether both are the runs of one checkpoint. Without one, all they have is the name."""
        if self.checkpoint is None and other.checkpoint is None:
            return self.pipeline == other.pipeline
        return self.checkpoint == other.checkpoint

    def mark(self, folder: Path) -> None:
        """Let a folder be for these runs."""
        if Owner.of(folder) == self:
            return
        folder.mkdir(parents=True, exist_ok=True)
        seen = None if self.checkpoint is None else os.path.relpath(self.checkpoint, folder)
        replace_file(folder / NAME, msgspec.json.encode(_Mark(self.pipeline, seen)))

    def __str__(self) -> str:
        known = "without a" if self.checkpoint is None else "with the"
        place = "" if self.checkpoint is None else f" {self.checkpoint}"
        return f"the pipeline {self.pipeline} {known} checkpoint{place}"


def take_outputs(pipeline: Pipeline, checkpoint: Checkpoint) -> None:
    """Let the folders of outputs be for the runs of a checkpoint.

    A run must not mix its files with those of others, nor put them in the place of these.
    """
    owner, folders = _owner(pipeline), folders_of(pipeline)
    for key, each in folders.items():
        is_marked = _refuse_others(key, each, owner, "choose another folder")
        if checkpoint.writes_to(checkpoint.folder, each.folder):
            continue
        if each.written():
            # Of its own, as when somebody has deleted the checkpoint; or nobody knows whose.
            way = "start anew with --reset, which deletes" if is_marked else "take away"
            raise PipelineError(
                f"{key}.path: {each.folder} holds the output of another run: choose another "
                f"folder, or {way} that output"
            )
        for other in each.others():
            raise PipelineError(
                f"{key}.path: {each.folder} holds {other.name}, which is not of this pipeline: "
                "choose another folder, or move it away"
            )
    for each in folders.values():
        owner.mark(each.folder)
    checkpoint.will_write_to(each.folder for each in folders.values())


def forget(pipeline: Pipeline, folder: Path) -> None:
    """Delete a checkpoint and what its runs wrote; nothing, if an output holds that of others."""
    owner, folders = _owner(pipeline), folders_of(pipeline)
    ours = (
        "--reset deletes what runs of this checkpoint wrote: choose another folder, or take it away"
    )
    for key, each in folders.items():
        is_marked = _refuse_others(key, each, owner, ours)
        if each.written() and not (is_marked or Checkpoint.writes_to(folder, each.folder)):
            raise PipelineError(
                f"{key}.path: {each.folder} holds the output of another run; {ours}"
            )
    Checkpoint.reset(folder)
    for each in folders.values():
        each.reset()
        # Last: whoever is interrupted may reset again.
        (each.folder / NAME).unlink(missing_ok=True)


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
    return Owner(pipeline.name, None if path is None else Path(path))
