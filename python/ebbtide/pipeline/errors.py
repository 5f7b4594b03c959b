"""What can be wrong with a pipeline, its checkpoint or its input: one sentence each."""

from __future__ import annotations

from os import PathLike, fspath


class PipelineError(ValueError):
    """Something the user of a pipeline can put right."""


class PipelineFileError(PipelineError):
    """A pipeline file that is wrong: `file: key.path: sentence`."""

    def __init__(self, file: PathLike[str], path: str, sentence: str) -> None:
        super().__init__(": ".join(part for part in (fspath(file), path, sentence) if part))
        self.path = path


class CheckpointError(PipelineError):
    """A checkpoint that this pipeline cannot go on from; who resets it must know what is lost."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"{sentence}; --reset starts anew and deletes what the outputs hold")


class CheckpointInUse(PipelineError):
    """A checkpoint that another process works with."""


class DeadLetterError(PipelineError):
    """A dead letter, where the pipeline says that one ends the run."""
