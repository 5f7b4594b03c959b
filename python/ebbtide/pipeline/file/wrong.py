"""What is wrong in one pipeline file: errors that name the file and the path of a key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from ebbtide.pipeline.errors import PipelineFileError
from ebbtide.program import ProgramError


class Wrong:
    """Says what is wrong in a file.

    >>> Wrong(Path("trains.toml")).at("time.step", "must be positive, not 0")
    Traceback (most recent call last):
    ebbtide.pipeline.errors.PipelineFileError: trains.toml: time.step: must be positive, not 0
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def at(self, key: str, sentence: str) -> NoReturn:
        """What is wrong with a key."""
        raise PipelineFileError(self._file, key, sentence) from None

    @contextmanager
    def within(self, key: str) -> Iterator[None]:
        """What the block raises is wrong with a key, unless it has a better place than that."""
        try:
            yield
        except ProgramError as error:
            if Path(error.origin.source).is_file():
                raise
            self.at(key, error.message)
        except (ValueError, OSError) as error:
            self.at(key, str(error))
